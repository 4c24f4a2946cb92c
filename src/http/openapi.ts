// OpenAPI 3.1, made from the very schemas that validate: what is documented is what is checked.
import type { Route } from './route.ts'
import type { JsonSchema, ObjectSchema } from './validation.ts'

export type Documented = { method: string | string[]; url: string; who: string; route: Route }
export type OpenApi = {
  openapi: string
  info: { title: string; version: string; description: string }
  security: readonly Record<string, readonly string[]>[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, unknown>
}
export type Operation = {
  summary: string
  operationId: string
  description: string
  parameters: readonly { name: string; in: string; required: boolean; schema: JsonSchema }[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>
}

export function createOpenApi(routes: readonly Documented[]): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const { method, url, who, route } of routes) {
    const path = url.replace(/:([A-Za-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: operation(String(method), path, who, route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Herald',
      version: '2.0.0',
      description: 'Sends e-mails and text messages from templates: one by one or in bulk, now or on a schedule.',
    },
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
      schemas: { Errors },
    },
  }
}

const Errors: JsonSchema = {
  type: 'object',
  properties: {
    errors: {
      type: 'array',
      items: { type: 'object', properties: { error: { type: 'string' }, message: { type: 'string' } } },
    },
    status_code: { type: 'integer' },
  },
  required: ['errors', 'status_code'],
}

function operation(method: string, path: string, who: string, route: Route): Operation {
  const inPath = [...path.matchAll(/\{([A-Za-z_]+)\}/g)].map(([, name]) => ({
    name: String(name),
    in: 'path',
    required: true,
    schema: name === 'version' ? { type: 'integer', minimum: 1 } : { type: 'string', format: 'uuid' },
  }))
  const inQuery = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }))
  return {
    summary: route.summary,
    operationId: operationId(method, path),
    description: `For ${who}.`,
    parameters: [...inPath, ...inQuery],
    ...(route.body && { requestBody: { required: true, content: json(route.body) } }),
    responses: {
      [route.status ?? 200]: { description: 'Done.', content: json(route.reply) },
      default: {
        description: 'Refused or failed; nothing happened.',
        content: json({ $ref: '#/components/schemas/Errors' }),
      },
    },
  }
}

const json = (schema: JsonSchema | ObjectSchema) => ({ 'application/json': { schema: schema as JsonSchema } })

const operationId = (method: string, path: string) =>
  `${method.toLowerCase()}${path
    .replace('/v2', '')
    .replace(/[^A-Za-z]+([A-Za-z])/g, (_match, first: string) => first.toUpperCase())
    .replace(/[^A-Za-z]/g, '')}`
