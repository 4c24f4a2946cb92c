import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { recipientHandlers } from '../../test/support/vectors/recipients.ts'

function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && only) {
    const [name, parts] = only
    if (name === '$concat') return (expand(parts) as string[]).join('')
    if (name === '$repeat') return String(expand(parts[0])).repeat(parts[1])
  }
  return Object.fromEntries(entries.map(([key, inner]) => [key, expand(inner)]))
}

for (const [file, handler] of Object.entries(recipientHandlers)) {
  const vectors = JSON.parse(readFileSync(`test/vectors/${file}.json`, 'utf8'))
  test.each(vectors as { id: string; input: unknown; expect: Record<string, unknown> }[])('$id', vector => {
    const wanted = expand(vector.expect) as Record<string, unknown>
    const got = handler(expand(vector.input))
    expect(Object.fromEntries(Object.keys(wanted).map(key => [key, got[key]]))).toEqual(wanted)
  })
}
