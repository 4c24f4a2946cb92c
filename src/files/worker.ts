// The file thread: JSON and base64 of large bodies, media types, and the embedded scanner.
import { Refusal } from '../core/refusal.ts'
import { readJson, toPortable } from '../http/json.ts'
import { serveCalls } from '../runtime/worker-thread.ts'
import { fileTexts } from './decode.ts'
import { readInPlace } from './in-place.ts'
import { cleanName } from './name.ts'
import { findSignature } from './signatures.ts'
import { buffer, type FileCalls, isWhole, type ReadContent, SMALL } from './thread.ts'
import { judge } from './types.ts'

serveCalls<FileCalls>(
  {
    read({ body, withFiles, scans }) {
      try {
        if (!withFiles) return { value: toPortable(readJson(buffer(body))), contents: [] }
        const { value, contents } = readInPlace(buffer(body), readJson)
        const names = new Map(fileTexts(value).map(({ key, file }) => [key, file.filename]))
        const examined = [...contents].map(([key, content]) => examine(key, names.get(key), content, scans))
        return { value: toPortable(value), contents: examined.map(one => movable(one, body.buffer)) }
      } catch (error) {
        if (error instanceof Refusal) return { refusal: error.kind, messages: error.messages }
        throw error
      }
    },
    findSignature: content => findSignature(buffer(content)),
    judge: ({ name, content }) => judge(name, buffer(content)),
  },
  // Not copied: the contents of a large body, most of which share its memory.
  { read: reply => ('refusal' in reply ? [] : reply.contents.flatMap(({ content }) => content?.buffer ?? [])) },
)

function examine(key: string, filename: unknown, content: Buffer | null, scans: boolean): ReadContent {
  if (content === null || content.length < SMALL || typeof filename !== 'string') return { key, content, found: null }
  const name = cleanName(filename)
  const signature = scans ? findSignature(content) : null
  return { key, content, found: { name, judgement: judge(name, content), signature } }
}

/** Small contents are in memory that Node shares between buffers, which cannot be transferred. */
function movable(read: ReadContent, body: ArrayBufferLike): ReadContent {
  const { content } = read
  const isOwn = content === null || content.buffer === body || isWhole(content)
  return isOwn ? read : { ...read, content: new Uint8Array(content) }
}
