// Reads forms, queries and what a browser says about itself.
import type { FastifyRequest } from 'fastify'
import type { Place } from './place.ts'

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i

export const isForm = ({ headers }: FastifyRequest) =>
  FORM_TYPE.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined

/** Line breaks become \n, whatever the browser sends; a NUL, which no text of ours holds, becomes the replacement character. */
export const cleaned = (text: string) => text.replaceAll('\r\n', '\n').replaceAll('\u0000', '\ufffd')

const pairsOf = (text: string) =>
  new URLSearchParams(
    [...new URLSearchParams(text)].map(([name, value]): [string, string] => [cleaned(name), cleaned(value)]),
  )

export const formOf = ({ body }: FastifyRequest) => pairsOf(Buffer.isBuffer(body) ? body.toString('utf8') : '')

export function queryOf({ url }: FastifyRequest) {
  const at = url.indexOf('?')
  return pairsOf(at === -1 ? '' : url.slice(at + 1))
}

export const paramsOf = ({ params }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(params as Record<string, string>).map(([name, value]) => [name, cleaned(value)]))

/**
 * Whether a page of ours sent the form. Browsers say so in Sec-Fetch-Site and in Origin; what says nothing at all is no browser, and
 * is refused. The token of the form is checked besides.
 */
export function isFromUs({ headers }: FastifyRequest, { origins }: Place): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (site === undefined && origin === undefined) return false
  return (site === undefined || site === 'same-origin') && (origin === undefined || origins.includes(origin))
}

/** A request of the script or of an event stream, not of somebody who opens a page. */
export const isScripted = ({ headers }: FastifyRequest) => headers['sec-fetch-dest'] === 'empty'

const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const
const SYSTEMS = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** "Firefox on Linux". */
export function deviceOf({ headers }: FastifyRequest): string {
  const text = headers['user-agent'] ?? ''
  const find = (list: readonly (readonly [RegExp, string])[]) => list.find(([pattern]) => pattern.test(text))?.[1]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'Unknown browser')
}
