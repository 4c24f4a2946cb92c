// A worker thread that is started on demand and replaced when it is lost: `createThread` for messages, `createCalls` for calls
// with a reply and a timeout. `serveCalls` is the other side, in the thread.
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

export type ThreadOptions = {
  /** The `import.meta.url` of a module. The thread runs the module `worker` beside it. */
  beside: string
  limits: ResourceLimits
  workerData?: unknown
}

/** killed: by `kill`. failed: an error ended the thread, for example its memory limit. ended: it exited. */
export type Loss = 'killed' | 'failed' | 'ended'

export type Thread<Message> = {
  /** Starts the thread if there is none. */
  post(message: Message, transfer?: readonly ArrayBuffer[]): void
  isRunning(): boolean
  /** Ends the thread, whatever it is doing. */
  kill(): void
  stop(): Promise<void>
}

export function createThread<Message, Reply>(
  options: ThreadOptions & {
    onStart?(): void
    onReply(reply: Reply): void
    /** Called once for each thread that was started, also at stop. It is the last callback for that thread. */
    onLost(why: Loss): void
  },
): Thread<Message> {
  let worker: Worker | null = null

  function start(): Worker {
    options.onStart?.()
    const started = startWorker(options)
    started.unref()
    started.on('message', (reply: Reply) => worker === started && options.onReply(reply))
    started.on('error', () => lose(started, 'failed'))
    started.on('exit', () => lose(started, 'ended'))
    return started
  }

  function lose(lost: Worker, why: Loss) {
    if (worker !== lost) return
    worker = null
    options.onLost(why)
  }

  return {
    post(message, transfer = []) {
      worker ??= start()
      worker.postMessage(message, transfer)
    },
    isRunning: () => worker !== null,
    kill() {
      if (!worker) return
      const killed = worker
      lose(killed, 'killed')
      void killed.terminate()
    },
    async stop() {
      await worker?.terminate()
    },
  }
}

// Development and tests run the sources, which a thread of Node 20 reads only with the help of tsx.
function startWorker({ beside, limits: resourceLimits, workerData }: ThreadOptions): Worker {
  const options = { resourceLimits, workerData }
  if (!beside.endsWith('.ts')) return new Worker(new URL('./worker.js', beside), options)
  const url = JSON.stringify(new URL('./worker.ts', beside).href)
  const script = `import('tsx/esm/api').then(({ register }) => { register(); return import(${url}) })`
  return new Worker(script, { ...options, eval: true })
}

/** Functions that run in the thread, by name. */
type Functions = Readonly<Record<string, (request: never) => unknown>>

export type Calls<F extends Functions> = {
  /** Runs a function in the thread. Rejects when it throws there, takes too long, or the thread is lost. */
  call<N extends keyof F & string>(
    name: N,
    request: Parameters<F[N]>[0],
    transfer?: readonly ArrayBuffer[],
  ): Promise<ReturnType<F[N]>>
  stop(): Promise<void>
}

type Call = { id: number; name: string; request: unknown }
type Reply = { id: number; value: unknown } | { id: number; failed: true }
type Pending = Call & {
  transfer: readonly ArrayBuffer[]
  resolve(value: unknown): void
  reject(error: Error): void
  timer?: NodeJS.Timeout
}

const LOSSES: Record<Loss, string> = { killed: 'took too long', failed: 'failed', ended: 'ended' }

/** `title` names the thread in errors. A call that exceeds the timeout ends the thread, and with it all calls in flight. */
export function createCalls<F extends Functions>(
  title: string,
  {
    timeoutMs,
    maxInFlight = Number.POSITIVE_INFINITY,
    endsWhenIdle = false,
    ...options
  }: ThreadOptions & {
    timeoutMs: number
    maxInFlight?: number
    /** For a thread whose calls are rare and large: its heap would stay as large as the largest call has made it. */
    endsWhenIdle?: boolean
  },
): Calls<F> {
  const waiting: Pending[] = []
  const inFlight = new Map<number, Pending>()
  let lastId = 0
  let isStopped = false

  const thread = createThread<Call, Reply>({
    ...options,
    onReply(reply) {
      const call = settle(reply.id)
      if ('failed' in reply) call?.reject(new Error(`the ${title} could not ${call.name}`))
      else call?.resolve(reply.value)
      next()
      if (endsWhenIdle && inFlight.size === 0) thread.kill()
    },
    onLost(why) {
      for (const id of [...inFlight.keys()]) settle(id)?.reject(new Error(`the ${title} ${LOSSES[why]}`))
      next()
    },
  })

  function settle(id: number): Pending | undefined {
    const call = inFlight.get(id)
    inFlight.delete(id)
    clearTimeout(call?.timer)
    return call
  }

  function next() {
    while (waiting.length > 0 && inFlight.size < maxInFlight && !isStopped) {
      const call = waiting.shift() as Pending
      const { id, name, request, transfer } = call
      call.timer = setTimeout(thread.kill, timeoutMs)
      inFlight.set(id, call)
      try {
        thread.post({ id, name, request }, transfer)
      } catch (error) {
        settle(id)?.reject(error as Error) // the request cannot be cloned
      }
    }
  }

  return {
    call: (name, request, transfer = []) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(new Error(`the ${title} is stopped`))
        const settled = { resolve: resolve as (value: unknown) => void, reject }
        waiting.push({ id: ++lastId, name, request, transfer, ...settled })
        next()
      }),
    async stop() {
      isStopped = true
      for (const call of waiting.splice(0)) call.reject(new Error(`the ${title} is stopped`))
      await thread.stop()
    },
  }
}

/** By function, the memory in its result that is transferred and not copied. */
type Transfers<F extends Functions> = { readonly [N in keyof F]?: (value: ReturnType<F[N]>) => ArrayBufferLike[] }

/** In the thread: answers the calls of `createCalls`. */
export function serveCalls<F extends Functions>(functions: F, transfers: Transfers<F> = {}): void {
  parentPort?.on('message', ({ id, name, request }: Call) => {
    let reply: Reply
    let transfer: ArrayBufferLike[] = []
    try {
      const value = functions[name]?.(request as never)
      reply = { id, value }
      transfer = [...new Set(transfers[name]?.(value as ReturnType<F[string]>))]
    } catch {
      reply = { id, failed: true } // the error may quote the request, which is a person's data
    }
    parentPort?.postMessage(reply, transfer as ArrayBuffer[])
  })
}
