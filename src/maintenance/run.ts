// Runs the maintenance tasks in the process that leads: one after the other, each in bounded steps. A task that fails is reported
// and starts again when it is due next. A task with much to do is left after SLICE_MS, so that the others have their turn, and
// resumes in the next round.
import { startPeriodic } from '../runtime/periodic.ts'
import type { Steps } from '../runtime/steps.ts'
import { pause, within } from '../runtime/within.ts'

export type Task = {
  name: string
  everySeconds: number
  /** For one step. */
  timeoutSeconds: number
  steps(): Steps
}

const ROUND_MS = 1_000
const SLICE_MS = 20_000
/** Between two steps: as long as the step took, so that maintenance uses half of what one connection can do, but not longer. */
const LONGEST_PAUSE_MS = 100
/** At stop a step in progress may finish within this time; then it is interrupted, and repeated later. */
const STOP_MS = 1_000

export function startMaintenance(
  tasks: readonly Task[],
  options: {
    isLeader(): boolean
    /** After every step, also one that failed: with no rows. */
    onStep(task: string, rows: number, seconds: number): void
    onFault(error: unknown, sentence: string): void
    /** Makes the statements in progress fail. */
    interrupt(): void
    signal?: AbortSignal
  },
): { stop(): Promise<void> } {
  const { isLeader, onStep, onFault, interrupt } = options
  const dueAt = new Map<Task, number>()
  const started = new Map<Task, Steps>()

  async function round(signal: AbortSignal) {
    const mayContinue = () => !signal.aborted && isLeader()
    for (const task of tasks) {
      if (!mayContinue()) break
      const now = performance.now()
      if (!started.has(task) && (dueAt.get(task) ?? 0) > now) continue
      const steps = started.get(task) ?? task.steps()
      if (!started.has(task)) dueAt.set(task, now + task.everySeconds * 1000)
      started.set(task, steps)
      try {
        if (await runSlice(task, steps, () => mayContinue() && performance.now() < now + SLICE_MS, signal))
          started.delete(task)
      } catch (error) {
        started.delete(task)
        onFault(error, `maintenance task failed: ${task.name}`)
      }
    }
    // Another process may do the rest meanwhile.
    if (!isLeader()) started.clear()
  }

  /** True when the task has finished. */
  async function runSlice(task: Task, steps: Steps, mayContinue: () => boolean, signal: AbortSignal): Promise<boolean> {
    while (mayContinue()) {
      const since = performance.now()
      if (await runStep(task, steps)) return true
      await pause(Math.min(performance.now() - since, LONGEST_PAUSE_MS), signal)
    }
    return false
  }

  async function runStep({ name, timeoutSeconds }: Task, steps: Steps): Promise<boolean> {
    const since = performance.now()
    const seconds = () => (performance.now() - since) / 1000
    const step = steps.next()
    try {
      const { done, value } = await within(
        timeoutSeconds * 1000,
        step,
        `a step took longer than ${timeoutSeconds} seconds`,
      )
      if (!done) onStep(name, value, seconds())
      return done === true
    } catch (error) {
      interrupt()
      await step.catch(() => {}) // steps never overlap; the error is thrown below
      onStep(name, 0, seconds())
      throw error
    }
  }

  const periodic = startPeriodic(round, ROUND_MS, error => onFault(error, 'maintenance failed'), options.signal)
  return {
    stop() {
      const ended = periodic.stop()
      return within(STOP_MS, ended, 'a step does not end').catch(() => {
        interrupt()
        return ended
      })
    },
  }
}
