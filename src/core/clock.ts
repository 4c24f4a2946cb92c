// The only place that reads the time. Ids carry the time, order the pages and choose the day's partition, so the
// process clock is corrected towards the database's and never runs backwards.

export type Clock = {
  /** Microseconds since 1970, never less than any value returned before. */
  micros(): number
  /** Milliseconds since 1970, whole. */
  now(): number
  /** What the database's clock showed, in milliseconds since 1970, at some moment of the last `travelMs`. */
  follow(databaseMs: number, travelMs?: number): void
}

/** `read` gives milliseconds since 1970 with a fraction; tests hand in their own. */
export function createClock(read: () => number = systemMillis): Clock {
  let offset: number | null = null
  let last = 0
  const micros = () => {
    const reading = Math.floor((read() + (offset ?? 0)) * 1000)
    if (reading > last) last = reading
    return last
  }
  return {
    micros,
    now: () => Math.floor(micros() / 1000),
    // An answer that took long says little: no more is corrected than it proves wrong.
    follow(databaseMs, travelMs = 0) {
      const least = databaseMs - read()
      const most = least + travelMs
      offset = Math.min(Math.max(offset ?? (least + most) / 2, least), most)
    },
  }
}

// The monotonic timer, not Date: somebody may set the machine's clock while we run, and what we follow is the database's.
const ORIGIN = performance.timeOrigin
const systemMillis = () => ORIGIN + performance.now()

/** A moment as PostgreSQL prints it in UTC, or as we make it: `2026-06-15 12:30:00.123456+00`. */
export type Timestamp = string

/** `2026-06-15T12:30:00.123456Z`, the form of notifications. */
export const zulu = (t: Timestamp) => `${day(t)}T${time(t)}Z`
/** `2026-06-15T12:30:00.123456+00:00`, the form of bulk jobs. */
export const offset = (t: Timestamp) => `${day(t)}T${time(t)}+00:00`
/** `2026-06-15 12:30:00.123456`, the form of templates. */
export const spaced = (t: Timestamp) => `${day(t)} ${time(t)}`

const day = (t: Timestamp) => t.slice(0, 10)
// PostgreSQL drops trailing zeros of the fraction; the interface always shows six digits.
function time(t: Timestamp): string {
  const end = t.length - (t.endsWith('Z') ? 1 : t.endsWith('+00') ? 3 : 0)
  const text = t.slice(11, end)
  return text.length === 8 ? `${text}.000000` : text.padEnd(15, '0')
}

/** Microseconds since 1970 as a timestamp. */
export function fromMicros(micros: number): Timestamp {
  const millis = Math.floor(micros / 1000)
  const rest = micros - millis * 1000
  return `${new Date(millis).toISOString().slice(0, 23)}${String(rest).padStart(3, '0')}Z`
}
