// The service's side of the bulk thread. Bodies of several services are in it at the same time and take turns; a service has
// one in it, and all of them together have a bounded size. A body that uses up its time or the thread's memory is refused; the
// others are read again by the next thread.
import type { Channel } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Kind } from '../core/refusal.ts'
import { type Periodic, startPeriodic } from '../runtime/periodic.ts'
import { createThread, type Loss } from '../runtime/worker-thread.ts'
import { refuse } from './refusals.ts'
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
  homeCountry: string
  /** Normal forms of those who may be written to; null: anyone. */
  allowedRecipients: readonly string[] | null
  isTest: boolean
  simulated: readonly string[]
  mostErrors: number
  /** When the messages are due. Their ids carry that time: it is what retries, time-outs and retention count from. */
  dueMicros: number
}

export type Problem = {
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

export type Ask =
  | { kind: 'read'; job: number; service: Id; body: Uint8Array; now: number }
  | { kind: 'check'; job: number; service: Id; rules: Rules }
  | { kind: 'forget'; job: number }
export type Answer =
  | { kind: 'head'; job: number; head: Head }
  | ({ kind: 'checked'; job: number } & Checked)
  | { kind: 'exhausted'; job: number }
  | { kind: 'failed'; job: number; message: string }

/** Shared with the thread, so that both know which body is being worked on, and for how many slices work has gone on. */
export const RUNNING = { job: 0, slices: 1 } as const

/** One body: read once, then checked once or not at all. */
export type Examiner = {
  read(now: number): Promise<Head>
  check(rules: Rules): Promise<Checked>
}

export type BulkThread = {
  /** Runs `work` with a body of this service, when it is its turn. */
  examine<T>(service: Id, body: Buffer, work: (thread: Examiner) => Promise<T>): Promise<T>
  stop(): Promise<void>
}

const MIB = 1024 * 1024
/** Bodies in the thread at the same time. A parsed body takes up to ten times its size; a larger one has the thread alone. */
const MOST_BYTES = 96 * MIB
const LIMITS = { maxOldGenerationSizeMb: 1_500 }
/** How long one slice may take: parsing 64 MiB takes a second or two and cannot be interrupted. */
const SLICE_PATIENCE_MS = 20_000
/** How often a body is read again because the thread was lost to another one. */
const MOST_THREADS = 5

/** A body on its way: what was asked about it last is asked again when the thread is lost. */
type Job = {
  id: number
  service: Id
  size: number
  body: Uint8Array
  begin(): void
  head: { now: number; isRead: boolean } | null
  rules: Rules | null
  threads: number
  settle: { resolve(answer: Answer): void; reject(error: Error): void } | null
}

export function createBulkThread({ slicePatienceMs = SLICE_PATIENCE_MS, limits = LIMITS } = {}): BulkThread {
  let lastId = 0
  let bytes = 0
  const inside = new Map<number, Job>()
  const line: Job[] = []
  /** After memory ran out: these have the thread to themselves, one after the other. */
  const alone: Job[] = []
  const running = new Int32Array(new SharedArrayBuffer(8))
  const idle: (() => void)[] = []
  let watch: Periodic | null = null

  const thread = createThread<Ask, Answer>({
    beside: import.meta.url,
    limits,
    workerData: running,
    onStart() {
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

  function hear(answer: Answer) {
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

  // What took too long is known. What took the memory may be another body than the one that asked for the last of it: with
  // several in the thread, each is read again with the thread to itself.
  function lost(why: Loss) {
    void watch?.stop()
    const last = Atomics.load(running, RUNNING.job)
    const begun = [...inside.values()].filter(job => job.head)
    const found = inside.get(last)
    const guilty = why === 'killed' || begun.length === 1 || alone[0] === found ? found : undefined
    for (const job of begun) if (job.head) job.head.isRead = false
    if (guilty) refuseJob(guilty, refuse.tooMuch())
    const others = begun.filter(job => job !== guilty)
    for (const job of others)
      if (++job.threads >= MOST_THREADS) refuseJob(job, new Error('the bulk thread was lost too often'))
    if (guilty === undefined) {
      others.sort((one, other) => Number(one.id === last) - Number(other.id === last))
      alone.splice(0, alone.length, ...others)
    }
    for (const job of others) if (job.settle) ask(job)
  }

  function refuseJob(job: Job, why: Error) {
    job.head = null
    job.settle?.reject(why)
    job.settle = null
  }

  function ask(job: Job) {
    const { id, service, head, rules, body } = job
    // Asked again when the others have left.
    if (!head || (alone[0] && alone[0] !== job)) return
    if (!head.isRead) thread.post({ kind: 'read', job: id, service, body, now: head.now })
    if (rules) thread.post({ kind: 'check', job: id, service, rules })
  }

  const asked = (job: Job, kind: 'head' | 'checked') =>
    new Promise<Answer>((resolve, reject) => {
      const settle = {
        reject,
        // A body that is read again answers twice.
        resolve(answer: Answer) {
          if (answer.kind === kind) resolve(answer)
          else job.settle = settle
        },
      }
      job.settle = settle
      ask(job)
    })

  const examinerOf = (job: Job): Examiner => ({
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
      // Nobody overtakes a body that only waits for room, or a large one might wait for ever.
      if (inside.size > 0 && bytes + next.size > MOST_BYTES) break
      line.splice(at, 1)
      inside.set(next.id, next)
      bytes += next.size
      next.begin()
    }
  }

  function leave(job: Job) {
    inside.delete(job.id)
    bytes -= job.size
    // A body that was refused before its rows were looked at is still there, many times its size.
    if (thread.isRunning()) thread.post({ kind: 'forget', job: job.id })
    const at = alone.indexOf(job)
    if (at >= 0) alone.splice(at, 1)
    if (at === 0) for (const other of inside.values()) if (other.settle) ask(other)
    admit()
    if (inside.size === 0) for (const tell of idle.splice(0)) tell()
  }

  return {
    async examine(service, body, work) {
      const job: Job = {
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
    async stop() {
      if (inside.size > 0) await new Promise<void>(resolve => idle.push(resolve))
      await thread.stop()
    },
  }
}

/** Memory that both threads see: it is still there when a thread is lost. Copied in steps, as 64 MiB at once take 30 ms. */
async function shared(body: Buffer): Promise<Uint8Array> {
  const own = new Uint8Array(new SharedArrayBuffer(body.length))
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    if (at > 0) await new Promise(resume => setImmediate(resume))
    own.set(body.subarray(at, at + STEP_BYTES), at)
  }
  return own
}
const STEP_BYTES = 8 * MIB
