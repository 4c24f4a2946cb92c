// Maps errors of JSON Schema to the interface's sentences (contract 2). The same schemas generate openapi.json. What a schema
// cannot express (an address, a number, a due time, a file) is a `check` of the noun.
import { Ajv, type ErrorObject } from 'ajv'
import { readId } from '../core/id.ts'
import { decimal } from '../core/number.ts'
import { type Kind, Refusal } from '../core/refusal.ts'
import { someText } from './json.ts'

export type ObjectSchema = {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly minProperties?: number
  readonly description?: string
  readonly [extra: `x-${string}`]: unknown
}
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Checks a value that already has the right type; returns complete sentences about what is wrong with it. */
export type Checks = Readonly<Record<string, (value: never) => readonly string[]>>

export type Wording = {
  checks?: Checks
  /** Template routes report only that there are unexpected fields, not which. */
  hideUnexpected?: boolean
  /** A field that keeps its apostrophes in the sentence about it missing. */
  quoted?: readonly string[]
  /** The name of a field in sentences where it differs (older_than is called id in the message list). */
  called?: Readonly<Record<string, string>>
}

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, coerceTypes: false })
ajv.addFormat('uuid', text => readId(text) !== null)
for (const documented of ['email', 'phone', 'date-time', 'uri', 'byte']) ajv.addFormat(documented, true)

// A text of millions of UTF-16 units is too long even without counting surrogate pairs as one character.
ajv.removeKeyword('maxLength')
ajv.addKeyword({
  keyword: 'maxLength',
  type: 'string',
  schemaType: 'number',
  validate: (most: number, text: string) =>
    text.length <= most || (text.length <= 2 * most && [...text].length <= most),
})

/** Everything that is wrong with a body or query, and the fields that nothing is wrong with. */
export type Examined<T> = { problems: readonly string[]; sound: Partial<T> }

/** Creates the reader of one body or query: it returns the typed value, or throws one refusal with all sentences. */
export function reader<T>(schema: ObjectSchema, wording: Wording = {}): (data: unknown) => T {
  const examine = examiner<T>(schema, wording)
  return data => {
    const { problems } = examine(data)
    if (problems.length === 0) return data as T
    throw invalid(problems)
  }
}

/** As a reader, for callers that go on with the fields that are right. */
export function examiner<T>(schema: ObjectSchema, wording: Wording = {}): (data: unknown) => Examined<T> {
  const validate = ajv.compile(schema)
  const fields = Object.keys(schema.properties)
  return data => {
    const errors = validate(data) ? [] : (validate.errors ?? [])
    const top = errors.find(error => error.instancePath === '' && error.keyword === 'type')
    if (top) return { problems: [`${show(data)} is not of type object`], sound: {} }
    const sentences = new Map<string, string[]>()
    for (const error of errors) {
      const [place, sentence] = complaint(error, wording) ?? []
      if (place === undefined || sentence === undefined) continue
      const before = sentences.get(place)
      if (before) before.push(sentence)
      else sentences.set(place, [sentence])
    }
    const given = data as Record<string, unknown>
    checkFields(sentences, given, fields, wording)
    if (sentences.size === 0) return { problems: [], sound: data as T }
    const sound = fields.filter(field => Object.hasOwn(given, field) && !sentences.has(field))
    return {
      problems: inOrder(sentences, fields, schema, wording),
      sound: Object.fromEntries(sound.map(field => [field, given[field]])) as Partial<T>,
    }
  }
}

/** Identical sentences once (contract 2.1); code that quotes a caller's text removes apostrophes with `plain`. */
export const invalid = (sentences: readonly string[], kind: Kind = 'ValidationError') =>
  new Refusal(kind, [...new Set(sentences)])

const MISSING = ' missing '
const UNEXPECTED = ' unexpected '
const TOO_FEW = ' too few '

