// Due times of scheduled messages: the accepted forms of ISO 8601 (contract 2.8), at most 96 hours ahead.

export const FORMAT = 'datetime format is invalid. It must be a valid ISO8601 date time format'
export const PAST = 'datetime cannot be in the past'
export const FAR = 'datetime can only be up to 96 hours in the future'

const AHEAD_MS = 96 * 3_600_000

const FORM =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** Milliseconds since 1970, with microseconds as a fraction; null when the text has another form. */
export function readMoment(text: string): number | null {
  if (text.length > 64) return null
  const found = FORM.exec(text)
  if (!found) return null
  const [, year, month, day, basicMonth, basicDay, hour, minute, second, fraction, zone] = found
  const [y, mo, d] = [Number(year), Number(month ?? basicMonth ?? 1), Number(day ?? basicDay ?? 1)]
  const [h, mi, s] = [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)]
  if (y < 1 || mo < 1 || mo > 12 || d < 1 || d > daysIn(y, mo) || h > 23 || mi > 59 || s > 59) return null
  const offset = zoneMinutes(zone ?? 'Z')
  if (offset === null) return null
  const whole = Date.UTC(2000, mo - 1, d, h, mi, s)
  const moment = new Date(whole).setUTCFullYear(y, mo - 1, d)
  return moment - offset * 60_000 + (fraction ? Number(`0.${fraction}`) * 1000 : 0)
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}

function zoneMinutes(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return null
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}

/** The problem of a due time, without the name of its field; null when there is none. */
export function scheduleProblem(text: string, now: number): string | null {
  const moment = readMoment(text)
  if (moment === null) return FORMAT
  if (moment < now) return PAST
  if (moment > now + AHEAD_MS) return FAR
  return null
}
