// The file thread: JSON and base64 of large bodies, media types, and the embedded scanner.
import { Refusal } from '../core/refusal.ts'
import { readJson, toPortable } from '../http/json.ts'
import { isMapped, resized, unmap } from '../runtime/mapped.ts'
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
      let kept: readonly ReadContent[] = []
      try {
        const text = fixedCopy(body)
        if (!withFiles) return { value: toPortable(readJson(text)), contents: [] }
        const { value, contents } = readInPlace(text, readJson)
        const names = new Map(fileTexts(value).map(({ key, file }) => [key, file.filename]))
        const examined = [...contents].map(([key, content]) => examine(key, names.get(key), content, scans))
        kept = keptIn(body, text, examined)
        return { value: toPortable(value), contents: kept }
      } catch (error) {
        if (error instanceof Refusal) return { refusal: error.kind, messages: error.messages }
        throw error
      } finally {
        if (!kept.some(({ content }) => content?.buffer === body.buffer)) unmap(body)
      }
    },
    findSignature: content => findSignature(buffer(content)),
    judge: ({ name, content }) => judge(name, buffer(content)),
  },
  // Not copied: the contents of a large body, most of which are in its memory.
  { read: reply => ('refusal' in reply ? [] : reply.contents.flatMap(({ content }) => content?.buffer ?? [])) },
)

function examine(key: string, filename: unknown, content: Buffer | null, scans: boolean): ReadContent {
  if (content === null || content.length < SMALL || typeof filename !== 'string') return { key, content, found: null }
  const name = cleanName(filename)
  const signature = scans ? findSignature(content) : null
  return { key, content, found: { name, judgement: judge(name, content), signature } }
}

/** Reused, because a body is read at once. */
let scratch = Buffer.alloc(0)
/** A valid body is hardly larger. */
const MOST_SCRATCH = 12 * 1024 * 1024

/** V8 takes twice as long for each byte of memory that can be resized. */
function fixedCopy(body: Uint8Array): Buffer {
  const isReused = body.length <= MOST_SCRATCH
  if (!isReused || scratch.length < body.length) {
    const made = Buffer.allocUnsafeSlow(body.length)
    if (isReused) scratch = made
    made.set(body)
    return made
  }
  scratch.set(body)
  return scratch.subarray(0, body.length)
}

/** Contents that are parts of `text` are put into the memory of the body, from its start, which is cut to what they need. */
function keptIn(body: Uint8Array, text: Buffer, contents: readonly ReadContent[]): ReadContent[] {
  let end = 0
  const moved = contents.map(read => {
    const { content } = read
    if (content === null) return read
    if (content.buffer !== text.buffer) return isWhole(content) ? read : { ...read, content: new Uint8Array(content) }
    body.set(content, end)
    end += content.length
    return { ...read, content: body.subarray(end - content.length, end) }
  })
  if (end > 0 && isMapped(body)) resized(body, end)
  return moved
}
