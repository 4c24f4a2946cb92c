// Crash points: named places at which the fault tests end the process or throw (reliability 6.1). When disabled, a point costs
// one comparison.

export type CrashPoint = {
  name: string
  action: 'kill' | 'throw'
  /** The probability, or the only id it applies to. */
  when: { chance: number } | { id: string }
}

export const CRASH_POINTS = [
  'before-accept',
  'after-commit-before-answer',
  'after-take',
  'before-send',
  'after-end-of-data',
  'after-provider-ok',
  'before-record',
  'after-record',
  'after-receipt-stored',
  'after-webhook-post',
  'before-webhook-record',
  'mid-chunk',
  'mid-purge',
] as const

// The only module-level state: it is set before anything starts, and passing it through every part would add a test tool to all
// signatures.
let armed: readonly CrashPoint[] | null = null

export function armCrashPoints(points: readonly CrashPoint[]): void {
  armed = points.length > 0 ? points : null
}

export function crashPoint(name: (typeof CRASH_POINTS)[number], ids: () => readonly string[]): void {
  if (armed !== null) fire(armed, name, ids)
}

function fire(points: readonly CrashPoint[], name: string, ids: () => readonly string[]) {
  for (const { action, when } of points.filter(point => point.name === name)) {
    if ('id' in when ? !ids().includes(when.id) : Math.random() >= when.chance) continue
    if (action === 'throw') throw new Error(`crash point ${name}`)
    process.kill(process.pid, 'SIGKILL')
  }
}

/** `after-provider-ok=kill:0.01, before-send=throw:id:<uuid>`; null when it is malformed. */
export function readCrashPoints(text: string): CrashPoint[] | null {
  const points: CrashPoint[] = []
  for (const one of text.split(',')) {
    const [, name = '', action = '', id, chance] =
      /^\s*([a-z-]+)=(kill|throw):(?:id:([0-9a-f-]{36})|([0-9.]+))\s*$/.exec(one) ?? []
    if (!(CRASH_POINTS as readonly string[]).includes(name) || (action !== 'kill' && action !== 'throw')) return null
    points.push({ name, action, when: id === undefined ? { chance: Number(chance) } : { id } })
  }
  return points
}
