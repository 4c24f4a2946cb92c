// Times and numbers as a person reads them: in their time zone, with the words of the console's design.
import { type Timestamp, zulu } from '../core/clock.ts'

export type Formats = {
  timeZone: string
  /** "14:32:08" today, "Wed 09:00" this week, "3 Nov" before, "3 Nov 2025" in another year. */
  brief(at: Timestamp): string
  /** "Wednesday 11 November 2026, 14:32:08". */
  full(at: Timestamp): string
  /** "14:32:08.204", with the day when it is not today. */
  precise(at: Timestamp): string
  /** "Wed 11 Nov". */
  day(at: Timestamp): string
  /** "14:32". */
  clock(at: Timestamp): string
  /** "38 s ago", "5 min ago"; from an hour on like `brief`. */
  ago(at: Timestamp): string
  /** 1,234 */
  number(value: number): string
  /** "99.1 %"; an en dash when the whole is 0. */
  share(part: number, whole: number): string
}

type Names = 'weekday' | 'day' | 'month' | 'year' | 'hour' | 'minute' | 'second' | 'fractionalSecond'
type Pieces = Readonly<Record<Names, string>>

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Zones are few and their formats are slow to make, so they are kept. */
const zones = new Map<string, { isKnown: boolean; format: Intl.DateTimeFormat }>()
const MOST_ZONES = 500

function zoneOf(timeZone: string) {
  const known = zones.get(timeZone)
  if (known) return known
  if (zones.size >= MOST_ZONES) zones.clear()
  const made = { isKnown: isTimeZone(timeZone), format: formatOf(isTimeZone(timeZone) ? timeZone : 'UTC') }
  zones.set(timeZone, made)
  return made
}

/** Whether the name is one of the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const formatOf = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
  })

const numbers = new Intl.NumberFormat('en-GB')

export const millisOf = (at: Timestamp) => Date.parse(zulu(at))

/** `now` in milliseconds since 1970. A person without a zone reads UTC; a time in full then says so. */
export function createFormats(timeZone: string | null, now: () => number): Formats {
  const { isKnown, format } = zoneOf(timeZone ?? 'UTC')
  const suffix = timeZone === null || !isKnown ? ' UTC' : ''
  const pieces = (millis: number): Pieces =>
    Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, value])) as Pieces
  const dateOf = ({ day, month, year }: Pieces) => `${day} ${month} ${year}`
  const month = (name: string) => name.slice(0, 3)
  const weekday = (name: string) => name.slice(0, 3)

  function brief(at: Timestamp): string {
    const millis = millisOf(at)
    const [then, today] = [pieces(millis), pieces(now())]
    if (dateOf(then) === dateOf(today)) return `${then.hour}:${then.minute}:${then.second}`
    // The same weekday of last week would be ambiguous: six days before and after today have names.
    if (Math.abs(millis - now()) < 6 * DAY_MS) return `${weekday(then.weekday)} ${then.hour}:${then.minute}`
    return `${then.day} ${month(then.month)}${then.year === today.year ? '' : ` ${then.year}`}`
  }

  return {
    timeZone: isKnown ? (timeZone ?? 'UTC') : 'UTC',
    brief,
    full(at) {
      const then = pieces(millisOf(at))
      return `${then.weekday} ${dateOf(then)}, ${then.hour}:${then.minute}:${then.second}${suffix}`
    },
    precise(at) {
      const [then, today] = [pieces(millisOf(at)), pieces(now())]
      const time = `${then.hour}:${then.minute}:${then.second}.${then.fractionalSecond}`
      return dateOf(then) === dateOf(today) ? time : `${then.day} ${month(then.month)}, ${time}`
    },
    day(at) {
      const then = pieces(millisOf(at))
      return `${weekday(then.weekday)} ${then.day} ${month(then.month)}`
    },
    clock(at) {
      const then = pieces(millisOf(at))
      return `${then.hour}:${then.minute}`
    },
    ago(at) {
      const passed = now() - millisOf(at)
      if (passed < 0 || passed >= HOUR_MS) return brief(at)
      return passed < 60_000 ? `${Math.floor(passed / 1_000)} s ago` : `${Math.floor(passed / 60_000)} min ago`
    },
    number: value => numbers.format(value),
    share: (part, whole) => (whole === 0 ? '–' : `${numbers.format(Math.round((part / whole) * 1_000) / 10)} %`),
  }
}
