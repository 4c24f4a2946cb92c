// Formats a log line for a terminal: time, level, sentence, then the fields. Without a terminal the log is JSON.

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** Takes one line of JSON; anything else is returned unchanged. */
export function readable(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line // not a line of our logger
  }
  const { level, time, pid: _, process: __, msg, method, route, status, ...rest } = fields
  const what = method === undefined ? msg : `${method} ${route} ${status}`
  const shown = Object.entries(rest).map(([name, value]) => `${name}=${shownValue(value)}`)
  const words = [String(time).slice(11, 23), (LEVELS[Number(level)] ?? 'INFO').padEnd(5), what, ...shown]
  // Field values cannot contain terminal control sequences.
  return `${words.join(' ').replaceAll(/[^\P{Cc}\n]/gu, ' ')}\n`
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value
  if (typeof value !== 'object' || value === null) return String(value)
  const { stack, ...rest } = value as Record<string, unknown>
  const inside = Object.entries(rest).map(([name, one]) => `${name}=${shownValue(one)}`)
  return `(${inside.join(' ')})${typeof stack === 'string' ? `\n${stack}` : ''}`
}
