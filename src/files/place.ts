// Creates the scanner, the store and the thread of files from the settings.
import type { Sql } from '../db/connect.ts'
import { createTurns, type Turns } from '../runtime/turns.ts'
import { createClamd } from './clamd.ts'
import type { Room } from './fetch.ts'
import { createS3, type S3Settings } from './s3.ts'
import { createEmbedded, createNone, createScanning, type Scanner, type Scanning } from './scanner.ts'
import { createPostgresStore, type FileStore } from './store.ts'
import { createFileThread, type FileThread } from './thread.ts'

export type Files = {
  scanner: Scanner
  scanning: Scanning
  store: FileStore
  thread: FileThread
  /**
   * Turns of requests that read contents. A store may be slow: no request waits for it in a turn of the database. Work in a turn of the
   * store may wait for one of the database, never the other way round.
   */
  reading: Turns
  /** Memory for contents that are being sent or scanned. */
  room: Room
  stop(): Promise<void>
}

export type FileSettings = {
  scanner: Scanner['name']
  clamdUrl: string | null
  fileStore: FileStore['name']
  s3: S3Settings | null
}

/** In total, and of one service; for links of one network, because who follows them is not known. */
const READING = { atOnce: 8, ofOne: 4 }

export function createFiles(settings: FileSettings, sql: Sql, room: Room): Files {
  const thread = createFileThread({ scans: settings.scanner === 'embedded' })
  const scanner = scannerOf(settings, thread)
  return {
    scanner,
    scanning: createScanning(scanner),
    store: storeOf(settings, sql),
    thread,
    reading: createTurns(READING),
    room,
    stop: () => thread.stop(),
  }
}

function scannerOf({ scanner, clamdUrl }: FileSettings, thread: FileThread): Scanner {
  switch (scanner) {
    case 'embedded':
      return createEmbedded(thread.findSignature)
    case 'clamd':
      if (clamdUrl === null) throw new Error('The scanner clamd is asked for, but HERALD_CLAMD_URL is not set.')
      return createClamd(clamdUrl)
    case 'none':
      return createNone()
  }
}

function storeOf({ fileStore, s3 }: FileSettings, sql: Sql): FileStore {
  if (fileStore === 'postgres') return createPostgresStore(sql)
  if (s3 === null)
    throw new Error(
      'The file store s3 is asked for, but HERALD_S3_URL, HERALD_S3_BUCKET, HERALD_S3_KEY and HERALD_S3_SECRET are not all set.',
    )
  return createS3(s3)
}
