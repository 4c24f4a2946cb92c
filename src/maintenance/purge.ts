// Deletes what is past its retention. Reads are cut off to the moment; the rows themselves go by the hour.
import { purgeChunks } from '../bulk/sql/spread.ts'
import { channelNames } from '../channels/plain.ts'
import { type Clock, fromMicros, type Timestamp } from '../core/clock.ts'
import { floorOf, type Id } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import type { EventHints } from '../events/hints.ts'
import { type CutOff, type Found, oldest, remove as removeEvents } from '../events/sql/purge.ts'
import { purge as purgeCaptured } from '../inbox/sql.ts'
import { purgeProcesses } from '../installation/sql/processes.ts'
import { purgeProviderTests } from '../installation/sql/tests.ts'
import { KEY_TYPES } from '../keys/key.ts'
import { MESSAGE_LANES, SCAN_LANE } from '../notifications/lane.ts'
import { idsIn, remove } from '../notifications/sql/expire.ts'
import { purgeHandovers } from '../notifications/sql/handovers.ts'
import { MOST_DAYS } from '../people/session.ts'
import { purgeChallenges, purgeSpentChallenges } from '../people/sql/challenges.ts'
import { type PurgedKind, purgeSignIns } from '../people/sql/purge.ts'
import { purgeKept } from '../queue/release.ts'
import { purge as purgeReceived } from '../receipts/sql.ts'
import { purge as purgeAnswers } from '../replays/sql.ts'
import { KEPT_HOURS } from '../requests/request.ts'
import { purge as purgeLogged } from '../requests/sql.ts'
import { inSteps, type Steps } from '../runtime/steps.ts'
import { keptDays, retentions } from '../services/sql.ts'
import { KEPT_DAYS } from '../sheets/sheet.ts'
import { purge as purgeUploaded } from '../sheets/sql.ts'
import { purgeDrafts } from '../templates/sql/samples.ts'
import { purgeAttempts, purgeRetries } from '../webhooks/sql/purge.ts'

type App = { db: Pick<Database, 'sql'>; clock: Clock }

const DAY_MICROS = 86_400_000_000
/** A message may be scheduled four days ahead and wait three more for its final status: no row goes before that. */
export const OPEN_DAYS = 8

/** Messages of services with a shorter retention than others; whole days are dropped as partitions. */
export async function* purgeMessages({ db: { sql }, clock }: App): Steps {
  const now = clock.micros()
  for (const { service_id, channel, days } of await retentions(sql)) {
    const before = floorOf(now - Math.max(days, OPEN_DAYS) * DAY_MICROS)
    for (const key_type of KEY_TYPES)
      for (const in_job of [false, true])
        yield* inSteps<Id>(async (after, most) => {
          const ids = await idsIn(sql, { service_id, key_type, channel, in_job, status: null }, before, after, most)
          if (ids.length > 0) await remove(sql, ids)
          return { found: ids.length, last: ids.at(-1) ?? null }
        })
  }
}

/** Events as long as messages of their channel; those of jobs as long as the longer of the two. */
export async function* purgeEvents({ db: { sql }, clock }: App): Steps {
  const now = clock.micros()
  const floor = (days: number) => floorOf(now - Math.max(days, OPEN_DAYS) * DAY_MICROS)
  const services = new Map<Id, CutOff[]>()
  for (const { service_id, channel, days } of await retentions(sql))
    services.set(service_id, [...(services.get(service_id) ?? []), { channel, before: floor(days) }])
  for (const [service_id, cutOffs] of services) {
    // A channel that is not listed is kept longest: its days, and those of jobs, are dropped as partitions.
    const [first, ...others] = cutOffs.map(({ before }) => before)
    if (first !== undefined && cutOffs.length === channelNames.length)
      cutOffs.push({ channel: null, before: others.reduce((low, one) => (one < low ? one : low), first) })
    for (const key_type of KEY_TYPES)
      yield* inSteps<Found>(async (after, most) => {
        const found = await oldest(sql, { service_id, key_type }, cutOffs, after, most)
        const expired = found.filter(event => event.expired).map(event => event.id)
        if (expired.length > 0) await removeEvents(sql, expired)
        return { found: found.length, last: found.at(-1) ?? null, changed: expired.length }
      })
  }
}

const ATTEMPT_DAYS = 7
const SERVICES_AT_ONCE = 200

/** Attempts to post to webhooks, after a week. */
export const purgeWebhookAttempts = ({ db }: Pick<App, 'db'>): Steps =>
  inSteps<Timestamp>((after, most) => purgeAttempts(db.sql, ATTEMPT_DAYS, after, most))

/** Single events that wait or have failed, when the log does not hold them any longer. */
export async function* purgeWebhookRetries({ db: { sql }, clock }: App): Steps {
  const now = clock.micros()
  const services = await keptDays(sql)
  for (let at = 0; at < services.length; at += SERVICES_AT_ONCE) {
    const purged = services.slice(at, at + SERVICES_AT_ONCE).map(({ service_id, days }) => ({
      service_id,
      before: floorOf(now - Math.max(days, OPEN_DAYS) * DAY_MICROS),
    }))
    yield* inSteps<Id>(async (_after, most) => ({ found: await purgeRetries(sql, purged, most), last: null }))
  }
}

