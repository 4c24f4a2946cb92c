// Runs the processes of one start on one port (node:cluster): starts them, replaces those that end, stops all of them, and adds up
// their metrics. Connections are given to the processes in turn: a listener that they share would wake all of them for each
// connection, and give most connections to few.
import cluster, { type Worker } from 'node:cluster'
import type { HealthState } from '../telemetry/health.ts'
import type { Log } from '../telemetry/log.ts'
import { createSum } from '../telemetry/sum.ts'
import { recoverHandoffs } from './handoffs.ts'
import { type FromProcess, type FromSupervisor, isOurs, type Place, type Slot } from './messages.ts'

export type Supervisor = {
  /** Resolves when all processes have started; rejects when one of them cannot. Later ones that cannot are tried again. */
  started: Promise<Place>
  /** Of all processes together: ready as long as one of them is. */
  health(): HealthState
  /** Rejects when a process has failed to stop. */
  stop(): Promise<void>
}

type Child = {
  slot: Slot
  name: string
  worker: Worker
  since: number
  hasStarted: boolean
  sentences: readonly string[]
  health: { state: HealthState; at: number } | null
}
type Collection = { missing: Set<Child>; answered: Set<string>; done(): void }

/** How long after its end a process is started again; the last one is repeated. */
const PAUSES_MS = [100, 1_000, 5_000, 15_000]
/** A process that ran for this long begins with the first pause again. */
const STEADY_MS = 60_000
/** Processes that have not answered by then are left out of a page of metrics. */
const COLLECT_MS = 3_000
/** A process that has not told its health for this long serves no requests. */
const SILENT_MS = 10_000

