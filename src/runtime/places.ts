// A number of places and two queues for them: urgent jobs go first, and ordinary jobs may use only part of the places.
import { type Recall, waitForTurn } from './recall.ts'

/** The owner starts what `next` returns, after each `add` and `free`. */
export type Places<Job> = {
  /** Takes a place if one is free; for callers that do not wait in the queue. */
  take(urgent: boolean): boolean
  free(urgent: boolean): void
  add(job: Job, urgent: boolean): void
  /** Waits again, before all others. */
  putBack(job: Job, urgent: boolean): void
  /** False: the job does not wait. */
  remove(job: Job, urgent: boolean): boolean
  /** Takes a place for the job that is next. Undefined: none waits, or there is no place for it. */
  next(): Job | undefined
  /** The next job of this kind, without a place: it shares the place of the job before it. */
  follow(urgent: boolean): Job | undefined
  /** How many waiting jobs may have a place now. */
  startable(): number
  /** Empties both queues. */
  drain(): Job[]
}

export function createPlaces<Job>(total: number, ordinaryTotal: number): Places<Job> {
  const urgentJobs: Job[] = []
  const ordinaryJobs: Job[] = []
  const queueOf = (urgent: boolean) => (urgent ? urgentJobs : ordinaryJobs)
  let used = 0
  let ordinaryUsed = 0

  function take(urgent: boolean): boolean {
    if (used >= total || (!urgent && ordinaryUsed >= ordinaryTotal)) return false
    used++
    if (!urgent) ordinaryUsed++
    return true
  }

  return {
    take,
    free(urgent) {
      used--
      if (!urgent) ordinaryUsed--
    },
    add: (job, urgent) => void queueOf(urgent).push(job),
    putBack: (job, urgent) => void queueOf(urgent).unshift(job),
    remove(job, urgent) {
      const at = queueOf(urgent).indexOf(job)
      if (at !== -1) queueOf(urgent).splice(at, 1)
      return at !== -1
    },
    next() {
      const urgent = urgentJobs.length > 0
      return queueOf(urgent).length > 0 && take(urgent) ? queueOf(urgent).shift() : undefined
    },
    follow: urgent => queueOf(urgent).shift(),
    startable() {
      const ordinary = Math.min(ordinaryJobs.length, ordinaryTotal - ordinaryUsed)
      return Math.min(urgentJobs.length + ordinary, total - used)
    },
    drain: () => [...urgentJobs.splice(0), ...ordinaryJobs.splice(0)],
  }
}

export type Gate = {
  /** Waits for a place. Undefined: there was one at once. False: there was none within `patienceMs`, or before it was recalled. */
  enter(urgent: boolean, patienceMs?: number, recall?: Recall): Promise<boolean> | undefined
  leave(urgent: boolean): void
}

/** The same places for callers that wait with a promise. */
export function createGate(total: number, ordinaryTotal: number): Gate {
  const places = createPlaces<() => void>(total, ordinaryTotal)
  return {
    enter(urgent, patienceMs, recall) {
      if (places.take(urgent)) return undefined
      let timer: NodeJS.Timeout | undefined
      const entered = waitForTurn(
        recall,
        start => places.remove(start, urgent),
        (start, leave) => {
          places.add(start, urgent)
          if (patienceMs !== undefined) timer = setTimeout(leave, patienceMs)
        },
      )
      return patienceMs === undefined ? entered : entered.finally(() => clearTimeout(timer))
    },
    leave(urgent) {
      places.free(urgent)
      for (let start = places.next(); start; start = places.next()) start()
    },
  }
}
