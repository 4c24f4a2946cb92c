// The download page and its headers: a heading, a sentence and a button, no script and nothing from another host. It works with
// a screen reader and on a small screen.
import { createHash } from 'node:crypto'
import { escaped } from '../http/html.ts'
import type { Linked } from './download.ts'

export const pageOf = ({ name, mediaType, bytes, service, until }: Linked) =>
  page(
    `Download your file from ${service}`,
    `<p>${escaped(service)} has sent you a file.</p>
<dl><dt>File</dt><dd>${escaped(name)}</dd><dt>Kind and size</dt><dd>${escaped(kindOf(mediaType))}, ${sizeOf(bytes)}</dd><dt>Available until</dt><dd><time datetime="${new Date(until).toISOString()}">${dayOf(until)}</time></dd></dl>
<form method="get"><input type="hidden" name="get" value="file"><button type="submit">Download this file</button></form>
<p>Only open a file if you expected it and know who sent it.</p>`,
  )

const PROBLEMS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: [
    'This file cannot be downloaded',
    'A virus was found in it, so it is not given out. Please tell the organisation that sent you the link.',
  ],
  404: [
    'File not found',
    'The link may be incomplete, or the file is no longer available: files are kept for seven days. Please ask the organisation that sent you the link for a new one.',
  ],
  428: [
    'This file is not ready yet',
    'It is still being checked for viruses. Please try again in a few minutes with the same link.',
  ],
}

/** The page for an error status; null for statuses without a page. */
export function problemPage(status: number): string | null {
  const problem = PROBLEMS[status]
  return problem ? page(problem[0], `<p>${problem[1]}</p>`) : null
}

const page = (title: string, body: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex, nofollow"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1>
${body}</main></body></html>
`

const STYLE = `:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--line:#767676;--act:#0b5394}
@media (prefers-color-scheme:dark){:root{--ink:#f2f2f2;--paper:#1b1b1b;--line:#9a9a9a;--act:#9fc5e8}}
body{font:1.125rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0;padding:1.5rem}
main{max-width:36rem;margin:0 auto}h1{line-height:1.2;overflow-wrap:anywhere}
dl{border-top:1px solid var(--line)}dt{font-weight:700;margin-top:.75rem}dd{margin:0;padding-bottom:.75rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
button{font:inherit;font-weight:700;color:var(--paper);background:var(--act);border:2px solid var(--act);border-radius:4px;padding:.75rem 1.5rem;min-height:3rem;cursor:pointer}
button:focus-visible{outline:3px solid var(--ink);outline-offset:3px}`

export const PAGE_POLICY = `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'`

/** Headers of every answer under /download (S-21). */
export const PRIVATE = {
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'no-store, private',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept',
} as const

export const fileHeaders = ({ name, mediaType, bytes }: Linked) => ({
  'content-type': mediaType === 'text/plain' || mediaType === 'text/csv' ? `${mediaType}; charset=utf-8` : mediaType,
  'content-length': String(bytes),
  'content-disposition': disposition(name),
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-download-options': 'noopen',
})

/** RFC 6266: an ASCII name for old clients and the exact name for all others. */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const exact = encodeURIComponent(name).replace(/['()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

const KINDS: Readonly<Record<string, string>> = {
  'application/pdf': 'PDF document',
  'text/csv': 'Table of values (CSV)',
  'text/plain': 'Text',
  'image/jpeg': 'Picture (JPEG)',
  'image/png': 'Picture (PNG)',
  'application/rtf': 'Text document (RTF)',
}

function kindOf(mediaType: string): string {
  if (/word|opendocument\.text/.test(mediaType)) return 'Text document'
  if (/excel|spreadsheet/.test(mediaType)) return 'Spreadsheet'
  return KINDS[mediaType] ?? 'File'
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

const dayOf = (moment: number) =>
  new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
    .format(moment)
    .concat(' UTC')
