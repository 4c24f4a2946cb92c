// What concerns a process as a whole: signals, a start that is interrupted, the garbage collector.
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

const FEW_CORES = 2
const SAME_PRESS_MS = 1_000
const ABORT_TIMEOUT_MS = 5_000

/** SIGHUP: the terminal was closed. Its default action would end Herald without stopping the embedded database. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The first signal starts a graceful shutdown, also during the start; a second one ends the process immediately. `npm start` forwards a
 * signal that the terminal has already sent to this process, so a second signal within a second is the same key press. A closed terminal
 * sends SIGHUP more than once, by its shell and by the kernel, and no one asks for haste: a second SIGHUP changes nothing.
 */
export function firstSignal(onFirst: () => void = () => {}): AbortSignal {
  const asked = new AbortController()
  let isInsisting = false
  const onSignal = (name: NodeJS.Signals) => {
    if (isInsisting && name !== 'SIGHUP') process.exit(1)
    if (asked.signal.aborted) return
    onFirst()
    setTimeout(() => (isInsisting = true), SAME_PRESS_MS).unref()
    asked.abort()
  }
  for (const name of STOP_SIGNALS) process.on(name, onSignal)
  return asked.signal
}

/** Whether a stream has no reader any more: its pipe was closed (EPIPE), or its terminal (EIO, which of a file would be a disk's fault). */
export const isReaderGone = (code: string | undefined, isTerminal: boolean) =>
  code === 'EPIPE' || (code === 'EIO' && isTerminal)

/** Undefined: the signal aborted during the start, and everything was stopped again. */
export async function unlessAborted<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T | undefined> {
  const starting = begin()
  try {
    return await Promise.race([starting, abortTimeout(signal)])
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** An aborted start ends at its next step. If that step waits, for example for a database lock, this rejects after a timeout. */
async function abortTimeout(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  await new Promise(resume => setTimeout(resume, ABORT_TIMEOUT_MS).unref())
  throw new Error('The start was aborted but did not end in time.')
}

/** On a machine with few cores, the parallel garbage collector of V8 takes CPU time from the database. */
export function limitGarbageCollector() {
  if (availableParallelism() <= FEW_CORES) setFlagsFromString('--no-parallel-scavenge')
}
