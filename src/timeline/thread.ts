// The client of the report thread, which opens recipients and writes the lines of reports: a report of a million messages keeps nothing
// else waiting.
import { createCalls } from '../runtime/worker-thread.ts'
import type { JobLines } from './job-lines.ts'
import type { MessageLines } from './lines.ts'

/** The functions that run in the thread (worker.ts). */
export type ReportCalls = { messages(page: MessageLines): Uint8Array; job(page: JobLines): Uint8Array }

export type ReportThread = {
  messages(page: MessageLines): Promise<Uint8Array>
  job(page: JobLines): Promise<Uint8Array>
  stop(): Promise<void>
}

/** A page takes 20 ms; one with the largest values a second. Pages of all reports take turns. */
const OPTIONS = { timeoutMs: 30_000, maxInFlight: 1, limits: { maxOldGenerationSizeMb: 256 } }

/** `secrets`: the current sealing secret first, then earlier ones. */
export function createReportThread(secrets: readonly string[]): ReportThread {
  const thread = createCalls<ReportCalls>('report thread', { beside: import.meta.url, ...OPTIONS, workerData: secrets })
  return {
    messages: page => thread.call('messages', page),
    job: page => thread.call('job', page),
    stop: thread.stop,
  }
}
