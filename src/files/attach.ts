// Turns file objects among the values into files with a cleaned name, a media type and, for a link, a token.
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
  /** 256 random bits in the address of the link; null for an attachment. */
  token: string | null
}

/** The files of a validated body, in order. */
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

/** The token in links of smoke tests, whose messages are not stored. */
export const TEST_TOKEN = 'test'

/**
 * The values as they are shown and stored. A linked file becomes its address. An attached file stays an object, which shows as
 * nothing and tells the delivery that there is a file to fetch.
 */
export function valuesWith(values: Values, files: readonly GivenFile[], address: (token: string) => string): Values {
  if (files.length === 0) return values
  const shown = files
    .filter(({ key }) => Object.hasOwn(values, key))
    .map(({ key, token }): [string, unknown] => [key, token === null ? {} : address(token)])
  return { ...values, ...Object.fromEntries(shown) }
}

export type TypedFile = GivenFile & { mediaType: string }

/** The file with its media type, or the type that is not allowed. */
export async function typed(
  { judge }: Pick<FileThread, 'judge'>,
  file: GivenFile,
): Promise<{ ok: true; file: TypedFile } | { ok: false; type: string }> {
  const judgement = await judge(file.name, file.content)
  if (!judgement.ok) return judgement
  const name = file.name === '' ? `file.${judgement.extension}` : file.name
  return { ok: true, file: { ...file, name, mediaType: judgement.mediaType } }
}

export const bytesOf = (files: readonly Pick<GivenFile, 'content'>[]) =>
  files.reduce((sum, file) => sum + file.content.length, 0)
