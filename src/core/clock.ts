// The only place that reads the time. Ids contain the time, order pages and determine the partition, so the process clock follows
// the clock of the database. After a small correction it does not run backwards: it stands still until the database has caught
// up. When the clock of the database was set by more than STEP_MS, ours is set too, forward or back.

/** Our clock is at most this far ahead of the database's. */
export const STEP_MS = 2_000

export type Clock = {
  /** Microseconds since 1970, never less than any value returned before the last step. */
  micros(): number
  /** Milliseconds since 1970, whole. */
  now(): number
  /**
   * `databaseMs`: what the database's clock showed, in milliseconds since 1970, at some moment of the last `travelMs`. Returns by
   * how much our clock was set: 0, or a step of more than STEP_MS in either direction.
   */
  follow(databaseMs: number, travelMs?: number): number
}

/** `read` returns milliseconds since 1970 with a fraction; tests pass their own. */
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
    // The longer the answer took, the less precise it is: the offset is changed only as far as the answer proves it wrong.
    follow(databaseMs, travelMs = 0) {
      const least = databaseMs - read()
      const most = least + travelMs
      const before = offset
      offset = Math.min(Math.max(offset ?? (least + most) / 2, least), most)
      const reading = read() + offset
      if (before === null) {
        last = 0 // values before the first answer were those of the machine's clock
        return 0
      }
      if (offset - before > STEP_MS) return offset - before
      const ahead = Math.max(last / 1000, read() + before) - reading
      if (ahead <= STEP_MS) return 0
      last = Math.floor(reading * 1000)
      return -ahead
    },
  }
}

// The monotonic timer, not Date: the machine's clock may be set while we run, and we follow the database's clock.
const ORIGIN = performance.timeOrigin
const systemMillis = () => ORIGIN + performance.now()

/** A time as PostgreSQL prints it in UTC, or as `fromMicros` makes it: `2026-06-15 12:30:00.123456+00`. */
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
