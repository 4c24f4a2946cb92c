// All row errors of a file in little memory: a bit for each cell of a row that has errors, at most 6.5 MB for 50,000 rows with 1,000
// columns. The worker fills it and transfers it; the host writes it out row by row.
import { smsLimit } from '../rendering/sms.ts'
import type { CheckedRow } from './check.ts'
import type { Column } from './columns.ts'
import type { RowError } from './report.ts'

export type ErrorTable = {
  /** Headers of the columns that the template uses, in their order, and which is the recipient's; -1: none. */
  headers: readonly string[]
  recipientAt: number
  referenceHeader: string
  /** What can be wrong with a recipient. */
  recipientMessages: readonly string[]
  largeMessage: string
  packed: Uint8Array<ArrayBuffer>
  /** Rows and errors in it. */
  rows: number
  errors: number
}

/** Of a row: its number in four bytes, flags, the message about its recipient (0: none), a bit for each column. */
const ROW_BYTES = 4
const HEAD_BYTES = ROW_BYTES + 2
const FLAG = { large: 1, notAllowed: 2, tooLong: 4, reference: 8 } as const

const sizeOf = (columns: number) => HEAD_BYTES + Math.ceil(columns / 8)

export type RowFlags = { notAllowed: boolean; longReference: boolean }

export function createErrorTable(columns: readonly Column[], referenceHeader: string) {
  const size = sizeOf(columns.length)
  const positions = new Map(columns.map((column, at) => [column.key, at]))
  const messages: string[] = []
  let packed = new Uint8Array(size * 16)
  let [rows, errors, largeMessage] = [0, 0, '']

  function numberOf(message: string): number {
    const known = messages.indexOf(message)
    if (known >= 0) return known + 1
    return messages.push(message)
  }

  return {
    /** Takes the errors of a row. False: it has none. */
    add({ row, errors: cells, tooLong }: CheckedRow, { notAllowed, longReference }: RowFlags): boolean {
      if (cells.length === 0 && !tooLong && !notAllowed && !longReference) return false
      const start = rows * size
      if (start + size > packed.length) {
        const larger = new Uint8Array(packed.length * 2)
        larger.set(packed)
        packed = larger
      }
      let flags =
        (notAllowed ? FLAG.notAllowed : 0) | (tooLong ? FLAG.tooLong : 0) | (longReference ? FLAG.reference : 0)
      errors += cells.length + Number(notAllowed) + Number(tooLong) + Number(longReference)
      for (const { key, problem, message } of cells) {
        if (problem === 'large') {
          flags |= FLAG.large
          largeMessage = message
          continue
        }
        if (problem === 'recipient') packed[start + ROW_BYTES + 1] = numberOf(message)
        const at = positions.get(key) ?? 0
        const byte = start + HEAD_BYTES + (at >> 3)
        packed[byte] = (packed[byte] ?? 0) | (1 << (at & 7))
      }
      packed[start + ROW_BYTES] = flags
      new DataView(packed.buffer).setUint32(start, row)
      rows++
      return true
    },
    whole: (): ErrorTable => ({
      headers: columns.map(column => column.header),
      recipientAt: columns.findIndex(column => column.isRecipient),
      referenceHeader,
      recipientMessages: messages,
      largeMessage,
      packed: packed.slice(0, rows * size),
      rows,
      errors,
    }),
  }
}

/** By row; in a row by column, then those of the whole row. */
export function* rowErrors(table: ErrorTable): Generator<RowError, void> {
  const { packed, headers, recipientAt, rows } = table
  const size = sizeOf(headers.length)
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  for (let at = 0; at < rows; at++) {
    const start = at * size
    const row = view.getUint32(start)
    const flags = packed[start + ROW_BYTES] ?? 0
    const recipientMessage = packed[start + ROW_BYTES + 1] ?? 0
    for (let byte = HEAD_BYTES; byte < size; byte++) {
      const bits = packed[start + byte] ?? 0
      for (let bit = 0; bits >> bit > 0; bit++) {
        if (((bits >> bit) & 1) === 0) continue
        const column = (byte - HEAD_BYTES) * 8 + bit
        const isRecipient = column === recipientAt && recipientMessage > 0
        yield isRecipient
          ? recipientError(table, row, recipientMessage)
          : { row, column: headers[column] ?? '', problem: 'missing', message: 'Missing' }
      }
    }
    yield* errorsOfRow(table, row, flags)
  }
}

const recipientError = ({ headers, recipientAt, recipientMessages }: ErrorTable, row: number, message: number) =>
  ({
    row,
    column: headers[recipientAt] ?? '',
    problem: 'recipient',
    message: recipientMessages[message - 1] ?? '',
  }) satisfies RowError

function* errorsOfRow(table: ErrorTable, row: number, flags: number): Generator<RowError, void> {
  const { headers, recipientAt, referenceHeader, largeMessage } = table
  if (flags & FLAG.large) yield { row, column: null, problem: 'too-large', message: largeMessage }
  if (flags & FLAG.notAllowed)
    yield { row, column: headers[recipientAt] ?? null, problem: 'not-allowed', message: NOT_ALLOWED }
  if (flags & FLAG.tooLong) yield { row, column: null, problem: 'too-long', message: TOO_LONG }
  if (flags & FLAG.reference) yield { row, column: referenceHeader, problem: 'reference', message: 'is too long' }
}

const NOT_ALLOWED = 'not in the team or on the safelist'
const TOO_LONG = `more than ${smsLimit} characters`
