// Periodic maintenance, done by the leader only, one chore after the other. A chore that fails is logged and tried at its next
// turn. A chore with much to do is asked to return after SLICE_MS, so that the others have their turn, and then goes on.
import { startPeriodic } from '../runtime/periodic.ts'

/** Whether a chore may begin its next step: false after a stop, without the lead, and at the end of its slice of time. */
export type MayGoOn = () => boolean

/** Resolves with true when there is more to do than it had time for. */
export type Chore = { name: string; everySeconds: number; run(mayGoOn: MayGoOn): Promise<unknown> }

const TURN_MS = 1_000
const SLICE_MS = 20_000

export function createChores(
  chores: readonly Chore[],
  isLeader: () => boolean,
  onFault: (error: unknown, sentence: string) => void,
): { stop(): Promise<void> } {
  const dueAt = new Map(chores.map(chore => [chore.name, 0]))

  async function turn(signal: AbortSignal) {
    for (const chore of chores) {
      const begunAt = performance.now()
      const mayGoOn = () => !signal.aborted && isLeader() && performance.now() < begunAt + SLICE_MS
      if (!mayGoOn() || (dueAt.get(chore.name) ?? 0) > begunAt) continue
      dueAt.set(chore.name, begunAt + chore.everySeconds * 1000)
      try {
        if ((await chore.run(mayGoOn)) === true) dueAt.set(chore.name, 0)
      } catch (error) {
        onFault(error, `chore failed: ${chore.name}`)
      }
    }
  }

  return startPeriodic(turn, TURN_MS, error => onFault(error, 'chores failed'))
}
