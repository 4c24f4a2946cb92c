// Changes of a valid JSON value, for files that someone made by hand: fast-check chooses them, so that a seed repeats them.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'

type Path = readonly (string | number)[]
export type Mutation = { kind: (typeof KINDS)[number]; at: number; value: number }
const KINDS = ['set', 'delete', 'repeat', 'add', 'foreign'] as const

export const mutations = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(1_000_000), value: fc.nat(1_000_000) }),
  { minLength: 1, maxLength: 3 },
)

/** Each of these stands where it is not expected. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e300, 2_147_483_648, '', ' ', 'x', 'null', '{}', [], {}, [[]], [null]],
  ...['\0', 'a\0b', '\ud800', 'a\udc00', '\ufffe', '\u202e', 'x\r\nBcc: b@example.org', 'x'.repeat(300_000)],
  ...["'; drop table templates; --", '\\x00', '\\u0000', '__proto__', 'constructor', '$1', '{"a":1}', '{1,2}'],
  ...[
    '0000-00-00T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '9999-12-31T23:59:60Z',
    '1969-12-31T23:59:59Z',
    'infinity',
    'now',
  ],
  ...['294277-01-01T00:00:00Z', '2026-01-01T24:00:00Z', '00000000-0000-0000-0000-000000000000', 'not-an-id'],
  ...[JSON.parse('{"__proto__": {"service_id": "x"}}'), JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
]
const NAMES = ['__proto__', 'constructor', 'toString', 'service_id', 'id', 'secret_sealed', 'a\0b', '\ud800']

/** A copy with the changes. `foreign`: ids of others. */
export function mutated(value: unknown, changes: readonly Mutation[], foreign: readonly string[]): unknown {
  const copy = structuredClone(value)
  for (const { kind, at, value: choice } of changes) {
    const paths = pathsIn(copy)
    const usable = kind === 'foreign' ? paths.filter(path => isId(read(copy, path))) : paths
    const path = usable[at % Math.max(1, usable.length)]
    if (!path || path.length === 0) continue
    const parent = read(copy, path.slice(0, -1)) as Record<string | number, unknown>
    const last = path.at(-1) as string | number
    if (kind === 'set') put(parent, last, HOSTILE[choice % HOSTILE.length])
    else if (kind === 'foreign') put(parent, last, foreign[choice % foreign.length])
    else if (kind === 'delete') Array.isArray(parent) ? parent.splice(Number(last), 1) : delete parent[last]
    else if (kind === 'repeat' && Array.isArray(parent)) parent.push(structuredClone(parent[Number(last)]))
    else if (!Array.isArray(parent)) put(parent, NAMES[choice % NAMES.length] as string, HOSTILE[at % HOSTILE.length])
  }
  return copy
}

/** As JSON.parse does it: `__proto__` is a name like others. */
const put = (object: object, name: string | number, value: unknown) =>
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || path.length > 12) return [path]
  const entries = Array.isArray(value) ? value.map((one, at) => [at, one] as const) : Object.entries(value)
  return [path, ...entries.flatMap(([name, one]) => pathsIn(one, [...path, name]))]
}

const read = (value: unknown, path: Path): unknown =>
  path.reduce((one, name) => (one as Record<string | number, unknown>)[name], value)

const isId = (value: unknown) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)

/** The same with other ids and another name, those of categories apart: it can be imported beside the first. */
export function renewed<T>(value: T, keep: ReadonlySet<string>): T {
  const ids = new Map<string, string>()
  const text = JSON.stringify(value).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id => {
    if (keep.has(id)) return id
    if (!ids.has(id)) ids.set(id, randomUUID())
    return ids.get(id) as string
  })
  return JSON.parse(text.replaceAll('NAME OF THE SERVICE', `Service ${randomUUID()}`))
}
