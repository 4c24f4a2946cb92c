// Periodic work: runs never overlap, and none begins after stop.
import { pause } from './within.ts'

export type Periodic = {
  /** Resolves when the run in progress has ended. Work that stops itself must not wait for this. */
  stop(): Promise<void>
}

/**
 * Runs `work` again and again, with a pause before each run. `pauseMs` may depend on the number of runs so far, for a backoff.
 * A run that rejects is reported and does not end the series. The signal aborts at stop, or when `parent` does.
 */
export function startPeriodic(
  work: (signal: AbortSignal) => Promise<unknown>,
  pauseMs: number | ((runs: number) => number),
  onFault: (error: unknown) => void,
  parent?: AbortSignal,
): Periodic {
  const stopping = new AbortController()
  const signal = parent ? AbortSignal.any([parent, stopping.signal]) : stopping.signal

  async function series() {
    for (let runs = 0; !signal.aborted; runs++) {
      await pause(typeof pauseMs === 'number' ? pauseMs : pauseMs(runs), signal)
      if (signal.aborted) return
      await work(signal).catch(onFault)
    }
  }

  const ended = series()
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}
