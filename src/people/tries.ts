// Throttling of everything that is open without signing in: so many tries per address, per network and for the installation. What is
// counted does not depend on whether an address is known, so a refusal does not tell it either.
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { count, type Subject, type Tried } from './sql/tries.ts'

export type TryApp = { db: { sql: Sql }; clock: Clock; seal: Pick<Seal, 'digest'> }

export const WINDOW_MINUTES = 15

/** Tries in 15 minutes. */
export const MOST_TRIES = { address: 5, network: 30, installation: 600 } as const

/** What one try is counted for. `what`: the act, each counted separately. */
export function tried(
  { clock, seal }: Pick<TryApp, 'clock' | 'seal'>,
  what: 'link' | 'passkey' | 'single-sign-on' | 'invitation' | 'reply-to',
  { address, network }: { address?: string; network: string },
): Tried {
  const now = clock.micros()
  const subject = (kind: keyof typeof MOST_TRIES, text: string): Subject => ({
    digest: seal.digest(`try ${what} ${kind} ${text}`),
    most: MOST_TRIES[kind],
  })
  return {
    now: fromMicros(now),
    windowStart: fromMicros(now - WINDOW_MINUTES * 60_000_000),
    subjects: [
      ...(address === undefined ? [] : [subject('address', address.trim().toLowerCase())]),
      // Probably a proxy on this machine that is not in the settings: all people share its address.
      ...(isLoopback(network) ? [] : [subject('network', network)]),
      subject('installation', ''),
    ],
  }
}

/** Counts a try; refuses it when there were too many. */
export async function countTry(
  app: TryApp,
  what: Parameters<typeof tried>[1],
  of: { address?: string; network: string },
): Promise<void> {
  refuseBeyond(app, await count(app.db.sql, tried(app, what, of)))
}

/** `over`: since when too many tries are counted; null: there were not too many. */
export function refuseBeyond({ clock }: Pick<TryApp, 'clock'>, over: { since_ms: number } | null): void {
  if (!over) return
  const left = Math.ceil((over.since_ms - clock.now()) / 60_000 + WINDOW_MINUTES)
  const minutes = Math.min(WINDOW_MINUTES, Math.max(1, left))
  throw refuse.tooManyTries(minutes === 1 ? '1 minute' : `${minutes} minutes`)
}

const isLoopback = (network: string) => /^(127\.|::1$|::ffff:127\.|0:0:0:0$)/.test(network)
