import { setTimeout as sleep } from 'node:timers/promises'
import type { ShownJob } from '../bulk/sql/read.ts'
import { isFinal, type Status } from '../notifications/status.ts'
import type { Io } from './command.ts'

const POLL_MS = 250
const WARN_AFTER_MS = 10_000

/** Shows the progress of a job until it ends. */
export async function watchJob(io: Io, look: () => Promise<ShownJob>): Promise<void> {
  const began = performance.now()
  let isWarned = false
  for (;;) {
    const job = await look()
    const final = finalOf(job)
    io.progress.show(`Job ${job.status}`, final, job.notification_count)
    if (job.status === 'cancelled' || final >= job.notification_count) break
    if (!isWarned && job.status === 'pending' && performance.now() - began > WARN_AFTER_MS) {
      isWarned = true
      io.say('The job has not started. If Herald does not run, start it: herald start')
    }
    await sleep(POLL_MS)
  }
  io.progress.end()
}

/** Messages that have a final status. */
export const finalOf = ({ counts }: ShownJob) =>
  counts.reduce((sum, { status, count }) => sum + (isFinal(status as Status) ? count : 0), 0)
