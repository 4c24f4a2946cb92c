// Days as a person sees them, in the hours of the counts. In a zone that is half an hour off, a day begins at the full hour before
// its midnight, because counts are by the hour.

const HOUR_MS = 3_600_000

/** The hours since 1970 in which the last days begin in this zone, oldest first; the last is today. */
export function startsOfDays(now: number, timeZone: string, days: number): number[] {
  const local = localOf(now, timeZone)
  return Array.from({ length: days }, (_, at) => {
    const midnight = Date.UTC(local.year, local.month - 1, local.day - (days - 1 - at))
    return Math.floor(instantOf(midnight, timeZone) / HOUR_MS)
  })
}

/** When a day like 2026-11-12 begins in this zone, in milliseconds since 1970; null: it is no day. `after`: so many days later. */
export function startOfDay(text: string, timeZone: string, after = 0): number | null {
  const [, year, month, day] = (/^(20\d\d)-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined) return null
  const midnight = Date.UTC(year, month - 1, day)
  if (new Date(midnight).getUTCDate() !== day) return null
  return instantOf(midnight + after * 24 * HOUR_MS, timeZone)
}

/** What an instant is called in the zone. */
function localOf(ms: number, timeZone: string) {
  const parts = formatOf(timeZone).formatToParts(ms)
  const value = (type: string) => Number(parts.find(part => part.type === type)?.value)
  return {
    year: value('year'),
    month: value('month'),
    day: value('day'),
    asUtc: Date.UTC(value('year'), value('month') - 1, value('day'), value('hour'), value('minute'), value('second')),
  }
}

/** The instant that has this local time; twice, because the offset may change between the guess and the instant. */
function instantOf(local: number, timeZone: string): number {
  let instant = local
  for (let round = 0; round < 2; round++) instant = local - (localOf(instant, timeZone).asUtc - instant)
  return instant
}

const formatOf = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
