// A steady rate: turns are evenly spaced, and urgent ones go first.
import { type Recall, waitForTurn } from './recall.ts'

export type Rate = {
  /**
   * Waits for the next turn. Undefined: it is now. The turn after it comes `cost / perSecond` seconds later. False: it was recalled, and
   * its turn goes to the next.
   */
  turn(cost: number, urgent: boolean, recall?: Recall): Promise<boolean> | undefined
  /** Uses up a turn without waiting for it: those who wait, wait longer. */
  charge(cost: number): void
  /** How long a new turn would have to wait. */
  backlogMs(urgent: boolean): number
}

type Waiting = { cost: number; start(): void }

/** Null: no limit. */
export function createRate(perSecond: number | null): Rate {
  if (perSecond === null) return { turn: () => undefined, charge: () => {}, backlogMs: () => 0 }
  const spacingMs = 1000 / perSecond
  const urgentTurns: Waiting[] = []
  const ordinaryTurns: Waiting[] = []
  let nextAt = 0
  let timer: NodeJS.Timeout | undefined

  // A timer is no finer than a millisecond, so several turns may come together.
  const isTime = () => nextAt - performance.now() < 1
  const arm = () => setTimeout(release, nextAt - performance.now())

  function release() {
    timer = undefined
    for (;;) {
      const queue = urgentTurns.length > 0 ? urgentTurns : ordinaryTurns
      if (queue.length === 0) return
      if (!isTime()) break
      const first = queue.shift()
      nextAt += (first?.cost ?? 0) * spacingMs // not counted from now: a late timer does not lower the rate
      first?.start()
    }
    timer = arm()
  }

  function charge(cost: number) {
    nextAt = Math.max(nextAt, performance.now()) + cost * spacingMs
  }

  return {
    turn(cost, urgent, recall) {
      if (timer === undefined && isTime()) {
        charge(cost)
        return undefined
      }
      timer ??= arm()
      const queue = urgent ? urgentTurns : ordinaryTurns
      return waitForTurn(
        recall,
        start => {
          const at = queue.findIndex(waiting => waiting.start === start)
          if (at !== -1) queue.splice(at, 1)
        },
        start => void queue.push({ cost, start }),
      )
    },
    charge,
    backlogMs(urgent) {
      let waitMs = Math.max(0, nextAt - performance.now())
      for (const { cost } of urgentTurns) waitMs += cost * spacingMs
      if (!urgent) for (const { cost } of ordinaryTurns) waitMs += cost * spacingMs
      return waitMs
    },
  }
}
