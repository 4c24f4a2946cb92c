// Pieces of the JSON Schemas of files that are imported, and what a schema cannot say about texts and times.
import { Ajv, type ErrorObject } from 'ajv'
import type { Refusal } from '../core/refusal.ts'

export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const flag = { type: 'boolean' } as const
export const id = {
  type: 'string',
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
} as const
export const idOrNull = { ...id, type: ['string', 'null'] } as const
const TIME = '^\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?(Z|\\+00(:00)?)?$'
export const time = { type: 'string', pattern: TIME, description: 'In UTC, up to microseconds.' } as const
export const timeOrNull = { ...time, type: ['string', 'null'] } as const
export const limit = { type: ['integer', 'null'], minimum: 0, maximum: 2_147_483_647 } as const
export const days = { type: 'integer', minimum: 1, maximum: 365 } as const
export const number = { type: 'integer', minimum: 1, maximum: 2_147_483_647 } as const

export const object = <P extends object>(properties: P, required: readonly (keyof P & string)[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
export const list = (items: object) => ({ type: 'array', items })

/** Where a file differs from its schema, and which of its texts and times cannot be stored; the first of them unless `all`. */
export const problemsOfShape = (schema: object, value: unknown, options: { all: boolean }): string[] =>
  shapeCheck(schema, options)(value)

/** For several values: compiling a schema takes longer than checking a value. */
export function shapeCheck(schema: object, { all }: { all: boolean }): (value: unknown) => string[] {
  const isValid = new Ajv({ allErrors: all, strict: false }).compile(schema)
  return value => (isValid(value) ? unstorableIn(value, all) : (isValid.errors ?? []).map(sentenceOf))
}

function sentenceOf({ instancePath, keyword, params, message }: ErrorObject): string {
  const where = instancePath || '/'
  if (keyword === 'additionalProperties')
    return `${where}: there is no field ${JSON.stringify(params.additionalProperty).slice(1, 60).replace(/"$/, '')}`
  if (keyword === 'required') return `${where}: ${params.missingProperty} is missing`
  if (keyword === 'enum') return `${where}: must be one of ${params.allowedValues.join(', ')}`
  return `${where}: ${message}`
}

/** PostgreSQL stores neither NUL characters nor half of a surrogate pair, and no day that does not exist. */
function unstorableIn(value: unknown, all: boolean): string[] {
  const problems: string[] = []
  const visit = (one: unknown, where: string, name: string) => {
    if (problems.length > 0 && !all) return
    if (typeof one === 'string') {
      if (!isText(one)) problems.push(`${where}: must be text without NUL characters and half characters`)
      else if (name.endsWith('_at') && !isMoment(one)) problems.push(`${where}: is no time that exists`)
    } else if (typeof one === 'object' && one !== null)
      for (const [key, inner] of Object.entries(one)) {
        if (isText(key)) visit(inner, `${where}/${key}`, key)
        else problems.push(`${where}: a name must be text without NUL characters and half characters`)
      }
  }
  visit(value, '', '')
  return problems
}

const isText = (text: string) => !text.includes('\0') && text.isWellFormed()

/** Of a time in the form of the schema. */
function isMoment(text: string): boolean {
  const parsed = Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`)
  return parsed >= 0 && new Date(parsed).toISOString().slice(0, 10) === text.slice(0, 10)
}

const LONGEST_PROBLEM = 300

/** A refusal of a rule, with its place in the file. It may quote a value that is long or has control characters. */
export function placed(place: string, { message }: Refusal): string {
  const shown = message
    .slice(0, LONGEST_PROBLEM)
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .replace(/\.$/, '')
  return `${place}: ${shown}${message.length > LONGEST_PROBLEM ? '…' : ''}`
}
