// The reference of the API: one page, made by the server from openapi.json. It works without script; the script adds copying, a
// search, a remembered language and trying a call out.
import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { type OpenApi, resolved } from '../http/openapi.ts'
import type { JsonSchema } from '../http/validation.ts'
import { Frame } from './frame.tsx'
import { LANGUAGES } from './languages.ts'
import { callOf, operationsOf, type Parameter, type Shown } from './operations.ts'
import { COMMON, OF_FIELDS, refusalsOf, type ShownRefusal } from './refused.ts'

type Given = { api: OpenApi; base: string; assets: { style: string; script: string } }

export function renderReference({ api, base, assets }: Given): string {
  const operations = operationsOf(api)
  const groups = api.tags.map(tag => ({ ...tag, operations: operations.filter(one => one.tag === tag.name) }))
  return `<!doctype html>${render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{api.info.title} API</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" href="data:," />
        <script type="module" src={assets.script} />
      </head>
      <body>
        <Frame
          label="Operations"
          find={
            <>
              <label class="find" hidden>
                <span>Find an operation</span>
                <input type="search" id="find" autocomplete="off" />
              </label>
              <p id="found" role="status" hidden />
            </>
          }
          list={
            <>
              <ul>
                <li>
                  <a href="#start">Start here</a>
                </li>
                <li>
                  <a href="#refusals">Refusals</a>
                </li>
              </ul>
              {groups.map(({ name, operations }) => (
                <div key={name} class="group">
                  <a class="tag" href={`#${anchorOf(name)}`}>
                    {name}
                  </a>
                  <ul>
                    {operations.map(one => (
                      <li key={one.id} data-find={`${one.method} ${one.path} ${one.summary}`.toLowerCase()}>
                        <a href={`#${one.id}`}>
                          <Method method={one.method} /> {one.summary}
                        </a>
                      </li>
                    ))}
                  </ul>
                </div>
              ))}
            </>
          }
          top={
            <>
              <Languages />
              <a class="topbar-end" href="/docs">
                Documentation
              </a>
            </>
          }
        >
          <main class="page reference" id="main" tabIndex={-1}>
            <h1>{api.info.title} API</h1>
            <Start api={api} base={base} />
            {groups.map(({ name, description, operations }) => (
              <section key={name} aria-labelledby={anchorOf(name)}>
                <h2 id={anchorOf(name)}>{name}</h2>
                <p>{description}</p>
                {operations.map(one => (
                  <One key={one.id} {...{ api, base }} one={one} />
                ))}
              </section>
            ))}
          </main>
        </Frame>
      </body>
    </html>,
  )}`
}

const anchorOf = (tag: string) => tag.toLowerCase().replace(/[^a-z]+/g, '-')

/** The stylesheet shows the examples of the one that is checked. */
const Languages = () => (
  <fieldset class="languages">
    <legend>Examples in</legend>
    {LANGUAGES.map(({ key, name }, at) => (
      <label key={key}>
        <input type="radio" name="language" id={`in-${key}`} value={key} checked={at === 0} />
        <span>{name}</span>
      </label>
    ))}
  </fieldset>
)

const Method = ({ method }: { method: string }) => <b class={`method ${method.toLowerCase()}`}>{method}</b>

const Start = ({ api, base }: { api: OpenApi; base: string }) => (
  <>
    <section aria-labelledby="start">
      <h2 id="start">Start here</h2>
      <p>
        {api.info.description} The same as data: <a href="/openapi.json">openapi.json</a>. This installation answers at{' '}
        <code>{base}</code>.
      </p>
      <p>
        Every request carries <code>Authorization: ApiKey-v1 &lt;key&gt;</code>, or <code>Bearer</code> and a signed
        token as the client libraries send it. A test key sends nothing: what it would have sent is in the{' '}
        <a href="#inbox">inbox</a>. The examples read the key from the environment variable <code>HERALD_KEY</code>.
      </p>
      <label class="key" hidden>
        <span>Your key, to try calls from this page. It stays in this page and is gone when you close it.</span>
        <input type="password" id="key" autocomplete="off" spellcheck={false} />
      </label>
    </section>
    <section aria-labelledby="refusals">
      <h2 id="refusals">Refusals</h2>
      <p>
        A 4xx answer means that nothing was stored or changed. The exception is 409{' '}
        <code>IdempotencyConflictError</code>: the first request with this <code>Idempotency-Key</code> is still
        running. Repeat after <code>Retry-After</code> until its stored answer comes. Every refusal has one shape:
      </p>
      <Code>
        {JSON.stringify(
          { errors: [{ error: 'BadRequestError', message: 'Template not found' }], status_code: 400 },
          null,
          2,
        )}
      </Code>
      <p>
        A 5xx answer is a fault of the service, and whether something was stored is unknown: repeat a send with the same{' '}
        <code>Idempotency-Key</code>. Parts in angle brackets are filled in.
      </p>
      <details>
        <summary>Refusals of every operation</summary>
        <Refusals rows={COMMON} />
      </details>
      <details>
        <summary>Refusals of fields</summary>
        <Refusals rows={OF_FIELDS} />
      </details>
    </section>
  </>
)

function One({ api, base, one }: { api: OpenApi; base: string; one: Shown }) {
  const { id, method, path, summary, description, parameters, body, answer } = one
  const refusals = refusalsOf(one.tag)
  return (
    <article id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <a href={`#${id}`}>{summary}</a>
      </h3>
      <p class="address">
        <Method method={method} /> <code>{path}</code>
      </p>
      <div class="cols">
        <div>
          <p>{description}</p>
          {(['path', 'query', 'header'] as const).map(place => (
            <Parameters key={place} place={place} rows={parameters.filter(parameter => parameter.in === place)} />
          ))}
          {body && (
            <>
              <h4>Body{body.isRequired ? '' : ', optional'}</h4>
              <Schema api={api} schema={body.schema} isRequest />
            </>
          )}
          <h4>Answer {answer.status}</h4>
          {answer.types.map(({ type, schema }) => (
            <div key={type}>
              {type !== 'application/json' && (
                <p>
                  <code>{type}</code>
                </p>
              )}
              <Schema api={api} schema={schema} />
            </div>
          ))}
          {refusals.length > 0 && (
            <details>
              <summary>Refusals of {one.tag.toLowerCase()}</summary>
              <Refusals rows={refusals} />
              <p>
                And those of <a href="#refusals">every operation</a>.
              </p>
            </details>
          )}
        </div>
        <div>
          {LANGUAGES.map(({ key, name, write }) => (
            <figure key={key} class={`example ${key}`}>
              <figcaption>
                {name}
                <button type="button" class="copy" data-copy={`${id}-${key}`} hidden>
                  Copy<span class="vh"> the example in {name}</span>
                </button>
              </figcaption>
              <pre id={`${id}-${key}`}>{write(callOf(one, base))}</pre>
            </figure>
          ))}
          {answer.types.map(({ type, example }) => (
            <figure key={type}>
              <figcaption>
                Answer {answer.status}
                {type === 'application/json' ? '' : `, ${type}`}
              </figcaption>
              <pre>{typeof example === 'string' ? example : JSON.stringify(example, null, 2)}</pre>
            </figure>
          ))}
          <Try one={one} />
        </div>
      </div>
    </article>
  )
}

