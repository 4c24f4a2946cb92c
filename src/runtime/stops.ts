// The steps that end what was started, in reverse order. Every step runs, also after one that failed, and all failures are told.

export type Step = () => unknown

export type Stops = {
  /** Throws when the start was aborted; the step is registered all the same. */
  push(step: Step): void
  /** Runs the steps once, however often it is called. Rejects with the one failure, or with all of them as one AggregateError. */
  run(): Promise<void>
}

export function createStops(signal?: AbortSignal): Stops {
  const steps: Step[] = []
  let running: Promise<void> | undefined
  return {
    push(step) {
      steps.push(step)
      signal?.throwIfAborted()
    },
    run() {
      running ??= stopAll(steps.toReversed())
      return running
    },
  }
}

/** One after the other, in the order given. */
export async function stopAll(steps: readonly Step[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  tell(failures)
}

/** All at the same time; waits for all of them, also when one fails. */
export async function stopTogether(ends: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(ends)
  tell(settled.flatMap(end => (end.status === 'rejected' ? [end.reason] : [])))
}

function tell(failures: readonly unknown[]) {
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} steps of the stop failed`)
}

/** Stops what a failed start has left, then throws why it failed, with what failed while stopping. */
export async function failStart(error: unknown, stop: () => Promise<void>): Promise<never> {
  try {
    await stop()
  } catch (failure) {
    const more = failure instanceof AggregateError ? failure.errors : [failure]
    throw new AggregateError([error, ...more], 'the start failed, and so did its stop')
  }
  throw error
}
