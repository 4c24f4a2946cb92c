// The API reference: one HTML page generated from openapi.json, without scripts and without resources of other hosts.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escaped, sendPage } from './html.ts'
import { type OpenApi, type Operation, resolved } from './openapi.ts'
import type { JsonSchema } from './validation.ts'

export const apiReference = (api: OpenApi, reply: FastifyReply): FastifyReply =>
  sendPage(reply, `style-src 'sha256-${STYLE_HASH}'`, page(api))

function page(api: OpenApi): string {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(api.info.title)} API</title><style>${STYLE}</style></head>
<body>
<header><h1>${escaped(api.info.title)} API</h1><p>${escaped(api.info.description)} The same as data: <a href="/openapi.json">openapi.json</a>.</p></header>
<nav aria-label="Contents"><ul>${operations.map(({ operation, method, path }) => `<li><a href="#${operation.operationId}"><b>${method}</b> ${escaped(path)}</a></li>`).join('')}</ul></nav>
<main>
<section><h2>Who may call</h2><p>Every request carries <code>Authorization: ApiKey-v1 &lt;key&gt;</code>, or <code>Bearer</code> and a signed token as the client libraries send it. Failures have one shape:</p>
<pre>{"errors": [{"error": "BadRequestError", "message": "Template not found"}], "status_code": 400}</pre>
<p>A 4xx or 5xx answer means that nothing happened.</p></section>
${operations.map(one => section(api, one)).join('\n')}
</main>
</body></html>`
}

type Section = { path: string; method: string; operation: Operation }

function section(api: OpenApi, { path, method, operation }: Section): string {
  const body = operation.requestBody?.content['application/json']?.schema
  const [status, success] = Object.entries(operation.responses)[0] ?? []
  const reply = success && resolved(api, success).content['application/json']?.schema
  const all = operation.parameters.map(one => resolved(api, one))
  const parameters = Object.fromEntries(
    all.map(({ name, schema, description }) => [name, description ? { ...schema, description } : schema]),
  )
  const required = all.filter(parameter => parameter.required).map(parameter => parameter.name)
  return `<section id="${operation.operationId}"><h2><b>${method}</b> ${escaped(path)}</h2><p>${escaped(operation.summary)}. ${escaped(operation.description)}</p>
${all.length > 0 ? `<h3>Parameters</h3>${fields(api, { properties: parameters, required }, ', required')}` : ''}
${body ? `<h3>Body</h3>${fields(api, body, ', required')}` : ''}
<h3>Answer ${status ?? ''}</h3>${reply ? fields(api, reply, '') : ''}</section>`
}

/** Fields of responses are always present, so only request fields are marked as required. */
function fields(api: OpenApi, given: JsonSchema, mark: '' | ', required'): string {
  const schema = resolved<JsonSchema>(api, given)
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  const required = (schema.required ?? []) as readonly string[]
  const rows = Object.entries(properties)
    .map(([name, field]) => [name, resolved<JsonSchema>(api, field)] as const)
    .map(
      ([name, field]) =>
        `<tr><th scope="row"><code>${escaped(name)}</code></th><td>${escaped(kind(field))}${required.includes(name) ? mark : ''}</td><td>${escaped(String(field.description ?? ''))}</td></tr>`,
    )
  return rows.length === 0 ? '' : `<table>${rows.join('')}</table>`
}

function kind(field: JsonSchema): string {
  if (Array.isArray(field.enum)) return field.enum.join(' | ')
  const type = [field.type ?? 'any'].flat().join(' or ')
  if (field.format === 'uuid') return type.replace('string', 'id')
  return type
}

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
h1,h2,h3{line-height:1.2}h2,nav{overflow-wrap:anywhere}h2{margin-top:2.5rem}h2 b{color:#2a7}
nav ul{list-style:none;padding:0}code,pre{font-family:ui-monospace,monospace;background:var(--soft);border-radius:4px;padding:.1em .3em}
pre{padding:1rem;overflow:auto}table{border-collapse:collapse;width:100%}th,td{border-top:1px solid var(--line);padding:.4rem .6rem .4rem 0;text-align:left;vertical-align:top}th{font-weight:400;width:16rem}
@media(max-width:40rem){th,td{display:block;width:auto;overflow-wrap:anywhere}td{border:0;padding-top:0}}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