/** `entry`: the module that a process runs, with its slot as the only argument. */
export function supervise(
  slots: readonly Slot[],
  { entry, nameOf, log }: { entry: string; nameOf(slot: Slot): string; log: Log },
): Supervisor {
  const children = new Map<number, Child>()
  const pauses = new Map<number, { count: number; timer?: NodeJS.Timeout }>()
  const collections = new Map<number, Collection>()
  const sum = createSum()
  const failures: string[] = []
  let asks = 0
  let haveAllStarted = false
  let isStopping = false
  let stopped: Promise<void> | undefined
  let onEmpty = () => {}

  cluster.schedulingPolicy = cluster.SCHED_RR
  // A metric may be NaN, which JSON cannot say.
  cluster.setupPrimary({ exec: entry, serialization: 'advanced' })

  function begin(slot: Slot): Promise<Place> {
    cluster.setupPrimary({ args: [JSON.stringify(slot)] })
    const worker = cluster.fork()
    const child: Child = {
      ...{ slot, name: nameOf(slot), worker, since: performance.now() },
      ...{ hasStarted: false, sentences: [], health: null },
    }
    children.set(slot.at, child)
    recoverHandoffs(worker, () => [...children.values()].some(other => other !== child && accepts(other)))
    return new Promise((resolve, reject) => {
      worker.on('message', (given: unknown) => {
        if (!isOurs(given)) return
        const message = given as FromProcess
        if (message.herald === 'failed') child.sentences = message.sentences
        if (message.herald === 'health') child.health = { state: message.state, at: performance.now() }
        if (message.herald === 'ask for metrics') void answer(child, message.ask)
        if (message.herald === 'collected') {
          sum.keep(child.name, message.values)
          collected(child, message.ask)
        }
        if (message.herald !== 'started') return
        child.hasStarted = true
        resolve(message.place)
      })
      const onEnd = (how: Ended) => {
        if (children.get(slot.at) !== child) return
        children.delete(slot.at)
        ended(child, how)
        reject(new Error(child.sentences.join('\n') || `A process ended while it was starting (${wordsOf(how)}).`))
      }
      // Its last message, why it failed, may still have to be read.
      worker.once('exit', (code, signal) =>
        worker.isConnected() ? worker.once('disconnect', () => onEnd({ code, signal })) : onEnd({ code, signal }),
      )
      // It could not be started at all, for example for lack of memory.
      worker.once('error', error => onEnd({ code: (error as NodeJS.ErrnoException).code ?? null, signal: null }))
    })
  }

  function ended(child: Child, how: Ended) {
    const { slot, name, since, hasStarted, sentences } = child
    sum.end(name)
    for (const ask of collections.keys()) collected(child, ask)
    if (isStopping) {
      if (hasStarted && how.code !== 0) failures.push(sentences.join('\n') || `${name} ended with ${wordsOf(how)}.`)
      if (children.size === 0) onEmpty()
      return
    }
    if (!haveAllStarted && !hasStarted) return // the whole start fails
    const before = pauses.get(slot.at)?.count ?? 0
    const count = performance.now() - since > STEADY_MS ? 0 : before
    const ms = PAUSES_MS[Math.min(count, PAUSES_MS.length - 1)] ?? 0
    log.error({ child: name, ...how, again_ms: ms }, 'a process ended and is started again')
    const again = () =>
      void begin({ ...slot, isAgain: true }).then(
        () => log.info({ child: name }, 'a process has started again'),
        () => {},
      )
    pauses.set(slot.at, { count: count + 1, timer: setTimeout(again, ms) })
  }

  async function answer(child: Child, ask: number) {
    tell(child, { herald: 'metrics', ask, text: await metrics() })
  }

  async function metrics(): Promise<string> {
    const ask = ++asks
    const running = [...children.values()].filter(({ hasStarted }) => hasStarted)
    const answered = new Set<string>()
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, COLLECT_MS)
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      collections.set(ask, { missing: new Set(running), answered, done })
      // The first ones have an engine, which knows more of the database.
      const first = running.toSorted((one, other) => one.slot.at - other.slot.at)[0]
      for (const child of running) tell(child, { herald: 'collect', ask, ofDatabase: child === first })
      if (running.length === 0) done()
    })
    collections.delete(ask)
    return sum.text(answered)
  }

  function health(): HealthState {
    if (isStopping) return { status: 503, body: { status: 'stopping' } }
    const recent = [...children.values()].flatMap(({ health }) =>
      health && performance.now() - health.at < SILENT_MS ? [health.state] : [],
    )
    return recent.find(({ status }) => status === 200) ?? recent[0] ?? NO_PROCESS
  }

  function collected(child: Child, ask: number) {
    const collection = collections.get(ask)
    if (!collection?.missing.delete(child)) return
    if (children.get(child.slot.at) === child) collection.answered.add(child.name)
    if (collection.missing.size === 0) collection.done()
  }

  // When a stop is interrupted, nothing is left.
  const killAll = () => {
    if (isStopping) for (const { worker } of children.values()) worker.process.kill('SIGKILL')
  }
  process.once('exit', killAll)

  async function stop() {
    isStopping = true
    for (const { timer } of pauses.values()) clearTimeout(timer)
    for (const child of children.values()) tell(child, { herald: 'stop' })
    if (children.size > 0) await new Promise<void>(resolve => (onEmpty = resolve))
    process.off('exit', killAll)
    if (failures.length > 0) throw new Error(failures.join('\n'))
  }

  const started = Promise.all(slots.map(begin)).then(places => {
    haveAllStarted = true
    return places[0] as Place
  })
  started.catch(() => {}) // handled by the caller, who may be waiting for something else
  return {
    started,
    health,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

type Ended = { code: number | string | null; signal: string | null }

const wordsOf = ({ code, signal }: Ended) => (signal ? `signal ${signal}` : `exit code ${code}`)

const accepts = ({ hasStarted, worker }: Child) => hasStarted && worker.isConnected()

const NO_PROCESS: HealthState = { status: 503, body: { status: 'no process answers' } }

function tell({ worker }: Child, message: FromSupervisor) {
  if (worker.isConnected()) worker.send(message, () => {}) // an error: the process has just ended
}
