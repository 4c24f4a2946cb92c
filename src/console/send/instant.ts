// A day and a time of a person's clock as a moment. Twice a year a clock skips an hour or shows one twice.
import { offsetAt } from '../formats.ts'

const DAY_MS = 86_400_000

export type LocalReading =
  | { kind: 'once'; at: number }
  /** The clock shows it twice; the first is taken. */
  | { kind: 'twice'; at: number; second: number }
  /** The clock skips it: the time after the gap that is as far from its beginning. */
  | { kind: 'never'; instead: string }
  | { kind: 'unreadable' }

/** `day` like 2026-03-29, `time` like 02:30 or 02:30:15. */
export function readLocal(day: string, time: string, timeZone: string): LocalReading {
  const wall = wallOf(day, time)
  if (wall === null) return { kind: 'unreadable' }
  const before = offsetAt(timeZone, wall - DAY_MS)
  const after = offsetAt(timeZone, wall + DAY_MS)
  const [first, second] = [...new Set([wall - before, wall - after])]
    .filter(at => at + offsetAt(timeZone, at) === wall)
    .sort((a, b) => a - b)
  if (first === undefined) return { kind: 'never', instead: clockOf(wall - before + after) }
  return second === undefined ? { kind: 'once', at: first } : { kind: 'twice', at: first, second }
}

/** The fields of the clock as if they were UTC. */
function wallOf(day: string, time: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !/^\d\d:\d\d(:\d\d)?$/.test(time)) return null
  const text = `${day}T${time.length === 5 ? `${time}:00` : time}.000Z`
  const wall = Date.parse(text)
  return Number.isNaN(wall) || new Date(wall).toISOString() !== text ? null : wall
}

const clockOf = (wall: number) => new Date(wall).toISOString().slice(11, 16)

/** The values of fields for a day and a time. */
export function localFields(at: number, timeZone: string): { day: string; time: string } {
  const text = new Date(at + offsetAt(timeZone, at)).toISOString()
  return { day: text.slice(0, 10), time: text.slice(11, 16) }
}
