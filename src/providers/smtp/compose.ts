// Builds a whole message as it is sent: ASCII with CRLF line ends. By hand, because the streams of mail libraries take ten
// times as long (stack 4.1), and because every character of a header must be checked.
import type { Attachment, EmailMessage } from '../port.ts'
import { type Address, readAddress } from './address.ts'
import type { Content } from './content.ts'
import { base64Lines, type Encoded, encodeLong, encodePieces, LONG } from './encode.ts'
import { dateHeader, mailboxHeader, parameter, textHeader } from './headers.ts'

export type Composed = { from: Address; to: Address; headers: string[]; body: Content }
export type Refused = { refused: string }

const MESSAGE_ID = /^<[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,200}@[A-Za-z0-9.-]{1,253}>$/
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+-]{1,100}\/[A-Za-z0-9!#$&^_.+-]{1,100}$/

export const isLong = ({ text, html }: EmailMessage) => text.length + html.length >= LONG

/** Encodes text and HTML of a long message in pieces, yielding to the event loop between them. */
export async function encodedLong({ text, html }: EmailMessage): Promise<Bodies> {
  return { text: await encodeLong(text), html: await encodeLong(html) }
}

const encodedShort = ({ text, html, pieces }: EmailMessage): Bodies => ({
  text: encodePieces(text, pieces?.text),
  html: encodePieces(html, pieces?.html),
})

type Bodies = { text: Encoded; html: Encoded }

/** Never throws. The reason of a refusal contains nothing of the message. */
export function compose(
  message: EmailMessage,
  at: number,
  extra: readonly string[] = [],
  encoded: Bodies | null = null,
): Composed | Refused {
  const from = readAddress(message.from.address)
  if (!from || from.needsUtf8) return { refused: 'The sender address is not valid' }
  const to = readAddress(message.to)
  if (!to) return { refused: 'The recipient address is not valid' }
  const replyTo = message.replyTo === null ? null : readAddress(message.replyTo)
  if (message.replyTo !== null && !replyTo) return { refused: 'The reply-to address is not valid' }
  // It would make the whole message need SMTPUTF8, which few servers of recipients support.
  if (replyTo?.needsUtf8 && !to.needsUtf8) return { refused: 'The reply-to address is not valid' }
  if (!MESSAGE_ID.test(message.messageId)) return { refused: 'The Message-ID is not valid' }

  const content = body(message, encoded ?? encodedShort(message))
  const headers = [
    mailboxHeader('From', message.from.name, from.wire),
    `To: ${to.wire}`,
    ...(replyTo ? [`Reply-To: ${replyTo.wire}`] : []),
    textHeader('Subject', message.subject),
    dateHeader(at),
    `Message-ID: ${message.messageId}`,
    // Keeps out-of-office programs from replying (RFC 3834, 5).
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    ...extra,
    ...content.headers,
  ]
  return { from, to, headers, body: content.body }
}

type Part = { headers: string[]; body: Content }

function body(message: EmailMessage, encoded: Bodies): Part {
  const plain = text('text/plain', encoded.text)
  const alternatives =
    message.html === ''
      ? plain
      : multipart('alternative', `=_${message.id}_a`, [plain, text('text/html', encoded.html)])
  if (message.attachments.length === 0) return alternatives
  return multipart('mixed', `=_${message.id}_m`, [alternatives, ...message.attachments.map(attached)])
}

// "=_" occurs in no line of base64 or quoted-printable, and nobody knows the id of a message before it is accepted.
function multipart(kind: string, boundary: string, parts: readonly Part[]): Part {
  const before: (string | Buffer)[] = []
  let text = ''
  // Added up, because joining would copy the whole message once more.
  for (const { headers, body } of parts) {
    text += `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`
    if (typeof body === 'string') text += `${body}\r\n`
    else {
      before.push(text, ...body)
      text = ''
    }
  }
  text += `--${boundary}--\r\n`
  return {
    headers: [`Content-Type: multipart/${kind};\r\n boundary="${boundary}"`],
    body: before.length === 0 ? text : [...before, text],
  }
}

function text(mediaType: string, { encoding, body }: Encoded): Part {
  return {
    headers: [`Content-Type: ${mediaType}; charset=UTF-8`, `Content-Transfer-Encoding: ${encoding}`],
    body,
  }
}

// Attached messages may not be encoded in base64 (RFC 2046, 5.2), so they are sent as application/octet-stream.
function attached({ filename, mediaType, content }: Attachment): Part {
  const type = MEDIA_TYPE.test(mediaType) && !/^(message|multipart)\//i.test(mediaType) ? mediaType : octets
  return {
    headers: [
      `Content-Type: ${type}${parameter('name', filename)}`,
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment${parameter('filename', filename)}`,
    ],
    body: content.length < LONG ? base64Lines(content) : [content],
  }
}
const octets = 'application/octet-stream'
