// Validates the providers file against its schema and turns each error into a sentence with a line.
import { createRequire } from 'node:module'
import type { ErrorObject } from 'ajv'
import { channelNames } from '../channels/plain.ts'
import { isProblem } from '../core/setting.ts'
import { nearest } from '../runtime/near.ts'
import type { JsonFile } from './json-lines.ts'
import { kindsOf, providersSchema, rowsByKey } from './providers-schema.ts'

type Problem = { line: number; sentence: string }

/** All problems, in the order of the file. */
export function schemaProblems({ value, lineOf }: Extract<JsonFile, { ok: true }>): Problem[] {
  const used = kindsIn(value)
  // Loaded only where there is a providers file: it takes 45 ms of the start of every command.
  const { Ajv }: typeof import('ajv') = createRequire(import.meta.url)('ajv')
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, validateSchema: false, inlineRefs: false })
  const isValid = ajv.compile(providersSchema(({ kind }) => used.has(kind)))
  if (isValid(value)) return []
  const problems = new Map<string, Problem>()
  for (const error of isValid.errors ?? []) {
    const problem = problemOf(error, value)
    if (problem)
      problems.set(problem.pointer + problem.sentence, { line: lineOf(problem.pointer), sentence: problem.sentence })
  }
  return [...problems.values()].sort((a, b) => a.line - b.line)
}

/** The kinds that the file names; it may be invalid otherwise. */
function kindsIn(value: unknown): Set<unknown> {
  const lists = typeof value === 'object' && value !== null ? Object.values(value) : []
  return new Set(lists.filter(Array.isArray).flatMap(list => list.map(item => item?.kind)))
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list in square brackets',
  object: 'an object in curly brackets',
}

/** Null: another error reports the same. */
function problemOf(error: ErrorObject, root: unknown): { pointer: string; sentence: string } | null {
  const { instancePath: pointer, keyword, params } = error
  const key = pointer.split('/').at(-1) ?? ''
  const at = (sentence: string, below = '') => ({ pointer: pointer + below, sentence })
  switch (keyword) {
    case 'additionalProperties':
      return at(unknownKey(params.additionalProperty, pointer, error), `/${params.additionalProperty}`)
    case 'required':
      return error.schemaPath.includes('/anyOf/') ? null : at(`${params.missingProperty} is missing`)
    case 'anyOf':
      return at(`${(error.schema as [{ required: [string] }])[0].required[0]} is missing`)
    case 'minItems':
      return at(`${key} names no provider; {"kind": "none"} switches a channel off`)
    case 'type':
      return at(isSecretKey(error) ? secretSentence(key) : `${key || 'the file'} must be ${TYPES[params.type]}`)
    case 'enum':
      return key === 'kind' ? at(unknownKind(error, pointer)) : at(valueSentence(error, root))
    case 'pattern':
      return at(valueSentence(error, root))
    case 'minimum':
    case 'maximum':
      return at(valueSentence(error, root))
    default: // `if` and `const`: the errors inside them are reported
      return null
  }
}

function unknownKey(name: string, pointer: string, error: ErrorObject): string {
  const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
  const near = nearest(known, name)
  const what = pointer === '' ? 'of this file' : `of the kind ${kindAt(error)}`
  const list = known.filter(key => !key.endsWith('_file') && key !== '$schema').join(', ')
  return `${name} is not a key ${what}; ${near === undefined ? `there are ${list}` : `did you mean ${near}?`}`
}

const kindAt = ({ data }: ErrorObject) =>
  typeof data === 'object' && data !== null && 'kind' in data ? String(data.kind) : ''

function unknownKind({ data, params }: ErrorObject, pointer: string): string {
  const kinds: string[] = params.allowedValues
  if (typeof data !== 'string') return 'kind must be a text in quotes'
  const near = nearest(kinds, data)
  const [, channel = ''] = pointer.split('/')
  return `kind is "${data}"; ${near === undefined ? `for ${channel} there are ${kinds.join(', ')}` : `did you mean ${near}?`}`
}

/** The schema of a secret allows a reference only. */
const isSecretKey = ({ parentSchema }: ErrorObject) => 'env' in Object(parentSchema?.properties)

const secretSentence = (key: string) =>
  `${key} is a secret: write it into a file and give its path as ${key}_file, or give {"env": "NAME"}`

/** The sentence of the setting's own reader, as for its variable. */
function valueSentence({ instancePath, data }: ErrorObject, root: unknown): string {
  const [, channel = '', index = '', key = ''] = instancePath.split('/')
  if (key === 'name') return 'name must be up to 30 small letters, digits and hyphens, and begin with a letter'
  if (instancePath.endsWith('/env')) return 'env must be the name of an environment variable'
  const item = (root as Record<string, Record<string, { kind?: string }>>)[channel]?.[index]
  const known = channelNames.find(name => name === channel)
  const kind = known && kindsOf(known).find(one => one.kind === item?.kind)
  const row = kind && rowsByKey(kind).get(key)?.row
  if (!row || typeof data === 'object') return `${key} has a wrong value`
  if (row.reader.schema.type === 'array') return `${key} holds a text with a comma; give each its own quotes`
  const result = row.reader.read(String(data))
  return isProblem(result) ? `${key} ${result.problem}` : `${key} has a wrong value`
}
