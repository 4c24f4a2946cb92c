// Messages per UTC day of their due time, e-mails and texts apart (contract 15.2). Reserved in the statement that stores
// the message, so that the limit is never exceeded, and given back when a message is cancelled.
import { fromMicros } from '../core/clock.ts'
import { Refusal } from '../core/refusal.ts'
import { refuse } from './refusals.ts'

const DAY_MS = 86_400_000

/** `2026-06-15`: the day a message that is due then counts for. */
export function dayOf(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (last.day !== day) last = { day, text: fromMicros(day * DAY_MS * 1000).slice(0, 10) }
  return last.text
}

// Nearly every message is for the same day as the one before.
let last = { day: Number.NaN, text: '' }

export function tooMany(limit: number, now: number): Refusal {
  const { kind, messages } = refuse.tooMany(limit)
  const untilMidnight = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)
  return new Refusal(kind, messages, { 'retry-after': String(untilMidnight) })
}