/** Tickets kept back after a release: their messages end 72 hours after they were due, and the tickets soon after. */
export async function* purgeKeptTickets({ db: { sql } }: Pick<App, 'db'>): Steps {
  // Those of bulk jobs are purged with their rows.
  for (const lane of [...MESSAGE_LANES, SCAN_LANE])
    yield* inSteps<Timestamp>((after, most) => purgeKept(sql, lane, after, most))
}

/** Four days until a bulk job is due, and seven more, as long as a message. */
const ROW_DAYS = 11

/** Rows of bulk jobs that could not become messages, although that was tried again and again (S-31). */
export function purgeBulkRows({
  db,
  clock,
  hints,
  onFault,
}: App & {
  hints: Pick<EventHints, 'announce'>
  onFault(error: unknown, sentence: string, fields: { job: Id }): void
}): Steps {
  const before = floorOf(clock.micros() - ROW_DAYS * DAY_MICROS)
  return inSteps<Id>(async (after, most) => {
    const step = await purgeChunks(db.sql, before, after, most)
    hints.announce(step.services)
    for (const job of step.jobs)
      onFault(new Error('its time is over'), 'rows of a bulk job were purged that never became messages', { job })
    return step
  })
}

const INBOX_DAYS = 7

/** The inbox keeps messages as long as they are kept by default. */
export function purgeInbox({ db, clock }: App): Steps {
  const before = floorOf(clock.micros() - INBOX_DAYS * DAY_MICROS)
  return inSteps<Id>((after, most) => purgeCaptured(db.sql, before, after, most))
}

/** Receipts, and the references that match them to messages, as long as a message can be open. */
export async function* purgeReceipts({ db: { sql } }: Pick<App, 'db'>): Steps {
  const hours = OPEN_DAYS * 24
  yield* inSteps<Timestamp>((after, most) => purgeReceived(sql, hours, after, most))
  yield* inSteps<Timestamp>((after, most) => purgeHandovers(sql, hours, after, most))
}

/** Answers to idempotency keys, after a day. */
export const purgeReplays = ({ db }: Pick<App, 'db'>): Steps =>
  inSteps<Timestamp>((after, most) => purgeAnswers(db.sql, after, most))

/** Challenges that were answered and have expired, and those that versions before 0.3 have stored. */
export async function* purgeSignInChallenges({ db: { sql } }: Pick<App, 'db'>): Steps {
  yield* inSteps<Timestamp>((after, most) => purgeChallenges(sql, after, most))
  yield* inSteps<Timestamp>((after, most) => purgeSpentChallenges(sql, after, most))
}

const HOUR_MICROS = 3_600_000_000
/** For so many hours after its time: sessions by when they began, everything else by when it ended. A used link says so for a day. */
const SIGN_IN_HOURS: Readonly<Record<PurgedKind, number>> = {
  sessions: MOST_DAYS * 24,
  links: 24,
  invitations: 0,
  tries: 1,
}

/** Sessions, links, invitations and counted tries of people. */
export async function* purgePeople({ db: { sql }, clock }: App): Steps {
  const now = clock.micros()
  for (const [kind, hours] of Object.entries(SIGN_IN_HOURS)) {
    const before = fromMicros(now - hours * HOUR_MICROS)
    yield* inSteps<Timestamp>((after, most) => purgeSignIns(sql, kind as PurgedKind, before, after, most))
  }
}

/** Of a sheet whose upload was broken off by the end of a process. */
const BROKEN_MICROS = 3_600_000_000
/** A sheet may have a hundred chunks. */
const MOST_SHEETS = 50

/** Recipient files that were uploaded and neither sent nor removed; of sent ones the record of the job. */
export const purgeSheets = ({ db: { sql }, clock }: App): Steps =>
  inSteps<Id>(async (_after, most) => {
    const now = clock.micros()
    const found = await purgeUploaded(
      sql,
      fromMicros(now - KEPT_DAYS * DAY_MICROS),
      fromMicros(now - BROKEN_MICROS),
      most,
    )
    return { found, last: null }
  }, MOST_SHEETS)

/** Rows of processes that were killed, and tests of providers, after an hour. */
export async function* purgeInstallation({ db: { sql } }: Pick<App, 'db'>): Steps {
  yield* inSteps<Timestamp>((after, most) => purgeProcesses(sql, after, most))
  yield* inSteps<Timestamp>((after, most) => purgeProviderTests(sql, after, most))
}

const DRAFT_DAYS = 7

/** Drafts of the template editor, which hold example values: a person who comes back drops them before, after a day. */
export function purgeTemplateDrafts({ db, clock }: App): Steps {
  const before = floorOf(clock.micros() - DRAFT_DAYS * DAY_MICROS)
  return inSteps<Id>((after, most) => purgeDrafts(db.sql, before, after, most))
}

/** The request log of services, after a day. */
export function purgeRequests({ db, clock }: App): Steps {
  const before = floorOf(clock.micros() - KEPT_HOURS * HOUR_MICROS)
  return inSteps<Id>((after, most) => purgeLogged(db.sql, before, after, most))
}
