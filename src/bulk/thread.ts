// Host of the bulk thread, which parses and checks bulk files. Bodies of several services are in it at the same time, at most one
// per service and of bounded total size, and are scheduled fairly. A body that uses up its time or the thread's memory is
// refused; the others are read again by the next thread.
import type { Channel } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Kind } from '../core/refusal.ts'
import { type Periodic, startPeriodic } from '../runtime/periodic.ts'
import { createTurns } from '../runtime/turns.ts'
import { createThread, type Loss } from '../runtime/worker-thread.ts'
import type { RowValues } from './check.ts'
import type { ErrorTable } from './error-table.ts'
import { refuse } from './refusals.ts'
import type { BulkReport } from './report.ts'
import type { BulkBody } from './schemas.ts'

export type BulkFields = Omit<BulkBody, 'rows' | 'csv'>

export type BulkHead =
  | { ok: true; fields: BulkFields; hasRows: boolean; hasCsv: boolean }
  | {
      ok: false
      kind: Kind
      messages: readonly string[]
      /** Null: the body is not JSON of the expected size. Otherwise what is right in it, for a check before sending. */
      sound: { fields: Partial<BulkFields>; unread: readonly string[]; hasRows: boolean; hasCsv: boolean } | null
    }

export type FileRules = {
  channel: Channel
  names: readonly string[]
  /** Content to measure after merging; text messages have no subject. */
  content: string
  subject: string | null
  prefix: string | null
  international: boolean
  homeCountry: string
  /** Normal forms of the only allowed recipients; null: anyone. */
  allowedRecipients: readonly string[] | null
  isTest: boolean
  simulated: readonly string[]
  mostErrors: number
  /** A check before sending: everything is collected, and no chunks are made. */
  isReport?: true
  /** When the messages are due. Their ids contain this time: retries, timeouts and retention count from it. */
  dueMicros: number
}

export type FileProblem = {
  step:
    | 'convert'
    | 'columns'
    | 'missing'
    | 'duplicate'
    | 'many'
    | 'few'
    | 'not-allowed'
    | 'long'
    | 'reference'
    | 'rows'
    | 'mixed'
  detail: string
}

export type CheckedFile = {
  rowCount: number
  /** Rows that count against the daily limit. */
  counted: number
  /** Every recipient is a simulated one. */
  isSimulated: boolean
  /** In the order of the contract. Without a report no more than the first is looked for. */
  problems: readonly FileProblem[]
  /** Headers that the template uses, in order. */
  columns: string[]
  /** Each chunk is the JSON of up to 500 rows. */
  chunks: Uint8Array[]
  /** Of a report; null when the rows could not be checked. */
  found: FoundInFile | null
}

export type FoundInFile = {
  columns: NonNullable<BulkReport['columns']>
  /** Null: the rows were not checked. */
  rows: FoundInRows | null
}

export type FoundInRows = Pick<BulkReport, 'parts' | 'alphabets'> & {
  counts: NonNullable<BulkReport['rows']>
  duplicates: NonNullable<BulkReport['duplicates']>
  errors: ErrorTable
  /** The first rows. */
  first: readonly { row: number; to: string | null; values: RowValues }[]
}

export type ThreadRequest =
  | { kind: 'read'; job: number; service: Id; body: Uint8Array; now: number }
  | { kind: 'check'; job: number; service: Id; rules: FileRules }
  | { kind: 'forget'; job: number }
export type ThreadReply =
  | { kind: 'head'; job: number; head: BulkHead }
  | ({ kind: 'checked'; job: number } & CheckedFile)
  | { kind: 'exhausted'; job: number }
  | { kind: 'failed'; job: number; message: string }

/** Shared with the thread: the body it works on now, and a counter of slices. */
export const RUNNING = { job: 0, slices: 1 } as const

/** One body: read once, then checked once or not at all. */
export type Examiner = {
  read(now: number): Promise<BulkHead>
  check(rules: FileRules): Promise<CheckedFile>
}

