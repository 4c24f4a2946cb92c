// The rate limit: requests in a sliding window of 60 seconds, per service and key type, including refused ones (contract 15.1).
// The database counts them (function count_requests), because several processes share the limit.
import { Refusal } from '../core/refusal.ts'
import { refuse } from './refusals.ts'

const WINDOW_SECONDS = 60

/** The result of counting a request. */
export type RateAnswer = { limit: number; remaining: number; freeInSeconds: number }

const NAMES = { normal: 'LIVE', team: 'TEAM', test: 'TEST' } as const

/** Headers of IETF draft-ietf-httpapi-ratelimit-headers: requests left in the window, and seconds until one more is free. */
export function rateHeaders({ limit, remaining, freeInSeconds }: RateAnswer): Record<string, string> {
  return {
    'ratelimit-policy': `"requests";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"requests";r=${remaining};t=${Math.ceil(freeInSeconds)}`,
  }
}

/** Adds the rate headers to a refusal for another reason. */
export const counted = (refusal: Refusal, answer: RateAnswer) =>
  new Refusal(refusal.kind, refusal.messages, { ...rateHeaders(answer), ...refusal.headers })

export function tooFast(keyType: keyof typeof NAMES, answer: RateAnswer): Refusal {
  const { kind, messages } = refuse.tooFast(NAMES[keyType], answer.limit)
  const wait = String(Math.max(1, Math.ceil(answer.freeInSeconds)))
  return new Refusal(kind, messages, { ...rateHeaders(answer), 'retry-after': wait })
}
