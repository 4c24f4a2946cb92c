import { setTimeout as sleep } from 'node:timers/promises'
import type { ShownJob } from '../bulk/sql/read.ts'
import { isFinal, type Status } from '../notifications/status.ts'
import type { Io } from './command.ts'

const POLL_MS = 250
const LINE_MS = 5_000
const WARN_AFTER_MS = 10_000

/** Shows the progress of a job until it ends: a progress bar on a terminal, otherwise a line every five seconds. */
export async function watchJob(io: Io, look: () => Promise<ShownJob>): Promise<void> {
  const bar = process.stderr.isTTY ? (text: string) => process.stderr.write(`\r${text}\u001b[K`) : null
  const began = performance.now()
  let lastLine = began
  let isWarned = false
  for (;;) {
    const job = await look()
    const final = finalOf(job)
    bar?.(barOf(final, job))
    if (job.status === 'cancelled' || final >= job.notification_count) break
    const now = performance.now()
    if (!bar && now - lastLine > LINE_MS) {
      io.say(`${final} of ${job.notification_count} messages are final (${job.status})`)
      lastLine = now
    }
    if (!isWarned && job.status === 'pending' && now - began > WARN_AFTER_MS) {
      isWarned = true
      io.say('The job has not started. If Herald does not run, start it: herald start')
    }
    await sleep(POLL_MS)
  }
  bar?.('')
}

const WIDTH = 30

function barOf(final: number, { notification_count: all, status }: ShownJob): string {
  const full = Math.floor((WIDTH * final) / all)
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${Math.floor((100 * final) / all)}%  ${final}/${all}  ${status}`
}

/** Messages that have a final status. */
export const finalOf = ({ counts }: ShownJob) =>
  counts.reduce((sum, { status, count }) => sum + (isFinal(status as Status) ? count : 0), 0)
