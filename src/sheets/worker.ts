// The sheet thread: from the bytes of a file to chunks of rows.
import { serveCalls } from '../runtime/worker-thread.ts'
import { tableOf } from './format.ts'
import { cut } from './table.ts'
import type { SheetCalls } from './thread.ts'

serveCalls<SheetCalls>({
  read({ content, origin, progress }) {
    // Copied: shared memory cannot be decoded.
    const found = tableOf(Buffer.from(content), origin)
    if (!found.ok) return found
    return cut(found.table, rows => Atomics.store(progress, 0, rows))
  },
})
