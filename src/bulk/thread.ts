// The service's side of the bulk thread: one body at a time, each within its time; a thread that does not answer is ended
// and replaced.
import { Worker } from 'node:worker_threads'
import type { Kind } from '../core/refusal.ts'
import type { Channel } from '../services/service.ts'
import type { BulkBody } from './schemas.ts'

export type Fields = Omit<BulkBody, 'rows' | 'csv'>

export type Head =
  | { ok: true; fields: Fields; hasRows: boolean; hasCsv: boolean }
  | { ok: false; kind: Kind; messages: readonly string[] }

export type Rules = {
  channel: Channel
  names: readonly string[]
  /** What is measured after merging; text messages have no subject. */
  content: string
  subject: string | null
  prefix: string | null
  international: boolean
  /** Normal forms of those who may be written to; null: anyone. */
  friends: readonly string[] | null
  isTest: boolean
  simulated: readonly string[]
  mostErrors: number
  /** When the messages are due. Their ids carry that time: it is what retries, time-outs and retention count from. */
  dueMicros: number
}

export type Problem = {
  step: 'convert' | 'missing' | 'duplicate' | 'many' | 'few' | 'not-allowed' | 'long' | 'reference' | 'rows' | 'mixed'
  detail: string
}

export type Checked = {
  rowCount: number
  /** Rows that count against the daily allowance. */
  counted: number
  /** Every recipient is a simulated one. */
  isSimulated: boolean
  problem: Problem | null
  /** Each the JSON of up to 500 rows. */
  chunks: Uint8Array[]
}

export type Ask = { kind: 'read'; body: Uint8Array; now: number } | { kind: 'check'; rules: Rules } | { kind: 'forget' }
export type Answer =
  | { kind: 'head'; head: Head }
  | ({ kind: 'checked' } & Checked)
  | { kind: 'failed'; message: string }

/** One body: read once, then checked once or not at all. */
export type Examiner = {
  /** The bytes are gone afterwards: they have moved to the thread. */
  read(body: Buffer, now: number): Promise<Head>
  check(rules: Rules): Promise<Checked>
}

export type BulkThread = {
  /** Runs `work` with the thread to itself; others wait their turn. */
  alone<T>(work: (thread: Examiner) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

const PATIENCE_MS = 20_000
const LIMITS = { resourceLimits: { maxOldGenerationSizeMb: 1_500 } }

export function createBulkThread(): BulkThread {
  let worker: Worker | null = null
  let turn: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    const made = import.meta.url.endsWith('.ts')
      ? startFromSource()
      : new Worker(new URL('./worker.js', import.meta.url), LIMITS)
    made.unref()
    return made
  }

  function ask(message: Ask, transfer: ArrayBuffer[] = []): Promise<Answer> {
    worker ??= start()
    const asked = worker
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer)
        asked.off('message', hear)
        asked.off('error', fail)
        asked.off('exit', exit)
        finish()
      }
      const hear = (answer: Answer) =>
        end(() => (answer.kind === 'failed' ? reject(new Error(answer.message)) : resolve(answer)))
      const broken = (why: string) => {
        worker = null
        end(() => reject(new Error(why)))
      }
      const fail = () => broken('the bulk thread failed')
      const exit = () => broken('the bulk thread ended')
      const timer = setTimeout(() => {
        void asked.terminate()
        broken('the bulk thread took too long')
      }, PATIENCE_MS)
      asked.on('message', hear)
      asked.on('error', fail)
      asked.on('exit', exit)
      asked.postMessage(message, transfer)
    })
  }

  const examiner: Examiner = {
    async read(body, now) {
      const bytes = ownBytes(body)
      const answer = await ask({ kind: 'read', body: bytes, now }, [bytes.buffer])
      if (answer.kind !== 'head') throw new Error('the bulk thread answered something else')
      return answer.head
    },
    async check(rules) {
      const answer = await ask({ kind: 'check', rules })
      if (answer.kind !== 'checked') throw new Error('the bulk thread answered something else')
      return answer
    },
  }

  return {
    alone(work) {
      const mine = turn.then(() => work(examiner))
      // A body that was refused before its rows were looked at is still there, many times its size.
      turn = mine.catch(() => worker?.postMessage({ kind: 'forget' } satisfies Ask))
      return mine
    },
    async stop() {
      await turn
      await worker?.terminate()
    },
  }
}

// What has memory of its own can be handed over as it is; small bodies share theirs with others.
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  if (body.buffer instanceof ArrayBuffer && body.byteOffset === 0 && body.buffer.byteLength === body.length)
    return new Uint8Array(body.buffer)
  return new Uint8Array(body)
}

// Development and tests run the sources, which a thread of Node 20 reads only with the help of tsx.
function startFromSource(): Worker {
  const url = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  return new Worker(`import('tsx/esm/api').then(({ register }) => { register(); return import(${url}) })`, {
    ...LIMITS,
    eval: true,
  })
}
