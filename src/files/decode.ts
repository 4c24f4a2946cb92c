// Takes the contents out of a parsed body: from base64 text to bytes, once, so that nothing after this carries the text along.
import { type Contents, isFile } from './file.ts'

/** Empties `file` of every file object in the body's personalisation; what cannot be decoded stays for the complaint about it. */
export function takeContents(body: unknown): Contents {
  const contents = new Map<string, Buffer | null>()
  if (!isFile(body) || !isFile(body.personalisation)) return contents
  for (const [key, value] of Object.entries(body.personalisation)) {
    if (!isFile(value) || typeof value.file !== 'string') continue
    const decoded = decode(value.file)
    contents.set(key, decoded)
    if (decoded !== null) value.file = ''
  }
  return contents
}

/** Standard alphabet, padding required; spaces and line breaks are tolerated, nothing else (contract 2.4). */
export function decode(text: string): Buffer | null {
  const plain = /\s/.test(text) ? text.replace(/[ \t\r\n]/g, '') : text
  if (plain.length % 4 !== 0) return null
  const body = plain.length - (plain.endsWith('==') ? 2 : plain.endsWith('=') ? 1 : 0)
  for (let at = 0; at < body; at++) if (!isBase64(plain.charCodeAt(at))) return null
  return Buffer.from(plain, 'base64')
}

const isBase64 = (c: number) =>
  (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2b || c === 0x2f
