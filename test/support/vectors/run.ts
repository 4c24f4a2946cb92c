// Runs vectors of content-rules 13 against the product. A file is recognised by its name, or else by the shape of each vector in
// it, so any folder in the schema can be run.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Handlers } from './handler.ts'
import { recipientHandlers } from './recipients.ts'
import { renderingHandlers } from './rendering.ts'

export type Vector = { id: string; input: Record<string, unknown>; expect: Record<string, unknown> }
export type Outcome = { id: string; passed: boolean; expected: unknown; actual: unknown }

const handlers: Handlers = { ...renderingHandlers, ...recipientHandlers }

/** The vector files of a folder, by name, with long strings written out. */
export function readFolder(folder: string): { file: string; vectors: Vector[] }[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.json'))
    .sort()
    .map(file => ({ file, vectors: expand(JSON.parse(readFileSync(join(folder, file), 'utf8'))) as Vector[] }))
}

export function runVector(file: string, vector: Vector): Outcome {
  const expected = comparable(vector.expect)
  try {
    const name = basename(file, '.json')
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : handlers[kindOf(vector)]
    if (!handler) throw new Error('no handler knows this shape of vector')
    const all = handler(vector.input)
    const actual = comparable(Object.fromEntries(Object.keys(vector.expect).map(key => [key, all[key]])))
    return { id: vector.id, passed: isDeepStrictEqual(actual, expected), expected, actual }
  } catch (error) {
    return { id: vector.id, passed: false, expected, actual: error }
  }
}

const kindsByFn: Readonly<Record<string, string>> = {
  extract: 'placeholders',
  key: 'placeholders',
  render: 'placeholders',
  truthy: 'placeholders',
  data: 'placeholders',
  compare: 'placeholders',
  sanitise: 'gsm',
  units: 'gsm',
  fragments: 'gsm',
  message: 'sms-content',
  template: 'sms-content',
  length: 'email-plain-text',
  name: 'email-plain-text',
  preheader: 'email-html-structure',
  document: 'email-html-structure',
  validate: 'phone-number',
  info: 'phone-number',
  human: 'phone-number',
  recipient: 'phone-number',
  allowed: 'phone-number',
}

function kindOf({ input, expect }: Vector): string {
  if ('file' in input || 'rows' in input) return 'recipient-csv'
  if ('address' in input) return 'email-address'
  const fn = String(input.fn)
  if (fn === 'body' || fn === 'subject') return 'html' in expect ? 'email-html-structure' : 'email-plain-text'
  return kindsByFn[fn] ?? fn
}

// `unsupported` is a set.
function comparable(facts: Record<string, unknown>): Record<string, unknown> {
  return Array.isArray(facts.unsupported) ? { ...facts, unsupported: [...facts.unsupported].sort() } : facts
}

function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [key, inner] = entries[0] ?? []
  if (entries.length === 1 && Array.isArray(inner)) {
    const parts = expand(inner) as unknown[]
    if (key === '$concat') return parts.join('')
    if (key === '$repeat') return String(parts[0]).repeat(Number(parts[1]))
  }
  return Object.fromEntries(entries.map(([name, each]) => [name, expand(each)]))
}
