// The client of the file thread, which parses and decodes large bodies, detects media types and runs the embedded scanner, so
// that the event loop is not blocked. A thread that does not answer in time is terminated and replaced.
import { type Kind, Refusal } from '../core/refusal.ts'
import { createCalls } from '../runtime/worker-thread.ts'
import type { Contents } from './file.ts'
import { findSignature } from './signatures.ts'
import { type Judgement, judge } from './types.ts'

/** The functions that run in the thread (worker.ts). */
export type FileCalls = {
  read(request: {
    body: Uint8Array
    withFiles: boolean
    scans: boolean
  }): ReadBody | { refusal: Kind; messages: readonly string[] }
  findSignature(content: Uint8Array): string | null
  judge(request: { name: string; content: Uint8Array }): Judgement
}
type ReadBody = { value: unknown; contents: readonly ReadContent[] }
/** `found`: null for a small file, which is examined later, on the event loop. */
export type ReadContent = { key: string; content: Uint8Array | null; found: Findings | null }

/** What is known about a large file since its body was read, so that its content is not sent to the thread again. */
type Findings = { name: string; judgement: Judgement; signature: string | null }

export type FileThread = {
  /** The parsed body and, separately, the contents of its files. The buffer is transferred and empty afterwards. */
  read(body: Buffer, withFiles: boolean): Promise<{ value: unknown; contents: Contents }>
  findSignature(content: Buffer): Promise<string | null>
  /** The media type (types.ts). */
  judge(name: string, content: Buffer): Promise<Judgement>
  stop(): Promise<void>
}

const OPTIONS = {
  beside: import.meta.url,
  timeoutMs: 20_000,
  limits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
}
/** Smaller contents are examined on the event loop, because sending them to the thread would take longer. */
export const SMALL = 64 * 1024

/** `scans`: files of large bodies are searched for signatures when they are read. */
export function createFileThread({ scans }: { scans: boolean }): FileThread {
  const thread = createCalls<FileCalls>('file thread', OPTIONS)
  const findings = new WeakMap<Buffer, Findings>()
  return {
    async read(body, withFiles) {
      // Transferred, not copied: the caller's buffer is empty afterwards.
      const bytes = isWhole(body) ? new Uint8Array(body.buffer as ArrayBuffer, 0, body.length) : new Uint8Array(body)
      const reply = await thread.call('read', { body: bytes, withFiles, scans }, [bytes.buffer as ArrayBuffer])
      if ('refusal' in reply) throw new Refusal(reply.refusal, reply.messages)
      const contents = new Map<string, Buffer | null>()
      for (const { key, content, found } of reply.contents) {
        const received = content && buffer(content)
        contents.set(key, received)
        if (received && found) findings.set(received, found)
      }
      return { value: reply.value, contents }
    },
    async findSignature(content) {
      const found = findings.get(content)
      if (found && scans) return found.signature
      return content.length < SMALL ? findSignature(content) : thread.call('findSignature', shared(content))
    },
    async judge(name, content) {
      const found = findings.get(content)
      if (found?.name === name) return found.judgement
      return content.length < SMALL ? judge(name, content) : thread.call('judge', { name, content: shared(content) })
    },
    stop: thread.stop,
  }
}

export const isWhole = (bytes: Uint8Array) => bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength

/** Shared memory, because the caller keeps the file. */
function shared(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const own = new Uint8Array(new SharedArrayBuffer(bytes.length))
  own.set(bytes)
  return own
}

export const buffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
