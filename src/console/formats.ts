// Times and numbers as a person reads them: in their time zone and language, with the words of the console's design.
import { type Timestamp, zulu } from '../core/clock.ts'
import type { Language } from './words/index.ts'

export type Formats = {
  timeZone: string
  /** "14:32:08" today, "Wed 09:00" this week, "3 Nov" before, "3 Nov 2025" in another year. */
  brief(at: Timestamp): string
  /** "Wednesday 11 November 2026, 14:32:08". */
  full(at: Timestamp): string
  /** "Wednesday 11 November 2026". */
  date(at: Timestamp): string
  /** "14:32:08.204", with the day when it is not today. */
  precise(at: Timestamp): string
  /** "Wed 11 Nov". */
  day(at: Timestamp): string
  /** "14:32". */
  clock(at: Timestamp): string
  /** "14:32:08". */
  time(at: Timestamp): string
  /** "38 s ago", "5 min ago"; from an hour on like `brief`. */
  ago(at: Timestamp): string
  /** "38 s", "14 min", "3 h", "2 days". */
  duration(seconds: number): string
  /** 1,234 */
  number(value: number): string
  /** "200k", for the axis of a chart; in full below a thousand. */
  axis(value: number): string
  /** "99.1 %"; an en dash when the whole is 0. */
  share(part: number, whole: number): string
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** The offset of a zone changes at quarters of an hour only. */
const QUARTER_MS = HOUR_MS / 4

/** How a language writes what is the same in all zones. */
type Writing = {
  days: readonly string[]
  shortDays: readonly string[]
  months: readonly string[]
  shortMonths: readonly string[]
  /** Of a month. */
  date(day: number): string
  /** Between date and time, in full and in short. */
  at: readonly [full: string, short: string]
  /** Between seconds and milliseconds. */
  point: string
  ago(value: number, unit: 's' | 'min'): string
  number: Intl.NumberFormat
  inDays(value: number): string
  /** After a number of thousands. */
  thousand: string
  /** Before the percent sign. */
  space: string
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]
const JOURS = ['dimanche', 'lundi', 'mardi', 'mercredi', 'jeudi', 'vendredi', 'samedi']
const MOIS = [
  ...['janvier', 'février', 'mars', 'avril', 'mai', 'juin', 'juillet'],
  ...['août', 'septembre', 'octobre', 'novembre', 'décembre'],
]

const WRITINGS: Readonly<Record<Language, Writing>> = {
  en: {
    days: DAYS,
    shortDays: DAYS.map(day => day.slice(0, 3)),
    months: MONTHS,
    shortMonths: MONTHS.map(month => month.slice(0, 3)),
    date: String,
    at: [', ', ', '],
    point: '.',
    ago: (value, unit) => `${value} ${unit} ago`,
    number: new Intl.NumberFormat('en-GB'),
    inDays: value => `${value} ${value === 1 ? 'day' : 'days'}`,
    thousand: 'k',
    space: ' ',
  },
  fr: {
    days: JOURS,
    shortDays: JOURS.map(day => `${day.slice(0, 3)}.`),
    months: MOIS,
    shortMonths: [
      ...['janv.', 'févr.', 'mars', 'avr.', 'mai', 'juin', 'juil.'],
      ...['août', 'sept.', 'oct.', 'nov.', 'déc.'],
    ],
    date: day => (day === 1 ? '1er' : String(day)),
    at: [' à ', ', '],
    point: ',',
    ago: (value, unit) => `il y a ${value}\u00a0${unit}`,
    number: new Intl.NumberFormat('fr-FR'),
    inDays: value => `${value}\u00a0${value < 2 ? 'jour' : 'jours'}`,
    thousand: '\u00a0k',
    space: '\u00a0',
  },
}

/** What a zone's clock is ahead of UTC, by quarter of an hour. Intl takes 20 µs for a time, so each is asked for once. */
type Zone = { format: Intl.DateTimeFormat; ahead: Map<number, number> }
const zones = new Map<string, Zone>()
const MOST_ZONES = 500
const MOST_QUARTERS = 5_000

function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone)
  if (known) return known
  if (zones.size >= MOST_ZONES) zones.clear()
  const made = { format: formatOf(timeZone), ahead: new Map<number, number>() }
  zones.set(timeZone, made)
  return made
}