/** The script shows it: without it there is nothing to send the request. */
function Try({ one: { id, method, path, parameters, body, summary } }: { one: Shown }) {
  const fields = parameters.filter(({ in: place }) => place !== 'header')
  return (
    <details class="try" data-method={method} data-path={path} hidden>
      <summary>
        Try it<span class="vh">: {summary}</span>
      </summary>
      <form>
        {fields.map(({ name, in: place, required }) => (
          <label key={name}>
            <span>
              {name}
              {required ? '' : ', optional'}
            </span>
            <input name={name} data-in={place} autocomplete="off" spellcheck={false} />
          </label>
        ))}
        {body && (
          <label>
            <span>Body</span>
            <textarea name="body" rows={8} spellcheck={false}>
              {`\n${JSON.stringify(body.example, null, 2) ?? ''}`}
            </textarea>
          </label>
        )}
        <button type="submit">{method === 'GET' ? 'Send the request' : 'Send the request: it changes data'}</button>
        <div role="status" id={`${id}-answer`} class="answer" />
      </form>
    </details>
  )
}

const PLACES = { path: 'In the path', query: 'In the query', header: 'In the header' } as const

const Parameters = ({ place, rows }: { place: keyof typeof PLACES; rows: readonly Parameter[] }) =>
  rows.length === 0 ? null : (
    <>
      <h4>{PLACES[place]}</h4>
      <dl>
        {rows.map(({ name, schema, required, description }) => (
          <Field key={name} name={name} kind={kindOf(schema)} isRequired={required && place !== 'path'}>
            {described(schema, description)}
          </Field>
        ))}
      </dl>
    </>
  )

