// Decodes the base64 contents of a parsed body once and removes the text, so that later steps do not keep it in memory.
import { type Contents, isFile } from './file.ts'

type FileText = { key: string; file: Record<string, unknown>; text: string }

/** The file objects in the personalisation of a parsed body that have a text. */
export function fileTexts(body: unknown): FileText[] {
  if (!isFile(body) || !isFile(body.personalisation)) return []
  return Object.entries(body.personalisation).flatMap(([key, file]) =>
    isFile(file) && typeof file.file === 'string' ? [{ key, file, text: file.file }] : [],
  )
}

/** Empties `file` of every file object in the personalisation. Invalid base64 stays there, for the validation error. */
export function takeContents(body: unknown): Contents {
  const contents = new Map<string, Buffer | null>()
  for (const { key, file, text } of fileTexts(body)) {
    const decoded = decode(text)
    contents.set(key, decoded)
    if (decoded !== null) file.file = ''
  }
  return contents
}

/** Standard alphabet, padding required; spaces and line breaks are tolerated, nothing else (contract 2.4). */
export function decode(text: string): Buffer | null {
  const plain = BLANKS.some(blank => text.includes(blank)) ? text.replace(/[ \t\r\n]/g, '') : text
  if (plain.length % 4 !== 0 || plain.includes('-') || plain.includes('_')) return null
  // Node's decoder skips invalid characters and accepts the URL alphabet too. A result of full length therefore skipped
  // nothing. This is ten times as fast as checking every character.
  const decoded = Buffer.from(plain, 'base64')
  const padding = plain.endsWith('==') ? 2 : plain.endsWith('=') ? 1 : 0
  return decoded.length === (plain.length / 4) * 3 - padding ? decoded : null
}

const BLANKS = [' ', '\n', '\r', '\t']
