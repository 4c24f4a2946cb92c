// The part of MIME (RFC 2045, 2046) that a delivery report needs. The input is a byte string from an untrusted sender:
// depth, parts and headers are bounded, and nothing throws.

export type Entity = {
  /** By lower-case name. Of several with one name the first counts. */
  headers: ReadonlyMap<string, string>
  /** `text/plain` and the like, lower-case. */
  type: string
  /** Before transfer decoding. */
  body: string
  parts: readonly Entity[]
}

const DEEPEST = 4
const MOST_PARTS = 30
const MOST_HEADER = 65_536

export function readEntity(raw: string, depth = 0): Entity {
  const { head, body } = split(raw)
  const headers = readFields(head)
  const contentType = headers.get('content-type') ?? 'text/plain'
  const type = (/^\s*([\w.+-]+\/[\w.+-]+)/.exec(contentType)?.[1] ?? 'text/plain').toLowerCase()
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  const parts =
    type.startsWith('multipart/') && boundary && depth < DEEPEST
      ? pieces(body, boundary[1] ?? boundary[2] ?? '').map(piece => readEntity(piece, depth + 1))
      : []
  return { headers, type, body, parts }
}

/** The entity and its parts, outermost first. Attached messages are not parsed. */
export const flat = (entity: Entity): Entity[] => [entity, ...entity.parts.flatMap(flat)]

function split(raw: string): { head: string; body: string } {
  if (raw.startsWith('\r\n')) return { head: '', body: raw.slice(2) }
  const at = raw.indexOf('\r\n\r\n')
  if (at === -1) return { head: raw.slice(0, MOST_HEADER), body: '' }
  return { head: raw.slice(0, Math.min(at, MOST_HEADER)), body: raw.slice(at + 4) }
}

/** `Name: value` lines with folded continuations, as in headers and in delivery-status blocks. */
export function readFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of text.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    if (!fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
  }
  return fields
}

function pieces(body: string, boundary: string): string[] {
  const found = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, MOST_PARTS + 1)
  const end = found.findIndex(piece => piece.startsWith('--'))
  // A message that was cut at the size limit has no end mark. Its parts are still read.
  const inside = end === -1 ? found : found.slice(0, end)
  return inside.map(piece => piece.replace(/^[ \t]*(?:\r\n|$)/, ''))
}

export function decodedBody({ headers, body }: Entity): string {
  const encoding = (headers.get('content-transfer-encoding') ?? '').trim().toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding === 'quoted-printable') return utf8(unquoted(body))
  return utf8(body)
}

const unquoted = (text: string) =>
  text
    .replace(/[ \t]*=\r?\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const utf8 = (octets: string) => Buffer.from(octets, 'latin1').toString('utf8')