const Field = (props: { name: string; kind: string; isRequired: boolean; children?: ComponentChildren }) => (
  <>
    <dt>
      <code>{props.name}</code> <span class="kind">{props.kind}</span>
      {props.isRequired && <strong class="required"> required</strong>}
    </dt>
    <dd>{props.children}</dd>
  </>
)

const MOST_DEPTH = 4

/** The fields of a schema. Those of a response are always there, so only fields of requests are marked as required. */
function Schema(props: { api: OpenApi; schema: JsonSchema; isRequest?: boolean; depth?: number }): ComponentChildren {
  const { api, isRequest = false, depth = 0 } = props
  const schema = resolved<JsonSchema>(api, props.schema)
  const choices = (schema.oneOf ?? []) as readonly JsonSchema[]
  if (choices.length > 0)
    return choices.map((choice, at) => (
      <div key={String(at)}>
        <p class="or">{at === 0 ? 'One of:' : 'Or:'}</p>
        <Schema {...{ api, isRequest, depth }} schema={choice} />
      </div>
    ))
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  const required = (schema.required ?? []) as readonly string[]
  if (Object.keys(properties).length === 0) return depth === 0 ? <p class="kind">{kindOf(schema)}</p> : null
  return (
    <dl>
      {Object.entries(properties).map(([name, given]) => {
        const field = resolved<JsonSchema>(api, given)
        const inner = innerOf(api, field)
        return (
          <Field key={name} name={name} kind={kindOf(field)} isRequired={isRequest && required.includes(name)}>
            {described(field, String(given.description ?? ''))}
            {inner && depth < MOST_DEPTH && (
              <details>
                <summary>
                  Fields<span class="vh"> of {name}</span>
                </summary>
                <Schema {...{ api, isRequest }} schema={inner} depth={depth + 1} />
              </details>
            )}
          </Field>
        )
      })}
    </dl>
  )
}

/** The schema with fields inside a field: an object, or the items of a list. */
function innerOf(api: OpenApi, field: JsonSchema): JsonSchema | null {
  const items = field.items ? resolved<JsonSchema>(api, field.items as JsonSchema) : field
  return items.properties || items.oneOf ? items : null
}

function kindOf(field: JsonSchema): string {
  if (Array.isArray(field.enum)) return 'one of'
  const type = [field.type ?? (field.oneOf ? 'object' : 'any')].flat().join(' or ')
  if (field.format === 'uuid') return type.replace('string', 'id')
  if (field.format === 'date-time') return type.replace('string', 'time')
  return type.replace('array', 'list')
}

function described(schema: JsonSchema, description: string): ComponentChildren {
  const items = schema.items as JsonSchema | undefined
  const values = (schema.enum ?? items?.enum) as readonly unknown[] | undefined
  const limits = [
    ...LIMITS.flatMap(([name, words]) => (schema[name] === undefined ? [] : [`${words} ${String(schema[name])}`])),
  ].join(', ')
  return (
    <>
      {description && <p>{description}</p>}
      {values && (
        <p>
          {values.map((value, at) => (
            <>
              {at > 0 && ', '}
              <code>{String(value)}</code>
            </>
          ))}
        </p>
      )}
      {limits && <p class="kind">{limits}</p>}
    </>
  )
}

const LIMITS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'characters, at least'],
  ['maxLength', 'characters, at most'],
  ['maxItems', 'items, at most'],
  ['default', 'default'],
] as const

const Refusals = ({ rows }: { rows: readonly ShownRefusal[] }) => (
  <ul class="refusals">
    {rows.map(({ status, error, sentence }) => (
      <li key={`${status} ${sentence}`}>
        <b>{status}</b> <span class="kind">{error}</span> <code>{sentence}</code>
      </li>
    ))}
  </ul>
)

const Code = ({ children }: { children: string }) => <pre>{children}</pre>
