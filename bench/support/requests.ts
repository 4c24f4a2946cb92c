// The requests that benches send, each with different values, as in production.
import type { Caller, Environment, Running } from './environment.ts'
import { request } from './load.ts'
import { personalisation, type Writing } from './values.ts'

const DIFFERENT = 1_000

/** Of several callers, in turn. */
export const emails = (...callers: readonly Caller[]) => emailsIn('mixed', ...callers)

export const emailsIn = (writing: Writing, ...callers: readonly Caller[]) =>
  many(callers, writing, '/v2/notifications/email', (n, templates) => ({
    email_address: `person.${n}@example.org`,
    template_id: templates.email,
  }))

export const texts = (...callers: readonly Caller[]) =>
  many(callers, 'mixed', '/v2/notifications/sms', (n, templates) => ({
    phone_number: `+1613555${1_000 + n}`,
    template_id: templates.sms,
  }))

type To = (n: number, templates: Caller['templates']) => object

function many(callers: readonly Caller[], writing: Writing, path: string, to: To): string[] {
  return Array.from({ length: DIFFERENT }, (_, n) => {
    const { key, templates } = callers[n % callers.length] as Caller
    const body = { ...to(n, templates), personalisation: personalisation(n, writing), reference: `order-${n}` }
    return request('POST', path, { authorization: `ApiKey-v1 ${key}` }, JSON.stringify(body))
  })
}

/** A single request from this process, for what is not measured in thousands a second. */
export async function ask(
  environment: Environment,
  { address }: Pick<Running, 'address'>,
  method: string,
  path: string,
  body: string | Buffer | null = null,
  status = 201,
): Promise<string> {
  const headers = { authorization: `ApiKey-v1 ${environment.key}`, 'content-type': 'application/json' }
  const reply = await fetch(address + path, { method, headers, body: body as BodyInit | null })
  const answer = await reply.text()
  if (reply.status !== status) throw new Error(`${method} ${path}: ${reply.status} ${answer.slice(0, 300)}`)
  return answer
}

/** 50,000 recipients as rows of a bulk job, with their values. */
export function people(count: number, channel: 'email' | 'sms', writing: Writing = 'mixed'): string[][] {
  const to = channel === 'email' ? (n: number) => `person.${n}@example.org` : (n: number) => `+1613${2_000_000 + n}`
  return [
    [channel === 'email' ? 'email address' : 'phone number', 'name', 'date', 'reference'],
    ...Array.from({ length: count }, (_, n) => [to(n), ...Object.values(personalisation(n, writing))]),
  ]
}
