// The period of a report.
import type { Clock } from '../core/clock.ts'
import { readMoment } from '../notifications/schedule.ts'
import { refuse } from './refusals.ts'

/** Microseconds since 1970; `until` is not in it. */
export type Period = { since: number; until: number }

export type GivenPeriod = { from?: string; to?: string }

const DAY_MICROS = 86_400_000_000
const DEFAULT_DAYS = 7

/** A date is a day in UTC: `to=2026-11-30` includes all of it. Without `to` until now, without `from` seven days. */
export function readPeriod({ clock }: { clock: Clock }, { from, to }: GivenPeriod, mostDays: number): Period {
  const until = to === undefined ? clock.micros() : microsIn('to', to) + (isDate(to) ? DAY_MICROS : 0)
  const since = from === undefined ? until - DEFAULT_DAYS * DAY_MICROS : microsIn('from', from)
  if (since >= until) throw refuse.backwards()
  if (until - since > mostDays * DAY_MICROS) throw refuse.tooLong(mostDays)
  return { since, until }
}

const isDate = (text: string) => /^\d{4}-?\d\d-?\d\d$/.test(text)

function microsIn(name: string, text: string): number {
  const moment = readMoment(text)
  // Before 1970 there are no messages, and ids have no room for it.
  if (moment === null || moment < 0 || moment > 8.64e15) throw refuse.badMoment(name)
  return Math.round(moment * 1000)
}
