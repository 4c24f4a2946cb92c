// Reads uploaded files in the background, one at a time, in turns by service: a service with many slow files delays others by one
// file at most. A process that ends while it reads leaves the file to the next request for it (read.ts).
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { createSheetChecks, type SheetChecks } from './checks.ts'
import type { Unreadable } from './sheet.ts'
import { addRows, lease, pieceAt, readDone } from './sql.ts'
import type { ReadTable, TableReading } from './table.ts'
import { createSheetThread, type SheetThread } from './thread.ts'

export type SheetReading = {
  /** Returns at once. A file that is read or waits already is not added again. */
  begin(service: Id, id: Id): void
  /** Rows read so far by this process; null: it does not read the file. */
  progressOf(id: Id): number | null
  /** What checks of sheets have found. */
  checks: SheetChecks
  /** Resolves when nothing is read or waits; for tests. */
  idle(): Promise<void>
  stop(): Promise<void>
}

/** The names in a file, sealed. */
export type SheetHead = { header: readonly string[]; sheetName: string | null; otherSheets: readonly string[] }

type App = { db: Database; seal: Seal; onFault(error: unknown, sentence: string): void }

export function createSheetReading(app: App, thread: SheetThread = createSheetThread()): SheetReading {
  const waiting = new Map<Id, Id[]>()
  const progress = new Map<Id, Int32Array>()
  let running: Promise<void> | null = null
  let isStopped = false

  async function run() {
    for (let next = take(); next && !isStopped; next = take()) {
      const counter = progress.get(next) ?? counterOf()
      try {
        await readOne({ ...app, thread }, next, counter)
      } catch (error) {
        // Read again when somebody asks for it and the lease has expired.
        if (!isStopped) app.onFault(error, 'an uploaded file could not be read')
      } finally {
        progress.delete(next)
      }
    }
    running = null
  }

  /** The service that waits longest is next, and then waits behind the others. */
  function take(): Id | null {
    const [first] = waiting
    if (!first) return null
    const [service, ids] = first
    const id = ids.shift() ?? null
    waiting.delete(service)
    if (ids.length > 0) waiting.set(service, ids)
    return id
  }

  return {
    begin(service, id) {
      if (isStopped || progress.has(id)) return
      progress.set(id, counterOf())
      waiting.set(service, [...(waiting.get(service) ?? []), id])
      running ??= run()
    },
    progressOf(id) {
      const counter = progress.get(id)
      return counter ? Atomics.load(counter, 0) : null
    },
    checks: createSheetChecks(),
    idle: async () => {
      await running
    },
    async stop() {
      isStopped = true
      waiting.clear()
      await thread.stop()
      await running
    },
  }
}

const counterOf = () => new Int32Array(new SharedArrayBuffer(4))

async function readOne(app: App & { thread: SheetThread }, id: Id, counter: Int32Array) {
  const leased = await lease(app.db.sql, id)
  if (!leased) return
  const content = await contentOf(app, id, leased.bytes)
  const reading = await app.thread.read(content, leased.origin, counter).catch(tooMuch)
  if (reading.ok) await store(app, id, reading.table)
  else await readDone(app.db.sql, id, { ...NOTHING, state: 'unreadable', problem: reading.problem })
}

/** The thread was lost: the file took too much time or memory. */
function tooMuch(error: unknown): TableReading {
  if (error instanceof Error && error.message.includes('stopped')) throw error
  const problem: Unreadable = { kind: 'too-much' }
  return { ok: false, problem }
}

const NOTHING = {
  head: null,
  format: null,
  encoding: null,
  delimiter: null,
  problem: null,
  row_count: 0,
  blank_rows: 0,
}

/** Shared memory, which the thread reads without a copy. Opened piece by piece, so that the event loop is not blocked. */
async function contentOf({ db, seal }: App, id: Id, bytes: number): Promise<Uint8Array> {
  const content = new Uint8Array(new SharedArrayBuffer(bytes))
  for (let [at, position] = [0, 0]; at < bytes; position++) {
    const sealed = await pieceAt(db.sql, id, position)
    if (!sealed) throw new Error('a piece of an uploaded file is missing')
    const piece = seal.open('sheet piece', sealed)
    content.set(piece, at)
    at += piece.length
  }
  return content
}

/** All rows or none: a crash on the way leaves the uploaded bytes, which are read again. */
async function store({ db, seal }: App, id: Id, table: ReadTable) {
  const head: SheetHead = { header: table.header, sheetName: table.sheetName, otherSheets: table.otherSheets }
  await db.transaction(async sql => {
    let position = 0
    for (const { json, lines } of table.chunks) {
      await addRows(
        sql,
        id,
        position,
        [...lines],
        seal.seal('sheet rows', Buffer.from(json.buffer, json.byteOffset, json.byteLength)),
      )
      position += lines.length
    }
    const isDone = await readDone(sql, id, {
      state: 'ready',
      head: seal.seal('sheet head', JSON.stringify(head)),
      format: table.format,
      encoding: table.encoding,
      delimiter: table.delimiter,
      problem: null,
      row_count: table.rowCount,
      blank_rows: table.blankRows,
    })
    if (!isDone) throw new Error('an uploaded file was read twice')
  })
}
