// Start and stop in order: what is started registers its stop step, and stop runs all steps in reverse order, also after one
// that fails.

type StopStep = () => unknown

export type Lifetime = {
  /** Aborts when the start is cancelled or the stop begins; for work that should end early. */
  signal: AbortSignal
  /** Registers a stop step. When the signal has aborted, the step is registered all the same, and this throws. */
  add(step: StopStep): void
  /** Runs the steps once, however often it is called. Rejects with the one failure, or with all of them as an AggregateError. */
  stop(): Promise<void>
  /** For a failed start: stops what was started, then throws the error, together with what failed while stopping. */
  fail(error: unknown): Promise<never>
}

/** `cancel` cancels a start: the next `add` throws. It has no effect on a finished start except on `signal`. */
export function createLifetime(cancel?: AbortSignal): Lifetime {
  const steps: StopStep[] = []
  const stopping = new AbortController()
  const signal = cancel ? AbortSignal.any([cancel, stopping.signal]) : stopping.signal
  let stopped: Promise<void> | undefined

  function stop() {
    stopping.abort()
    stopped ??= stopAll(steps.toReversed())
    return stopped
  }

  return {
    signal,
    add(step) {
      steps.push(step)
      signal.throwIfAborted()
    },
    stop,
    async fail(error) {
      try {
        await stop()
      } catch (failure) {
        throw new AggregateError([error, ...causesOf(failure)], 'the start failed, and so did its stop')
      }
      throw error
    },
  }
}

/** Runs the steps one after the other, in the order given. */
export async function stopAll(steps: readonly StopStep[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  throwAll(failures)
}

/** Waits for all stops in progress, also when one fails. */
export async function stopTogether(stops: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(stops)
  throwAll(settled.flatMap(stop => (stop.status === 'rejected' ? [stop.reason] : [])))
}

function throwAll(failures: readonly unknown[]) {
  const causes = failures.flatMap(causesOf)
  if (causes.length === 1) throw causes[0]
  if (causes.length > 1) throw new AggregateError(causes, `${causes.length} steps of the stop failed`)
}

const causesOf = (failure: unknown): unknown[] => (failure instanceof AggregateError ? failure.errors : [failure])
