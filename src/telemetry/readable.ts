// A log line for people at a terminal: time, level, sentence, then the fields. Programs get JSON.

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** Takes one line of JSON; what is not JSON stays as it is. */
export function readable(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return line // somebody else's line
  }
  const { level, time, pid: _, msg, method, route, status, ...rest } = fields
  const what = method === undefined ? msg : `${method} ${route} ${status}`
  const shown = Object.entries(rest).map(([name, value]) => `${name}=${shownValue(value)}`)
  const words = [String(time).slice(11, 23), (LEVELS[Number(level)] ?? 'INFO').padEnd(5), what, ...shown]
  // Whatever a field holds, it cannot speak to the terminal.
  return `${words.join(' ').replaceAll(/[^\P{Cc}\n]/gu, ' ')}\n`
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value
  if (typeof value !== 'object' || value === null) return String(value)
  const { stack, ...rest } = value as Record<string, unknown>
  const inside = Object.entries(rest).map(([name, one]) => `${name}=${shownValue(one)}`)
  return `(${inside.join(' ')})${typeof stack === 'string' ? `\n${stack}` : ''}`
}
