// OpenAPI 3.1, generated from the schemas that validate requests, so that the document matches the checks.
import type { Route } from './route.ts'
import type { JsonSchema, ObjectSchema } from './validation.ts'

export type Documented = { method: string | string[]; url: string; id: string; who: string; route: Route }
/** The meaning of a field by its name, or by the name of its schema or operation and its own (`Job.template`). */
export type Fields = Readonly<Record<string, string>>
type Ref = { $ref: string }
type MediaTypes = Record<string, { schema: JsonSchema; example: unknown }>
type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema; description?: string }
type Response = { description: string; content: MediaTypes }
export type OpenApi = {
  openapi: string
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: readonly { url: string; description: string }[]
  tags: readonly { name: string; description: string }[]
  security: readonly Record<string, readonly string[]>[]
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, unknown>
    parameters: Record<string, Parameter>
    responses: Record<string, Response>
    schemas: Record<string, JsonSchema>
  }
}
export type Operation = {
  tags: readonly string[]
  summary: string
  operationId: string
  description: string
  parameters: readonly (Parameter | Ref)[]
  requestBody?: { required: boolean; content: MediaTypes }
  responses: Record<string, Response | Ref>
}

export function createOpenApi(routes: readonly Documented[], fields: Fields, tags: OpenApi['tags']): OpenApi {
  const named = createSchemaNames(fields)
  const paths: OpenApi['paths'] = {}
  for (const { method, url, id, who, route } of routes) {
    const path = url.replace(/:([A-Za-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: operation(id, path, who, route, named) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Herald',
      version: '2.0.0',
      description: 'Sends e-mails and text messages from templates: one by one or in bulk, now or on a schedule.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The installation that serves this document.' }],
    tags,
    security: [{ key: [] }, { token: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'ApiKey-v1 <your key>' },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'HS256 token: iss = service id, iat = now, signed with the secret.',
        },
      },
      parameters: { IdempotencyKey },
      responses: {
        Refused: {
          description:
            'Refused. Nothing was stored or changed, except with 409 IdempotencyConflictError: the first request with this Idempotency-Key is still running. Repeat after Retry-After until its stored response comes.',
          content: json(named(Errors), failure(400, 'BadRequestError', 'Template not found')),
        },
        Failed: {
          description:
            'A fault of the service. Whether something was stored is unknown. Repeat a send with the same Idempotency-Key.',
          content: json(named(Errors), failure(500, 'Exception', 'Internal server error')),
        },
      },
      schemas: named.all(),
    },
  }
}

const IdempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Repeating a send with the same key and body gets the same answer and sends nothing twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const Errors: JsonSchema = {
  title: 'Errors',
  type: 'object',
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { error: { type: 'string' }, message: { type: 'string' } },
        required: ['error', 'message'],
      },
    },
    status_code: { type: 'integer' },
  },
  required: ['errors', 'status_code'],
}

const failure = (status: number, error: string, message: string) => ({
  errors: [{ error, message }],
  status_code: status,
})

function operation(id: string, path: string, who: string, route: Route, named: SchemaNames): Operation {
  const inPath = [...path.matchAll(/\{([A-Za-z_]+)\}/g)].map(([, name]) => ({
    name: String(name),
    in: 'path',
    required: true,
    description: named.meaning(id, String(name)),
    schema: name === 'version' ? { type: 'integer', minimum: 1 } : { type: 'string', format: 'uuid' },
  }))
  const inQuery = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: String(schema.description ?? named.meaning(id, name)),
    schema: named(schema),
  }))
  const inHeader = route.hasIdempotencyKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []
  return {
    tags: [route.tag],
    summary: route.summary,
    operationId: id,
    description: `For ${who}.`,
    parameters: [...inPath, ...inQuery, ...inHeader],
    ...(route.body && {
      requestBody: {
        required: !route.config?.optionalBody,
        content: json(named(route.body), route.example.body),
      },
    }),
    responses: {
      [route.status ?? 200]: { description: 'Done.', content: contentOf(route, named) },
      '4XX': { $ref: '#/components/responses/Refused' },
      '5XX': { $ref: '#/components/responses/Failed' },
    },
  }
}

function contentOf({ reply, example, csv, others = {} }: Route, named: SchemaNames): MediaTypes {
  const schema = named(reply)
  if (csv === undefined)
    return { ...json(schema, example.reply), ...mapped(others, one => ({ ...one, schema: named(one.schema) })) }
  return {
    'text/csv': { schema: { type: 'string' }, example: csv },
    'application/x-ndjson': { schema, example: example.reply },
  }
}

const json = (schema: JsonSchema, example: unknown): MediaTypes => ({ 'application/json': { schema, example } })

type SchemaNames = {
  (schema: JsonSchema | ObjectSchema): JsonSchema
  /** The description of a field without one. */
  meaning(place: string, name: string): string
  all(): Record<string, JsonSchema>
}

/**
 * Replaces each schema that has a title by a reference to it, and collects the schema under that name. Every field gets a
 * description; beside a reference it says what the field is.
 */
function createSchemaNames(fields: Fields): SchemaNames {
  const schemas: Record<string, JsonSchema> = {}
  const meaning = (place: string, name: string) => fields[`${place}.${name}`] ?? fields[name] ?? ''
  function named(schema: JsonSchema | ObjectSchema, place = ''): JsonSchema {
    const { title, ...rest } = schema as JsonSchema
    if (typeof title !== 'string') return withType(inner(rest, place))
    schemas[title] = withType(inner(rest, title))
    return { $ref: `#/components/schemas/${title}` }
  }
  /** Only where a schema is allowed: values of `enum` and `required` are left as they are. */
  const inner = (schema: JsonSchema | ObjectSchema, place: string): JsonSchema =>
    Object.fromEntries(
      Object.entries(schema).flatMap(([keyword, value]) => {
        if (CONDITIONS.includes(keyword)) return []
        if (keyword === 'properties') return [[keyword, mapped(value as Record<string, JsonSchema>, field(place))]]
        if (['items', 'additionalProperties'].includes(keyword) && typeof value === 'object' && value !== null)
          return [[keyword, named(value as JsonSchema, place)]]
        if (keyword === 'oneOf') return [[keyword, (value as JsonSchema[]).map(one => named(one, place))]]
        return [[keyword, value]]
      }),
    )
  const field =
    (place: string) =>
    (schema: JsonSchema, name: string): JsonSchema => ({
      ...named(schema, `${place}.${name}`),
      description: schema.description ?? meaning(place, name),
    })
  named.meaning = meaning
  named.all = () => Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)))
  return named
}

// Linters and generators expect each branch of a condition to be a complete schema, so conditions are left out; the field's
// description states them.
const CONDITIONS = ['if', 'then']

const mapped = <T, U>(record: Readonly<Record<string, T>>, change: (value: T, name: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))

// Validators omit the type next to an enum, because a wrong value would be reported twice. Client generators need it.
const withType = (schema: JsonSchema): JsonSchema =>
  Array.isArray(schema.enum) && schema.type === undefined ? { type: 'string', ...schema } : schema

/** The schema, parameter or response that a reference names. */
export function resolved<T>(api: OpenApi, value: T | Ref): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const path = String(value.$ref).split('/').slice(1)
  return path.reduce<unknown>((place, name) => (place as Record<string, unknown>)[name], api) as T
}
