// Requests per sliding 60 seconds, per service and key type, refused ones counted (contract 15.1). The counting itself is the
// function count_requests of the database: only there is it exact across processes.
import { Refusal } from '../core/refusal.ts'
import { refuse } from './refusals.ts'

const WINDOW_SECONDS = 60

/** What the database said when it counted this request. */
export type RateAnswer = { limit: number; remaining: number; freeInSeconds: number }

const NAMES = { normal: 'LIVE', team: 'TEAM', test: 'TEST' } as const

/** IETF draft-ietf-httpapi-ratelimit-headers: what is left of the policy, and in how many seconds more will be. */
export function rateHeaders({ limit, remaining, freeInSeconds }: RateAnswer): Record<string, string> {
  return {
    'ratelimit-policy': `"requests";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"requests";r=${remaining};t=${Math.ceil(freeInSeconds)}`,
  }
}

/** A request that was counted and is refused for another reason shows its caller the rate all the same. */
export const counted = (refusal: Refusal, answer: RateAnswer) =>
  new Refusal(refusal.kind, refusal.messages, { ...rateHeaders(answer), ...refusal.headers })

export function tooFast(keyType: keyof typeof NAMES, answer: RateAnswer): Refusal {
  const { kind, messages } = refuse.tooFast(NAMES[keyType], answer.limit)
  const wait = String(Math.max(1, Math.ceil(answer.freeInSeconds)))
  return new Refusal(kind, messages, { ...rateHeaders(answer), 'retry-after': wait })
}
