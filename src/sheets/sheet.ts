// A recipient file that a person has uploaded or pasted: read once, matched to the placeholders of a template, checked, then sent as
// a job or removed. Only the person who uploaded it sees it.
import type { Channel } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Id } from '../core/id.ts'

const MIB = 1024 * 1024

/** Limits of a file. A spreadsheet is an archive, so its content has a limit of its own. */
export const LIMITS = {
  bytes: 25 * MIB,
  rows: 50_000,
  columns: 1_000,
  /** Characters of one cell; a spreadsheet program allows 32,767. */
  cell: 100_000,
  /** Characters of all cells: what is sent as one bulk request. */
  characters: 40_000_000,
  /** Files in the archive of a spreadsheet. */
  entries: 2_000,
  inflatedBytes: 400 * MIB,
} as const

/** A sheet is deleted after this time, whatever its state. */
export const KEPT_DAYS = 7
/** Per person and service; a further upload removes the oldest. */
export const MOST_SHEETS = 10

/**
 * receiving: the upload is in progress. received: it waits to be read. reading: a worker thread reads it. sent: it has become a job,
 * and its rows are deleted.
 */
export const STATES = ['receiving', 'received', 'reading', 'ready', 'unreadable', 'sent'] as const
export type SheetState = (typeof STATES)[number]

export type Origin = 'file' | 'pasted'
export type Format = 'csv' | 'xlsx' | 'ods'
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
export type Delimiter = ',' | ';' | '\t'

/** Why a file cannot be read. `line` is the number that a spreadsheet program shows beside the row. */
export type Unreadable =
  | { kind: 'empty' }
  /** A header, and no row below it. */
  | { kind: 'no-rows' }
  | { kind: 'too-many-rows'; most: number }
  | { kind: 'too-many-columns'; most: number }
  | { kind: 'long-cell'; line: number; column: number; most: number }
  /** Neither text nor a spreadsheet that is read: a PDF, a picture, a web page. */
  | { kind: 'unknown-format' }
  /** .xls, the format before 2007. */
  | { kind: 'old-excel' }
  | { kind: 'password' }
  /** A spreadsheet that is incomplete or contradicts itself. */
  | { kind: 'damaged' }
  /** It becomes too large when it is unpacked, or takes too much time or memory. */
  | { kind: 'too-much' }

/** What a column is used for. `value:` is followed by the name of a placeholder. */
export type Target = 'recipient' | 'reference' | `value:${string}`
/** One entry for each column; null: not used. */
export type Match = readonly (Target | null)[]

export type SheetColumn = {
  /** As written in the file. */
  header: string
  target: Target | null
  /** The header has another name than the target: similar, or chosen by the person. */
  isDifferent: boolean
}

export type Sheet = {
  id: Id
  service_id: Id
  template_id: Id
  channel: Channel
  state: SheetState
  /** Of the file; empty for pasted text. */
  name: string
  origin: Origin
  bytes: number
  format: Format | null
  /** Null for spreadsheets. */
  encoding: Encoding | null
  delimiter: Delimiter | null
  /** The sheet of the spreadsheet that was read, and the others that have data. */
  sheetName: string | null
  otherSheets: readonly string[]
  columns: readonly SheetColumn[]
  /** What no column is matched to: `recipient`, or `value:` and a placeholder of the template. */
  missing: readonly Target[]
  /** Rows that would be sent: without blank rows and without those left out. */
  rowCount: number
  /** Blank rows between others, which are not sent. */
  blankRows: number
  /** Rows with problems that the person left out. */
  leftOut: number
  /** Rows read so far, while it is read. */
  progress: number | null
  problem: Unreadable | null
  job_id: Id | null
  created_at: Timestamp
  expires_at: Timestamp
}

/** `line`: the number that a spreadsheet program shows beside the row; the header is usually line 1. */
export type SheetRow = { line: number; cells: readonly string[] }

/** Values of a yes-or-no column that are neither. `header`: as written in the file. `first`: the first such row. */
export type UnclearValues = { header: string; rows: number; first: { line: number; value: string } }
