// The daily limit: messages per UTC day of their due time, counted separately for each channel (contract 15.2). A message is
// counted by the statement that stores it, so that the limit is never exceeded, and subtracted when it is cancelled.
import { fromMicros } from '../core/clock.ts'
import { Refusal } from '../core/refusal.ts'
import { refuse } from './refusals.ts'

const DAY_MS = 86_400_000

/** The UTC day of a due time, like `2026-06-15`. */
export function dayOf(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (last.day !== day) last = { day, text: fromMicros(day * DAY_MS * 1000).slice(0, 10) }
  return last.text
}

// Nearly every message has the same day as the one before.
let last = { day: Number.NaN, text: '' }

export function tooMany(limit: number, now: number): Refusal {
  const { kind, messages } = refuse.tooMany(limit)
  const untilMidnight = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)
  return new Refusal(kind, messages, { 'retry-after': String(untilMidnight) })
}
