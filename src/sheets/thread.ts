// The client of the sheet thread, which reads recipient files: it keeps spreadsheets off the event loop, and a file that takes too
// much time or memory ends the thread and nothing else.
import { createCalls } from '../runtime/worker-thread.ts'
import type { Origin } from './sheet.ts'
import type { TableReading } from './table.ts'

/** The functions that run in the thread (worker.ts). */
export type SheetCalls = {
  /** `content` and `progress` are shared memory; the number of rows read so far is stored in `progress`. */
  read(request: { content: Uint8Array; origin: Origin; progress: Int32Array }): TableReading
}

export type SheetThread = {
  read(content: Uint8Array, origin: Origin, progress: Int32Array): Promise<TableReading>
  stop(): Promise<void>
}

/** 50,000 rows of 8 columns take 3.5 s of CPU time, as .xlsx and as .ods. */
const OPTIONS = { timeoutMs: 60_000, maxInFlight: 1, endsWhenIdle: true, limits: { maxOldGenerationSizeMb: 900 } }

export function createSheetThread(options: Partial<typeof OPTIONS> = {}): SheetThread {
  const thread = createCalls<SheetCalls>('sheet thread', { beside: import.meta.url, ...OPTIONS, ...options })
  return {
    read: (content, origin, progress) => thread.call('read', { content, origin, progress }),
    stop: thread.stop,
  }
}
