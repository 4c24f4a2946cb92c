// From file objects among the values to files with a clean name, a type and, for a link, a token.
import { randomBytes } from 'node:crypto'
import type { Values } from '../rendering/placeholders.ts'
import { type Contents, type FileObject, filesOf } from './file.ts'
import { cleanName } from './name.ts'
import type { FileThread } from './thread.ts'

export type GivenFile = {
  key: string
  name: string
  method: 'attach' | 'link'
  content: Buffer
  /** 256 bits that only the recipient gets; null for what is attached. */
  token: string | null
}

/** The files of a body that was checked, in its order. */
export const givenFiles = (values: Values, contents: Contents): GivenFile[] =>
  filesOf(values).map(([key, file]) => {
    const { filename, sending_method: method } = file as FileObject
    return {
      key,
      name: cleanName(filename),
      method,
      content: contents.get(key) ?? Buffer.alloc(0),
      token: method === 'link' ? randomBytes(32).toString('base64url') : null,
    }
  })

export const addressOf = (base: string, token: string) => `${base}/download/${token}`

/** Where the link of a message leads that is stored nowhere. */
export const TEST_TOKEN = 'test'

/**
 * The values as they are shown and kept: a link is its address; what is attached shows as nothing, and stays an object, so
 * that whoever sends the message knows that there is something to fetch.
 */
export function valuesWith(values: Values, files: readonly GivenFile[], address: (token: string) => string): Values {
  if (files.length === 0) return values
  const shown = files
    .filter(({ key }) => Object.hasOwn(values, key))
    .map(({ key, token }): [string, unknown] => [key, token === null ? {} : address(token)])
  return { ...values, ...Object.fromEntries(shown) }
}

export type TypedFile = GivenFile & { mediaType: string }

/** Every file with its type, or the type of the first that may not be sent. */
export async function typed(
  { judge }: Pick<FileThread, 'judge'>,
  files: readonly GivenFile[],
): Promise<{ ok: true; files: TypedFile[] } | { ok: false; type: string }> {
  const judged: TypedFile[] = []
  for (const file of files) {
    const judgement = await judge(file.name, file.content)
    if (!judgement.ok) return judgement
    const name = file.name === '' ? `file.${judgement.extension}` : file.name
    judged.push({ ...file, name, mediaType: judgement.mediaType })
  }
  return { ok: true, files: judged }
}

export const bytesOf = (files: readonly Pick<GivenFile, 'content'>[]) =>
  files.reduce((sum, file) => sum + file.content.length, 0)
