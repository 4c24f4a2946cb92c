// X-Twilio-Signature: base64 of HMAC-SHA1, keyed with the auth token, over the address and the sorted form fields.
// Source: https://www.twilio.com/docs/usage/security#validating-requests
import { createHmac, timingSafeEqual } from 'node:crypto'

export function sign(token: string, url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort()
  let text = url
  // The same value given twice for one name counts once, as in Twilio's own validator.
  for (const name of names) for (const value of [...new Set(form.getAll(name))].sort()) text += name + value
  return createHmac('sha1', token).update(text, 'utf8').digest('base64')
}

export function isSigned(signature: string, token: string, url: string, form: URLSearchParams): boolean {
  // Some products of Twilio sign the address with its port, others without.
  return spellings(url).some(spelling => isSame(signature, sign(token, spelling, form)))
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function spellings(url: string): string[] {
  const { protocol, hostname, port, host } = new URL(url)
  const other = port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : hostname
  return [url, url.replace(`//${host}`, `//${other}`)]
}
