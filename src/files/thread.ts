// The service's side of the file thread: large bodies are parsed and decoded there, and contents are judged by their type and
// looked through by the embedded scanner, while the event loop goes on answering others. A thread that does not answer is ended and replaced.
import { Worker } from 'node:worker_threads'
import { type Kind, Refusal } from '../core/refusal.ts'
import type { Contents } from './file.ts'
import { findSignature } from './signatures.ts'
import { type Judgement, judge } from './types.ts'

export type Ask =
  | { id: number; kind: 'read'; body: Uint8Array; withFiles: boolean }
  | { id: number; kind: 'find'; content: Uint8Array }
  | { id: number; kind: 'judge'; name: string; content: Uint8Array }

export type Answer =
  | { id: number; kind: 'read'; value: unknown; contents: readonly (readonly [string, Uint8Array | null])[] }
  | { id: number; kind: 'refused'; refusal: Kind; messages: readonly string[] }
  | { id: number; kind: 'found'; name: string | null }
  | { id: number; kind: 'judged'; judgement: Judgement }
  | { id: number; kind: 'failed' }

export type FileThread = {
  /** The parsed body, and the contents of its files, which are no longer in it. Takes the buffer away from the caller. */
  read(body: Buffer, withFiles: boolean): Promise<{ value: unknown; contents: Contents }>
  findSignature(content: Buffer): Promise<string | null>
  /** What kind of file it is (types.ts). */
  judge(name: string, content: Buffer): Promise<Judgement>
  stop(): Promise<void>
}

const PATIENCE_MS = 20_000
const LIMITS = { resourceLimits: { maxOldGenerationSizeMb: 256 } }
/** Smaller contents are looked through on the spot: the way there and back would take longer. */
const SMALL = 64 * 1024

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void; timer: NodeJS.Timeout }

export function createFileThread(): FileThread {
  let worker: Worker | null = null
  let last = 0
  const waiting = new Map<number, Waiting>()

  function start(): Worker {
    const made = import.meta.url.endsWith('.ts')
      ? startFromSource()
      : new Worker(new URL('./worker.js', import.meta.url), LIMITS)
    made.unref()
    made.on('message', (answer: Answer) => settle(answer.id)?.resolve(answer))
    made.on('error', () => replace(made, 'the file thread failed'))
    made.on('exit', () => replace(made, 'the file thread ended'))
    return made
  }

  function settle(id: number): Waiting | undefined {
    const found = waiting.get(id)
    waiting.delete(id)
    if (found) clearTimeout(found.timer)
    return found
  }

  function replace(which: Worker, why: string) {
    if (worker !== which) return
    worker = null
    for (const id of [...waiting.keys()]) settle(id)?.reject(new Error(why))
  }

  function ask(message: Ask, transfer: ArrayBuffer[]): Promise<Answer> {
    worker ??= start()
    const asked = worker
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        replace(asked, 'the file thread took too long')
        void asked.terminate()
      }, PATIENCE_MS)
      waiting.set(message.id, { resolve, reject, timer })
      asked.postMessage(message, transfer)
    })
  }

  return {
    async read(body, withFiles) {
      // Handed over, not copied: the caller's buffer is empty from here on.
      const bytes = isWhole(body) ? new Uint8Array(body.buffer as ArrayBuffer) : new Uint8Array(body)
      const answer = await ask({ id: ++last, kind: 'read', body: bytes, withFiles }, [bytes.buffer as ArrayBuffer])
      if (answer.kind === 'refused') throw new Refusal(answer.refusal, answer.messages)
      if (answer.kind !== 'read') throw new Error('the file thread could not read a body')
      return { value: answer.value, contents: new Map(answer.contents.map(([key, one]) => [key, one && buffer(one)])) }
    },
    async findSignature(content) {
      if (content.length < SMALL) return findSignature(content)
      const answer = await ask({ id: ++last, kind: 'find', content: shared(content) }, [])
      if (answer.kind !== 'found') throw new Error('the file thread could not look through a file')
      return answer.name
    },
    async judge(name, content) {
      if (content.length < SMALL) return judge(name, content)
      const answer = await ask({ id: ++last, kind: 'judge', name, content: shared(content) }, [])
      if (answer.kind !== 'judged') throw new Error('the file thread could not tell the type of a file')
      return answer.judgement
    },
    async stop() {
      await worker?.terminate()
    },
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

const buffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

// Development and tests run the sources, which a thread of Node 20 reads only with the help of tsx.
function startFromSource(): Worker {
  const url = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  return new Worker(`import('tsx/esm/api').then(({ register }) => { register(); return import(${url}) })`, {
    ...LIMITS,
    eval: true,
  })
}
