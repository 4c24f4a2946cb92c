// Limits on what is open to strangers. A stranger is limited by network, then by browser, then for the installation: what one limit
// refuses is not counted for the next, so one network cannot use up the limit of the installation. A person who is signed in, and a
// browser in which someone has signed in before (known-browser.ts), have an allowance of their own that no stranger can use up. The
// address that a stranger types refuses nothing: beyond its limit answers are delayed and mails are merged. What is counted does not
// depend on whether an address is known, so a refusal does not tell it either.
import { type Clock, fromMicros } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { LOOPBACK } from '../core/network.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { refuse } from './refusals.ts'
import { type Addressed, count, type Over, type Subject, type Tried } from './sql/tries.ts'

export type TryApp = { db: { sql: Sql }; clock: Clock; seal: Pick<Seal, 'digest'> }

export const WINDOW_MINUTES = 15

/**
 * Tries in 15 minutes. `own`: of a person who is signed in or uses a known browser. `address`: beyond it, sign-in mails are merged.
 * `recipient`: mails that members cause.
 */
export const MOST_TRIES = { own: 10, network: 30, browser: 10, installation: 600, address: 3, recipient: 5 } as const

/** At most one merged sign-in mail per address in this time. */
export const MERGE_MINUTES = 5

type Act = 'link' | 'passkey' | 'single-sign-on' | 'invitation' | 'reply-to' | 'new address'

/** Who is limited: a person with an allowance of their own, a stranger, or for members the recipient of the mail. */
export type TriedBy = { own: Id } | { network: string; browser?: string } | { recipient: string }

/** What one try is counted for. Each act is counted separately. */
export function tried(app: Pick<TryApp, 'clock' | 'seal'>, act: Act, by: TriedBy): Tried {
  const subject = (kind: keyof typeof MOST_TRIES, text: string) => subjectOf(app, act, kind, text)
  return { now: fromMicros(app.clock.micros()), subjects: subjects() }

  function subjects(): Subject[] {
    if ('own' in by) return [subject('own', by.own)]
    if ('recipient' in by) return [subject('recipient', spelled(by.recipient)), subject('installation', '')]
    return [
      // Probably a proxy on this machine that is not in the settings: all people share its address.
      ...(by.network === LOOPBACK ? [] : [subject('network', by.network)]),
      ...(by.browser === undefined ? [] : [subject('browser', by.browser)]),
      subject('installation', ''),
    ]
  }
}

/** What a stranger's request for a sign-in mail to this address is counted for. */
export const triedFor = (app: Pick<TryApp, 'clock' | 'seal'>, address: string): Addressed => ({
  requests: subjectOf(app, 'link', 'address', spelled(address)),
  merged: { ...subjectOf(app, 'link', 'address', `${spelled(address)} merged`, MERGE_MINUTES), most: 0 },
})

/** Counts a try; refuses it when there were too many. */
export async function countTry(app: TryApp, act: Act, by: TriedBy): Promise<void> {
  refuseBeyond(app, await count(app.db.sql, tried(app, act, by)))
}

/** `over`: since when too many tries are counted; null: there were not too many. */
export function refuseBeyond({ clock }: Pick<TryApp, 'clock'>, over: Over): void {
  if (!over) return
  const left = Math.ceil((over.since_ms - clock.now()) / 60_000 + WINDOW_MINUTES)
  const minutes = Math.min(WINDOW_MINUTES, Math.max(1, left))
  throw refuse.tooManyTries(minutes === 1 ? '1 minute' : `${minutes} minutes`)
}

const spelled = (address: string) => address.trim().toLowerCase()

const subjectOf = (
  { clock, seal }: Pick<TryApp, 'clock' | 'seal'>,
  act: Act,
  kind: keyof typeof MOST_TRIES,
  text: string,
  windowMinutes = WINDOW_MINUTES,
): Subject => ({
  digest: seal.digest('tries', `try ${act} ${kind} ${text}`),
  most: MOST_TRIES[kind],
  windowStart: fromMicros(clock.micros() - windowMinutes * 60_000_000),
})
