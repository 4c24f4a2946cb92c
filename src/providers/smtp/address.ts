// Checks an address before it is put into an envelope (reliability S-11): exactly one plain address without quotes, commas,
// colons, brackets, spaces or control characters. Recipients are validated earlier; this check does not rely on that.
import { domainToASCII } from 'node:url'

export type Address = {
  /** `local@host` with the host in ASCII, as written in the envelope and in headers. */
  wire: string
  local: string
  host: string
  /** The local part is not ASCII, so the server must speak SMTPUTF8 (RFC 6531). */
  needsUtf8: boolean
}

const LOCAL = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~\u00c0-\u00ff-]{1,320}$/
const HOST = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

export function readAddress(text: string): Address | null {
  const at = text.indexOf('@')
  if (at < 1 || at !== text.lastIndexOf('@')) return null
  const local = text.slice(0, at)
  const host = asciiHost(text.slice(at + 1))
  if (!LOCAL.test(local) || !HOST.test(host) || host.length > 253) return null
  return { wire: `${local}@${host}`, local, host, needsUtf8: !isAscii(local) }
}

// domainToASCII reads the host of a URL: it would cut at / ? # and decode %41. So only letters, digits, hyphens, dots and
// non-ASCII characters are passed to it. The extra label keeps 1.2 from becoming an IP address.
function asciiHost(host: string): string {
  if (isAscii(host)) return host.toLowerCase()
  if (/[^A-Za-z0-9.\u0080-\u{10ffff}-]|\s/u.test(host)) return ''
  const converted = domainToASCII(`${host}.a`)
  return converted.endsWith('.a') ? converted.slice(0, -2) : ''
}

export const isAscii = (text: string) => !/[^\x00-\x7f]/.test(text)
