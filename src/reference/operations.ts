// The operations of openapi.json as the reference shows them.
import { type OpenApi, type Operation, resolved } from '../http/openapi.ts'
import type { JsonSchema } from '../http/validation.ts'
import type { Call } from './languages.ts'

export type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema; description: string }

export type Shown = {
  id: string
  method: string
  path: string
  tag: string
  summary: string
  description: string
  parameters: Parameter[]
  /** `isRequired` false: the request may come without a body. */
  body: { schema: JsonSchema; example: unknown; isRequired: boolean } | null
  answer: { status: string; types: readonly { type: string; schema: JsonSchema; example: unknown }[] }
}

export const operationsOf = (api: OpenApi): Shown[] =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => shown(api, path, method.toUpperCase(), operation)),
  )

function shown(api: OpenApi, path: string, method: string, operation: Operation): Shown {
  const [status = '', success] = Object.entries(operation.responses)[0] ?? []
  const body = operation.requestBody?.content['application/json']
  return {
    id: operation.operationId,
    method,
    path,
    tag: operation.tags[0] ?? '',
    summary: operation.summary,
    description: operation.description,
    parameters: operation.parameters
      .map(one => resolved(api, one))
      .map(({ name, in: place, required, schema, description }) => {
        const whole = resolved<JsonSchema>(api, schema)
        return { name, in: place, required, schema: whole, description: description ?? String(whole.description ?? '') }
      }),
    body: body
      ? { schema: body.schema, example: body.example, isRequired: operation.requestBody?.required ?? false }
      : null,
    answer: {
      status,
      types: success
        ? Object.entries(resolved(api, success).content).map(([type, { schema, example }]) => ({
            type,
            schema,
            example,
          }))
        : [],
    },
  }
}

/** Shown where a path has an id. */
export const SAMPLE_ID = '0199f4c2-7f40-7b12-8c3d-4e5f6a7b8c9d'

/** The request of an example. `values`: parts of the path by name; a sample where there is none. */
export function callOf(
  operation: Pick<Shown, 'method' | 'path' | 'body'>,
  base: string,
  values: Readonly<Record<string, string>> = {},
): Call {
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? (name === 'version' ? '1' : SAMPLE_ID)),
  )
  const { method, body } = operation
  return { method, url: base + path, ...(body && body.example !== undefined && { body: body.example }) }
}