// The position of a sentence in the list, and its text.
function complaint(error: ErrorObject, wording: Wording): readonly [place: string, sentence: string] | null {
  const field = error.instancePath.split('/')[1] ?? ''
  if (field === '') {
    switch (error.keyword) {
      case 'required': {
        const missing = String(error.params.missingProperty)
        const quote = wording.quoted?.includes(missing) ? "'" : ''
        return [MISSING + missing, `${quote}${missing}${quote} is a required property`]
      }
      case 'additionalProperties':
        return [UNEXPECTED, String(error.params.additionalProperty)]
      case 'minProperties':
        return [TOO_FEW, '{} does not have enough properties']
      default:
        return null
    }
  }
  const sentence = wrongValue(wording.called?.[field] ?? field, error)
  return sentence === null ? null : [field, plain(sentence)]
}

function wrongValue(name: string, { keyword, parentSchema, schema, data }: ErrorObject): string | null {
  if (isUuid(parentSchema)) return `${name} is not a valid UUID`
  switch (keyword) {
    case 'type':
      return `${name} ${show(data)} is not of type ${[schema].flat().join(', ')}`
    case 'enum':
      return `${name} ${show(data)} is not one of [${(schema as unknown[]).join(', ')}]`
    case 'minItems':
      return `${name} ${show(data)} is too short`
    case 'maxLength':
      return `${name} ${show(data)} is too long`
    default:
      return null
  }
}

const isUuid = (schema: unknown) => (schema as { format?: unknown } | undefined)?.format === 'uuid'

function checkFields(
  sentences: Map<string, string[]>,
  data: Record<string, unknown>,
  fields: readonly string[],
  { checks = {} }: Wording,
): void {
  for (const field of fields) {
    if (!Object.hasOwn(data, field)) continue
    const value = data[field]
    if (someText(value, holdsNul)) sentences.set(field, [`${field} contains a character that is not allowed`])
    else if (!sentences.has(field)) {
      const wrong = checks[field]?.(value as never) ?? []
      if (wrong.length > 0) sentences.set(field, wrong.map(plain))
    }
  }
}

const holdsNul = (text: string) => text.includes('\u0000')

// Field rules in the order of the fields, then missing fields, then unexpected ones.
function inOrder(
  sentences: Map<string, string[]>,
  fields: readonly string[],
  { required = [] }: ObjectSchema,
  { hideUnexpected }: Wording,
): string[] {
  // A conditionally required field is not in the list: it comes after those that are always required.
  const missing = [...new Set([...required, ...fields])]
  const unexpected = sentences.get(UNEXPECTED)
  return [
    ...fields.flatMap(field => sentences.get(field) ?? []),
    ...missing.flatMap(field => sentences.get(MISSING + field) ?? []),
    ...(sentences.get(TOO_FEW) ?? []),
    ...(unexpected ? [`Additional properties are not allowed${hideUnexpected ? '' : listed(unexpected)}`] : []),
  ]
}

const listed = (names: readonly string[]) =>
  plain(` (${cut(names.join(', '))} ${names.length === 1 ? 'was' : 'were'} unexpected)`)

/** A caller's value as the interface shows it (contract 2.2), cut after 300 characters. */
export const show = (value: unknown) => cut(written(value, 0))

const cut = (text: string) => (text.length <= 300 ? text : [...text.slice(0, 1200)].slice(0, 300).join(''))

function written(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'string') return value.length > 1200 ? value.slice(0, 1200) : value
  if (typeof value === 'number' || typeof value === 'bigint') return decimal(value)
  if (depth > 32) return '...'
  // 300 characters are shown, so later items cannot appear.
  if (Array.isArray(value))
    return `[${value
      .slice(0, 301)
      .map(item => written(item, depth + 1))
      .join(', ')}]`
  const items = Object.entries(value as object).slice(0, 301)
  return `{${items.map(([key, item]) => `${key}: ${written(item, depth + 1)}`).join(', ')}}`
}

/** Every sentence of this file, for docs/errors.md. */
export const sentences = [
  '<field> is a required property',
  '<field> <value> is not of type <types>',
  '<field> <value> is not one of [<choices>]',
  '<field> <value> is too short',
  '<field> <value> is too long',
  '<field> is not a valid UUID',
  '<field> contains a character that is not allowed',
  '<value> is not of type object',
  '{} does not have enough properties',
  'Additional properties are not allowed',
  'Additional properties are not allowed (<names> was unexpected)',
  'Additional properties are not allowed (<names> were unexpected)',
] as const

export const plain = (sentence: string) => sentence.replaceAll("'", '')
