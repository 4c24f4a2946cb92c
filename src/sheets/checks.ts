// What a check of the rows of a sheet has found, kept in memory: a person looks at many pages of one sheet, and 50,000 rows take
// seconds. It is used again only while everything that decides it is the same: the rows, the match, the rows that are left out, and
// the rules of template and service. What changes by the minute, such as the rest of the daily limit, is not part of it.
import type { CheckedFile } from '../bulk/thread.ts'
import type { Id } from '../core/id.ts'
import type { UnclearValues } from './sheet.ts'

/** `lines`: of the rows that were checked, in order. */
export type CheckedRows = { checked: CheckedFile; lines: readonly number[]; unclear: readonly UnclearValues[] }

export type SheetChecks = {
  /** Runs `make` unless the result for this key is known. */
  once(id: Id, key: string, make: () => Promise<CheckedRows>): Promise<CheckedRows>
  forget(id: Id): void
}

/** Together. A file with an error in every row takes up to 7 MB. */
const MOST_BYTES = 32 * 1024 * 1024
const MOST_SHEETS = 100

type Kept = { key: string; bytes: number; result: Promise<CheckedRows> }

export function createSheetChecks({ mostBytes = MOST_BYTES } = {}): SheetChecks {
  /** The one that was used last stands last. */
  const kept = new Map<Id, Kept>()

  function makeRoom() {
    let bytes = [...kept.values()].reduce((sum, one) => sum + one.bytes, 0)
    for (const [id, one] of kept) {
      if (bytes <= mostBytes && kept.size <= MOST_SHEETS) return
      kept.delete(id)
      bytes -= one.bytes
    }
  }

  return {
    async once(id, key, make) {
      const known = kept.get(id)
      const found = known?.key === key ? known : { key, bytes: 0, result: make() }
      kept.delete(id)
      kept.set(id, found)
      try {
        const result = await found.result
        found.bytes = sizeOf(result)
        return result
      } catch (error) {
        if (kept.get(id) === found) kept.delete(id)
        throw error
      } finally {
        makeRoom()
      }
    },
    forget: id => void kept.delete(id),
  }
}

const sizeOf = ({ checked, lines }: CheckedRows) =>
  1_000 + 8 * lines.length + (checked.found?.rows?.errors.packed.length ?? 0)
