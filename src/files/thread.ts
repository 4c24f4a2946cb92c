// The client of the file thread, which parses and decodes large bodies, detects media types and runs the embedded scanner, so
// that the event loop is not blocked. A thread that does not answer in time is terminated and replaced.
import { type Kind, Refusal } from '../core/refusal.ts'
import { createCalls } from '../runtime/worker-thread.ts'
import type { Contents } from './file.ts'
import { findSignature } from './signatures.ts'
import { type Judgement, judge } from './types.ts'

/** The functions that run in the thread (worker.ts). */
export type FileCalls = {
  read(request: { body: Uint8Array; withFiles: boolean }): ReadBody | { refusal: Kind; messages: readonly string[] }
  findSignature(content: Uint8Array): string | null
  judge(request: { name: string; content: Uint8Array }): Judgement
}
type ReadBody = { value: unknown; contents: readonly (readonly [string, Uint8Array | null])[] }

export type FileThread = {
  /** The parsed body and, separately, the contents of its files. The buffer is transferred and empty afterwards. */
  read(body: Buffer, withFiles: boolean): Promise<{ value: unknown; contents: Contents }>
  findSignature(content: Buffer): Promise<string | null>
  /** The media type (types.ts). */
  judge(name: string, content: Buffer): Promise<Judgement>
  stop(): Promise<void>
}

const OPTIONS = { beside: import.meta.url, timeoutMs: 20_000, limits: { maxOldGenerationSizeMb: 256 } }
/** Smaller contents are examined on the event loop, because sending them to the thread would take longer. */
const SMALL = 64 * 1024

export function createFileThread(): FileThread {
  const thread = createCalls<FileCalls>('file thread', OPTIONS)
  return {
    async read(body, withFiles) {
      // Transferred, not copied: the caller's buffer is empty afterwards.
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

/** Shared memory, so that a file is not copied between the threads. */
export function shared(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const own = new Uint8Array(new SharedArrayBuffer(bytes.length))
  own.set(bytes)
  return own
}

export const buffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
