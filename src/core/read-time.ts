// Times that callers write in a query.
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/

/** Microseconds since 1970 of a time in ISO 8601, UTC if it names no zone; null: not a time. */
export function readTime(text: string): number | null {
  const [, day, time = '00:00', zone = 'Z'] = TIME.exec(text.replace(/ (?=\d\d:?\d\d$)/, '+')) ?? []
  if (day === undefined) return null
  const millis = Date.parse(`${day}T${time}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  if (Number.isNaN(millis) || millis < 0) return null
  const micros = (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(6, '0').slice(3, 6)
  return millis * 1000 + Number(micros)
}
