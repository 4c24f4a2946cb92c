// Parsers of settings. A problem is the second half of a sentence that begins with the name of the setting.
import type { JsonSchema, Problem, Reader } from './setting.ts'

export const reader = <T>(read: (text: string) => T | Problem, schema: JsonSchema = { type: 'string' }): Reader<T> => ({
  read,
  schema,
})

/** A text that matches; `problem` gets the text. */
export const matching = (pattern: RegExp, problem: (given: string) => string): Reader<string> =>
  reader(given => (pattern.test(given) ? given : { problem: problem(given) }), {
    type: 'string',
    pattern: pattern.source,
  })

export const text: Reader<string> = reader(given => given)

export const flag: Reader<boolean> = reader<boolean>(
  given => {
    if (/^(1|true|yes|on)$/i.test(given)) return true
    if (/^(0|false|no|off)$/i.test(given)) return false
    return { problem: `is "${given}"; it must be true or false` }
  },
  { type: 'boolean' },
)

export const whole = (from: number, to: number): Reader<number> =>
  reader(
    given => {
      const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
      return number >= from && number <= to
        ? number
        : { problem: `is "${given}"; it must be a whole number from ${from} to ${to}` }
    },
    { type: 'integer', minimum: from, maximum: to },
  )

export const itemsOf = (given: string): string[] =>
  given
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

export const list: Reader<string[]> = reader(itemsOf, {
  type: 'array',
  items: { type: 'string', pattern: '^[^,]+$' },
})

export const oneOf = <const T extends string>(...choices: T[]): Reader<T> =>
  reader<T>(
    given =>
      choices.find(choice => choice === given) ?? { problem: `is "${given}"; it must be one of ${choices.join(', ')}` },
    { enum: choices },
  )

export const domain = matching(
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
  given => `is "${given}"; it must be a domain name in small letters, like mail.example.org`,
)

export const label = matching(
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/,
  given => `is "${given}"; it must be letters, digits, hyphens, dots and underscores`,
)

const SHORTEST_SECRET = 32

// No comma, because HERALD_OLD_SECRETS is a comma-separated list.
export const secret: Reader<string> = reader<string>(given => {
  if (given.length < SHORTEST_SECRET)
    return { problem: `is too short: ${given.length} characters, at least ${SHORTEST_SECRET} are needed` }
  return given.includes(',') ? { problem: 'must not contain a comma' } : given
})

export const secrets: Reader<string[]> = reader<string[]>(given => {
  const all = itemsOf(given)
  const short = all.find(one => one.length < SHORTEST_SECRET)
  return short === undefined
    ? all
    : { problem: `holds one that is too short: ${short.length} characters, at least ${SHORTEST_SECRET} are needed` }
}, list.schema)

export const webAddress: Reader<string> = reader<string>(given => {
  const wrong = {
    problem: `is "${given}"; it must be an address like https://notify.example.org, without a path at the end`,
  }
  if (!URL.canParse(given)) return wrong
  const url = new URL(given)
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return wrong
  return given.replace(/\/+$/, '')
})

export const pem = (kind: string): Reader<string> =>
  reader(given => {
    // Some platforms pass a file as one line with \n written out.
    const whole = given.replaceAll('\\n', '\n')
    return new RegExp(`^-----BEGIN [A-Z ]*${kind}-----\\s[^]*-----END [A-Z ]*${kind}-----\\s*$`).test(whole)
      ? whole
      : { problem: `must be PEM text that begins with -----BEGIN ${kind}-----` }
  })
