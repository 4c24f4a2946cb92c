// How far a job has come, for people. Pure.
import type { ShownStatus } from './sql/browse.ts'
import type { ShownJob } from './sql/read.ts'

export type Progress = {
  status: ShownStatus
  whole: number
  /** Handed over: delivered, failed, or on its way. */
  delivered: number
  inTransit: number
  failed: number
  /** Also rows of a job that was cancelled or refused before they were messages. */
  cancelled: number
  /** Not handed over yet, but later. */
  waiting: number
  handedOver: number
  /** Nothing will change any more. */
  isOver: boolean
}

const DELIVERED = ['delivered', 'sent']
const IN_TRANSIT = ['sending', 'pending']
const FAILED = ['permanent-failure', 'temporary-failure', 'technical-failure', 'virus-scan-failed']

/** `now` in milliseconds since 1970. */
export function progressOf(job: ShownJob, now: number): Progress {
  const sum = (statuses: readonly string[]) =>
    job.counts.reduce((total, { status, count }) => (statuses.includes(status) ? total + count : total), 0)
  const [delivered, inTransit, failed] = [sum(DELIVERED), sum(IN_TRANSIT), sum(FAILED)]
  const handedOver = delivered + inTransit + failed
  const isStopped = job.status === 'cancelled' || job.status === 'sending limits exceeded'
  const rest = Math.max(0, job.notification_count - handedOver)
  const cancelled = isStopped ? rest : Math.min(rest, sum(['cancelled']))
  const waiting = rest - cancelled
  const status = statusOf(job, waiting, now)
  return {
    ...{ status, whole: job.notification_count, delivered, inTransit, failed, cancelled, waiting, handedOver },
    isOver: status === 'cancelled' || status === 'over-limit' || (status === 'finished' && inTransit === 0),
  }
}

/** The API calls a job finished when all its rows are messages; people when none of them waits any more. */
function statusOf({ status, scheduled_for }: ShownJob, waiting: number, now: number): ShownStatus {
  switch (status) {
    case 'pending':
      return scheduled_for !== null && Date.parse(scheduled_for) > now ? 'scheduled' : 'waiting'
    case 'in progress':
      return 'sending'
    case 'finished':
      return waiting > 0 ? 'sending' : 'finished'
    case 'cancelled':
      return 'cancelled'
    case 'sending limits exceeded':
      return 'over-limit'
    case 'error':
      return 'error'
  }
}

/** How many were handed over in the last minute, from how many there were at each moment. */
export type Pace = { add(at: number, handedOver: number): number }

const MINUTE_MS = 60_000

/** `lately`: how many were handed over in the minute before the first moment. */
export function createPace(at: number, handedOver: number, lately: number): Pace {
  const samples = [
    { at: at - MINUTE_MS, handedOver: handedOver - lately },
    { at, handedOver },
  ]
  return {
    add(now, count) {
      samples.push({ at: now, handedOver: count })
      // The first is the last one that is a minute old or older.
      while ((samples[1]?.at ?? now) <= now - MINUTE_MS) samples.shift()
      const [first, second] = samples
      if (!first || !second) return 0
      // Between the two oldest moments they were handed over evenly.
      const share = Math.min(1, Math.max(0, (now - MINUTE_MS - first.at) / Math.max(1, second.at - first.at)))
      return Math.round(count - first.handedOver - share * (second.handedOver - first.handedOver))
    },
  }
}

/** Before this time nobody can say how fast it is. */
const EARLY_MS = 4_000

/** Messages a minute. In its first minute a job is measured by the time since it began; null: it has just begun, or waits. */
export function paceOf(lately: number, startedAt: number | null, now: number): number | null {
  const age = startedAt === null ? 0 : now - startedAt
  return age < EARLY_MS ? null : Math.round((lately * MINUTE_MS) / Math.min(MINUTE_MS, age))
}

/** Minutes that the rest takes at this pace; null: nobody knows. */
export const minutesLeft = ({ waiting }: Progress, aMinute: number | null): number | null =>
  waiting === 0 || aMinute === null || aMinute <= 0 ? null : waiting / aMinute