export type BulkThread = {
  /** Runs `work` with a body of this service, as soon as the thread admits it. */
  examine<T>(service: Id, body: Buffer, work: (thread: Examiner) => Promise<T>): Promise<T>
  /** Runs the transaction that stores a job. Jobs that wait for the locked limits of their service leave connections to others. */
  store<T>(service: Id, work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

const MIB = 1024 * 1024
/** Jobs that are stored at the same time: each occupies a connection. */
const STORES = { atOnce: 3, ofOne: 2 }
/**
 * The total size of bodies in the thread. A parsed body takes up to ten times its size in memory; a larger one has the thread
 * alone.
 */
const MOST_BYTES = 96 * MIB
const LIMITS = { maxOldGenerationSizeMb: 1_500 }
/** Timeout of one slice: parsing 64 MiB takes a second or two and cannot be interrupted. */
const SLICE_PATIENCE_MS = 20_000
/** After a larger body the thread ends when it has nothing to do: its heap would stay ten times as large as the body. */
const LARGE_BYTES = 16 * 1024 * 1024
/** How often a body is read again because another body ended the thread. */
const MOST_THREADS = 5

/** A body in the thread or waiting for it. Its last request is repeated when the thread is lost. */
type BodyInThread = {
  id: number
  service: Id
  size: number
  body: Uint8Array
  begin(): void
  head: { now: number; isRead: boolean } | null
  rules: FileRules | null
  threads: number
  settle: { resolve(answer: ThreadReply): void; reject(error: Error): void } | null
}

export function createBulkThread({ slicePatienceMs = SLICE_PATIENCE_MS, limits = LIMITS } = {}): BulkThread {
  let lastId = 0
  let bytes = 0
  /** The largest body that this thread has read. */
  let largest = 0
  const inside = new Map<number, BodyInThread>()
  const line: BodyInThread[] = []
  /** After memory ran out: these bodies have the thread alone, one after the other. */
  const alone: BodyInThread[] = []
  const running = new Int32Array(new SharedArrayBuffer(8))
  const idle: (() => void)[] = []
  const stores = createTurns(STORES)
  let watch: Periodic | null = null

  const thread = createThread<ThreadRequest, ThreadReply>({
    beside: import.meta.url,
    limits,
    workerData: running,
    onStart() {
      largest = 0
      running.fill(0)
      watch = startPeriodic(createCheck(), slicePatienceMs / 10, () => {})
    },
    onReply: hear,
    onLost: lost,
  })

  /** Ends a thread whose slice does not end: it does not read messages. */
  function createCheck() {
    let [seen, since] = [-1, 0]
    return async () => {
      const slices = Atomics.load(running, RUNNING.slices)
      const isBusy = Atomics.load(running, RUNNING.job) !== 0
      if (!isBusy || slices !== seen) [seen, since] = [slices, performance.now()]
      else if (performance.now() - since > slicePatienceMs) thread.kill()
    }
  }

  function hear(answer: ThreadReply) {
    const job = inside.get(answer.job)
    const settle = job?.settle
    if (!job || !settle) return
    job.settle = null
    if (answer.kind === 'failed') settle.reject(new Error(answer.message))
    else if (answer.kind === 'exhausted') settle.reject(refuse.tooMuch())
    else {
      if (job.head && answer.kind === 'head') job.head.isRead = true
      settle.resolve(answer)
    }
  }

  // The body that took too long is known. The one that used up the memory is not: with several in the thread, each is read again
  // alone.
  function lost(why: Loss) {
    void watch?.stop()
    const last = Atomics.load(running, RUNNING.job)
    const begun = [...inside.values()].filter(job => job.head)
    const found = inside.get(last)
    const culprit = why === 'killed' || begun.length === 1 || alone[0] === found ? found : undefined
    for (const job of begun) if (job.head) job.head.isRead = false
    if (culprit) refuseJob(culprit, refuse.tooMuch())
    const others = begun.filter(job => job !== culprit)
    for (const job of others)
      if (++job.threads >= MOST_THREADS) refuseJob(job, new Error('the bulk thread was lost too often'))
    if (culprit === undefined) {
      others.sort((one, other) => Number(one.id === last) - Number(other.id === last))
      alone.splice(0, alone.length, ...others)
    }
    for (const job of others) if (job.settle) ask(job)
  }

  function refuseJob(job: BodyInThread, why: Error) {
    job.head = null
    job.settle?.reject(why)
    job.settle = null
  }

  function ask(job: BodyInThread) {
    const { id, service, head, rules, body } = job
    // Sent when the bodies before it have left.
    if (!head || (alone[0] && alone[0] !== job)) return
    if (!head.isRead) {
      thread.post({ kind: 'read', job: id, service, body, now: head.now })
      largest = Math.max(largest, body.length)
    }
    if (rules) thread.post({ kind: 'check', job: id, service, rules })
  }

  const asked = (job: BodyInThread, kind: 'head' | 'checked') =>
    new Promise<ThreadReply>((resolve, reject) => {
      const settle = {
        reject,
        // A body that is read again answers twice.
        resolve(answer: ThreadReply) {
          if (answer.kind === kind) resolve(answer)
          else job.settle = settle
        },
      }
      job.settle = settle
      ask(job)
    })

  const examinerOf = (job: BodyInThread): Examiner => ({
    async read(now) {
      job.head = { now, isRead: false }
      const answer = await asked(job, 'head')
      if (answer.kind !== 'head') throw new Error('the bulk thread answered something else')
      return answer.head
    },
    async check(rules) {
      if (!job.head) throw refuse.tooMuch()
      job.rules = rules
      const answer = await asked(job, 'checked')
      if (answer.kind !== 'checked') throw new Error('the bulk thread answered something else')
      return answer
    },
  })

  function admit() {
    if (alone.length > 0) return
    for (let at = 0; at < line.length; ) {
      const next = line[at]
      if (!next) break
      const isFree = [...inside.values()].every(job => job.service !== next.service)
      if (!isFree) {
        at++
        continue
      }
      // No body overtakes one that waits for memory, or a large one might wait for ever.
      if (inside.size > 0 && bytes + next.size > MOST_BYTES) break
      line.splice(at, 1)
      inside.set(next.id, next)
      bytes += next.size
      next.begin()
    }
  }

  function leave(job: BodyInThread) {
    inside.delete(job.id)
    bytes -= job.size
    // Frees the parsed body, many times its size, when it was refused before its rows were checked.
    if (thread.isRunning()) thread.post({ kind: 'forget', job: job.id })
    const at = alone.indexOf(job)
    if (at >= 0) alone.splice(at, 1)
    if (at === 0) for (const other of inside.values()) if (other.settle) ask(other)
    admit()
    if (inside.size > 0) return
    if (largest > LARGE_BYTES) thread.kill()
    for (const tell of idle.splice(0)) tell()
  }

  return {
    async examine(service, body, work) {
      const job: BodyInThread = {
        id: ++lastId,
        service,
        size: body.length,
        body: new Uint8Array(),
        begin: () => {},
        head: null,
        rules: null,
        threads: 0,
        settle: null,
      }
      await new Promise<void>(resolve => {
        job.begin = resolve
        line.push(job)
        admit()
      })
      try {
        job.body = await shared(body)
        return await work(examinerOf(job))
      } finally {
        leave(job)
      }
    },
    store: stores.run,
    async stop() {
      if (inside.size > 0) await new Promise<void>(resolve => idle.push(resolve))
      await thread.stop()
    },
  }
}

/** Shared memory, so that the body survives the loss of a thread. Copied in steps, because 64 MiB at once take 30 ms. */
async function shared(body: Buffer): Promise<Uint8Array> {
  const own = new Uint8Array(new SharedArrayBuffer(body.length))
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    if (at > 0) await new Promise(resume => setImmediate(resume))
    own.set(body.subarray(at, at + STEP_BYTES), at)
  }
  return own
}
const STEP_BYTES = 8 * MIB