function aheadOf({ format, ahead }: Zone, millis: number): number {
  const quarter = Math.floor(millis / QUARTER_MS)
  const known = ahead.get(quarter)
  if (known !== undefined) return known
  if (ahead.size >= MOST_QUARTERS) ahead.clear()
  const start = quarter * QUARTER_MS
  const parts = Object.fromEntries(format.formatToParts(start).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  const found = Date.UTC(year, month - 1, day, hour, minute, second) - start
  ahead.set(quarter, found)
  return found
}

/** What the clock of a zone is ahead of UTC at a moment, in milliseconds. */
export const offsetAt = (timeZone: string, millis: number): number => aheadOf(zoneOf(timeZone), millis)

/** Whether the name is one of the IANA database. */
export function isTimeZone(name: string): boolean {
  if (zones.has(name)) return true
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone: name }))
  } catch {
    return false // Intl has no other way to ask
  }
}

const formatOf = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'numeric',
    year: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  })

export const millisOf = (at: Timestamp) => Date.parse(zulu(at))

const two = (value: number) => String(value).padStart(2, '0')

/** `now` in milliseconds since 1970. A person without a zone reads UTC; a time in full then says so. */
export function createFormats(timeZone: string | null, now: () => number, language: Language = 'en'): Formats {
  const writing = WRITINGS[language]
  const isKnown = timeZone !== null && isTimeZone(timeZone)
  const zone = zoneOf(isKnown ? timeZone : 'UTC')
  /** A date whose UTC fields are those of the person's clock. */
  const local = (millis: number) => new Date(millis + aheadOf(zone, millis))
  const shortWeekday = (then: Date) => writing.shortDays[then.getUTCDay()] ?? ''
  const shortDay = (then: Date) => `${writing.date(then.getUTCDate())} ${writing.shortMonths[then.getUTCMonth()] ?? ''}`
  const clock = (then: Date) => `${two(then.getUTCHours())}:${two(then.getUTCMinutes())}`
  const seconds = (then: Date) => `${clock(then)}:${two(then.getUTCSeconds())}`
  const date = (then: Date) => {
    const [weekday, month] = [writing.days[then.getUTCDay()], writing.months[then.getUTCMonth()]]
    return `${weekday} ${writing.date(then.getUTCDate())} ${month} ${then.getUTCFullYear()}`
  }
  const isSameDay = (a: Date, b: Date) => Math.floor(a.getTime() / DAY_MS) === Math.floor(b.getTime() / DAY_MS)

  function brief(at: Timestamp): string {
    const millis = millisOf(at)
    const [then, today] = [local(millis), local(now())]
    if (isSameDay(then, today)) return seconds(then)
    // The same weekday of last week would be ambiguous: only days less than six days away have names.
    if (Math.abs(millis - now()) < 6 * DAY_MS) return `${shortWeekday(then)} ${clock(then)}`
    return `${shortDay(then)}${then.getUTCFullYear() === today.getUTCFullYear() ? '' : ` ${then.getUTCFullYear()}`}`
  }

  return {
    timeZone: isKnown ? timeZone : 'UTC',
    brief,
    full(at) {
      const then = local(millisOf(at))
      return `${date(then)}${writing.at[0]}${seconds(then)}${isKnown ? '' : ' UTC'}`
    },
    date: at => date(local(millisOf(at))),
    precise(at) {
      const then = local(millisOf(at))
      const time = `${seconds(then)}${writing.point}${String(then.getUTCMilliseconds()).padStart(3, '0')}`
      return isSameDay(then, local(now())) ? time : `${shortDay(then)}${writing.at[1]}${time}`
    },
    day(at) {
      const then = local(millisOf(at))
      return `${shortWeekday(then)} ${shortDay(then)}`
    },
    clock: at => clock(local(millisOf(at))),
    time: at => seconds(local(millisOf(at))),
    ago(at) {
      const passed = now() - millisOf(at)
      if (passed < 0 || passed >= HOUR_MS) return brief(at)
      return passed < 60_000
        ? writing.ago(Math.floor(passed / 1_000), 's')
        : writing.ago(Math.floor(passed / 60_000), 'min')
    },
    duration(seconds) {
      if (seconds < 60) return `${Math.max(0, Math.round(seconds))}${writing.space}s`
      if (seconds < 3_600) return `${Math.round(seconds / 60)}${writing.space}min`
      return seconds < 86_400
        ? `${Math.round(seconds / 3_600)}${writing.space}h`
        : writing.inDays(Math.round(seconds / 86_400))
    },
    number: value => writing.number.format(value),
    axis: value =>
      value < 1_000 ? writing.number.format(value) : `${writing.number.format(value / 1_000)}${writing.thousand}`,
    share: (part, whole) =>
      whole === 0 ? '–' : `${writing.number.format(Math.round((part / whole) * 1_000) / 10)}${writing.space}%`,
  }
}
