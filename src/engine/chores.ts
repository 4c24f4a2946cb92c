// Periodic maintenance, done by the leader only, one chore after the other and each in steps. A chore that fails is logged and
// begins anew at its next turn. A chore with much to do is left after SLICE_MS, so that the others have their turn, and goes on
// where it was in the next one.
import { startPeriodic } from '../runtime/periodic.ts'
import { pause } from '../runtime/within.ts'

export type Chore = { name: string; everySeconds: number; steps(): AsyncGenerator<void, void> }

const TURN_MS = 1_000
const SLICE_MS = 20_000
/** Between two steps: as long as the step took, so that chores use half of what one connection can do, but not longer. */
const LONGEST_REST_MS = 100

export function createChores(
  chores: readonly Chore[],
  isLeader: () => boolean,
  onFault: (error: unknown, sentence: string) => void,
): { stop(): Promise<void> } {
  const dueAt = new Map<Chore, number>()
  const begun = new Map<Chore, AsyncGenerator<void, void>>()

  async function turn(signal: AbortSignal) {
    const mayGoOn = () => !signal.aborted && isLeader()
    for (const chore of chores) {
      if (!mayGoOn()) break
      const now = performance.now()
      if (!begun.has(chore)) {
        if ((dueAt.get(chore) ?? 0) > now) continue
        dueAt.set(chore, now + chore.everySeconds * 1000)
        begun.set(chore, chore.steps())
      }
      try {
        if (await isDone(chore, () => mayGoOn() && performance.now() < now + SLICE_MS, signal)) begun.delete(chore)
      } catch (error) {
        begun.delete(chore)
        onFault(error, `chore failed: ${chore.name}`)
      }
    }
    // Another process may have done the rest meanwhile.
    if (!isLeader()) begun.clear()
  }

  async function isDone(chore: Chore, mayGoOn: () => boolean, signal: AbortSignal): Promise<boolean> {
    while (mayGoOn()) {
      const since = performance.now()
      if ((await begun.get(chore)?.next())?.done !== false) return true
      await pause(Math.min(performance.now() - since, LONGEST_REST_MS), signal)
    }
    return false
  }

  return startPeriodic(turn, TURN_MS, error => onFault(error, 'chores failed'))
}
