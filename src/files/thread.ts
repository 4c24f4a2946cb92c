// The service's side of the file thread: large bodies are parsed and decoded there, and contents are judged by their type and
// looked through by the embedded scanner, while the event loop goes on answering others. A thread that does not answer is ended and replaced.
import { type Kind, Refusal } from '../core/refusal.ts'
import { createCalls } from '../runtime/worker-thread.ts'
import type { Contents } from './file.ts'
import { findSignature } from './signatures.ts'
import { type Judgement, judge } from './types.ts'

/** What runs in the thread (worker.ts). */
export type FileCalls = {
  read(request: { body: Uint8Array; withFiles: boolean }): ReadBody | { refusal: Kind; messages: readonly string[] }
  findSignature(content: Uint8Array): string | null
  judge(request: { name: string; content: Uint8Array }): Judgement
}
type ReadBody = { value: unknown; contents: readonly (readonly [string, Uint8Array | null])[] }

export type FileThread = {
  /** The parsed body, and the contents of its files, which are no longer in it. Takes the buffer away from the caller. */
  read(body: Buffer, withFiles: boolean): Promise<{ value: unknown; contents: Contents }>
  findSignature(content: Buffer): Promise<string | null>
  /** What kind of file it is (types.ts). */
  judge(name: string, content: Buffer): Promise<Judgement>
  stop(): Promise<void>
}

const OPTIONS = { beside: import.meta.url, timeoutMs: 20_000, limits: { maxOldGenerationSizeMb: 256 } }
/** Smaller contents are examined on the event loop: the way to the thread and back would take longer. */
const SMALL = 64 * 1024

export function createFileThread(): FileThread {
  const thread = createCalls<FileCalls>('file thread', OPTIONS)
  return {
    async read(body, withFiles) {
      // Transferred, not copied: the caller's buffer is empty from here on.
      const bytes = isWhole(body) ? new Uint8Array(body.buffer as ArrayBuffer) : new Uint8Array(body)
      const reply = await thread.call('read', { body: bytes, withFiles }, [bytes.buffer as ArrayBuffer])
      if ('refusal' in reply) throw new Refusal(reply.refusal, reply.messages)
      return { value: reply.value, contents: new Map(reply.contents.map(([key, one]) => [key, one && buffer(one)])) }
    },
    async findSignature(content) {
      return content.length < SMALL ? findSignature(content) : thread.call('findSignature', shared(content))
    },
    async judge(name, content) {
      return content.length < SMALL ? judge(name, content) : thread.call('judge', { name, content: shared(content) })
    },
    stop: thread.stop,
  }
}

const isWhole = (bytes: Buffer) => bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength

/** Memory that both threads see, so that a file goes to and fro without being copied. */
export function shared(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const own = new Uint8Array(new SharedArrayBuffer(bytes.length))
  own.set(bytes)
  return own
}

export const buffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
