// Every operation of openapi.json as Markdown, for docs/interface.md: parameters, fields, a request and its answer.
import { type OpenApi, resolved } from '../http/openapi.ts'
import type { JsonSchema } from '../http/validation.ts'
import { LANGUAGES } from './languages.ts'
import { callOf, operationsOf, type Shown } from './operations.ts'

export function operationsMarkdown(api: OpenApi): string {
  const operations = operationsOf(api)
  return api.tags
    .map(({ name, description }) => {
      const own = operations.filter(({ tag }) => tag === name)
      return `## Operations: ${name}\n\n${description}\n\n${own.map(one => operationMarkdown(api, one)).join('\n\n')}`
    })
    .join('\n\n')
}

function operationMarkdown(api: OpenApi, operation: Shown): string {
  const { method, path, summary, description, parameters, body, answer } = operation
  const fields = [
    ...parameters
      .filter(one => one.in !== 'path')
      .map(one => row(one.name, one.in, one.schema, one.required, one.description)),
    ...(body ? rowsOf(api, body.schema) : []),
  ]
  const table = fields.length > 0 ? [`| field | | |\n|---|---|---|\n${[...new Set(fields)].join('\n')}`] : []
  return [
    `### ${summary}`,
    `\`${method} ${path}\`. ${description}`,
    ...table,
    fenced('sh', curl(operation).replace('$HERALD_KEY', '$KEY')),
    ...answer.types.map(
      ({ type, example }) =>
        `Answer ${answer.status}${type === 'application/json' ? '' : `, \`${type}\``}:\n\n${fenced(
          type === 'application/json' ? 'json' : 'text',
          typeof example === 'string' ? example.trimEnd() : JSON.stringify(example, null, 2),
        )}`,
    ),
  ].join('\n\n')
}

/** `$HERALD` is the address of the installation, as in the guides. */
const curl = (operation: Shown) =>
  LANGUAGES.find(({ key }) => key === 'curl')?.write(callOf(operation, '$HERALD')) ?? ''

function rowsOf(api: OpenApi, given: JsonSchema): string[] {
  const schema = resolved<JsonSchema>(api, given)
  const choices = (schema.oneOf ?? []) as readonly JsonSchema[]
  if (choices.length > 0) return choices.flatMap(choice => rowsOf(api, choice))
  const required = (schema.required ?? []) as readonly string[]
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, one]) => {
    const field = resolved<JsonSchema>(api, one)
    return row(name, 'body', field, required.includes(name), String(one.description ?? ''))
  })
}

function row(name: string, place: string, schema: JsonSchema, isRequired: boolean, description: string): string {
  const items = schema.items as JsonSchema | undefined
  const values = (schema.enum ?? items?.enum) as readonly unknown[] | undefined
  const text = [
    description,
    ...(values ? [`One of ${values.map(value => `\`${String(value)}\``).join(', ')}.`] : []),
    ...(schema.maxLength === undefined ? [] : [`At most ${String(schema.maxLength)} characters.`]),
  ].filter(Boolean)
  return `| \`${name}\` | ${place}${isRequired ? ', required' : ''} | ${text.join(' ').replaceAll('|', '\\|')} |`
}

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``
