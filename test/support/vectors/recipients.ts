// Vectors of recipients and recipient files (content-rules 13.1) against the real functions.

import { sheetOfCsv, sheetOfRows } from '../../../src/bulk/rows.ts'
import { readEmail } from '../../../src/recipients/email.ts'
import { readPhone } from '../../../src/recipients/phone.ts'
import { safelistForm } from '../../../src/recipients/recipient.ts'
import { namesOf } from '../../../src/rendering/placeholders.ts'
import type { Handler } from './handler.ts'
import { createSafelist, humanPhone, summarise } from './reference-recipients.ts'

const emailAddress: Handler = input => {
  const read = readEmail(input.address)
  return read.ok
    ? { valid: true, address: read.address, normalised: read.normalised }
    : { valid: false, error: read.problem }
}

const phoneNumber: Handler = input => {
  switch (input.fn) {
    case 'validate': {
      const read = readPhone(input.number, { international: input.international })
      return read.ok ? { valid: true, e164: read.e164 } : { valid: false, error: read.problem }
    }
    case 'info': {
      const read = readPhone(input.number, { international: true })
      return read.ok
        ? { international: read.international, countryPrefix: read.countryCode }
        : { valid: false, error: read.problem }
    }
    case 'human':
      return { text: humanPhone(input.number) }
    case 'recipient':
      return { text: safelistForm(input.recipient) }
    case 'allowed':
      return { allowed: createSafelist(input.safelist)(input.recipient) }
    default:
      throw new Error(`unknown fn ${input.fn}`)
  }
}

const recipientCsv: Handler = input => {
  const reading = input.rows ? sheetOfRows(input.rows) : { ok: true as const, sheet: sheetOfCsv(input.file) }
  if (!reading.ok) throw new Error(reading.problem)
  const content: string | undefined = input.templateContent
  const summary = summarise(reading.sheet, {
    type: input.templateType,
    placeholders: content === undefined ? (input.placeholders ?? []) : namesOf({ content }),
    language: input.language ?? 'en',
    international: input.international ?? true,
    safelist: input.safelist ?? [],
    maxRows: input.maxRows ?? 50_000,
    remainingToday: input.remainingToday ?? Number.POSITIVE_INFINITY,
    maxErrorsShown: input.maxErrorsShown ?? 20,
    content,
  })
  return {
    columnHeaders: summary.columns.headers,
    missingColumnHeaders: summary.columns.missing,
    duplicateRecipientColumnHeaders: [...summary.columns.duplicateRecipients].sort(),
    hasRecipientColumn: summary.columns.hasRecipient,
    rowCount: summary.rowCount,
    tooManyRows: summary.tooManyRows,
    allowedToSend: summary.allowedToSend,
    hasErrors: summary.hasErrors,
    rows: summary.rows.map(row => presentRow(row, content !== undefined)),
    duplicateRecipientRows: summary.duplicates.rows.map(row => row - 1),
    distinctDuplicatedRecipients: summary.duplicates.recipients,
    moreRowsThanCanSendToday: summary.moreRowsThanCanSendToday,
    shownErrorRows: summary.failingRows.map(row => row - 1),
  }
}

function presentRow(row: ReturnType<typeof summarise>['rows'][number], isMeasured: boolean) {
  return {
    recipient: row.recipient,
    personalisation: row.personalisation,
    errors: Object.fromEntries(row.errors.map(error => [error.key, error.message])),
    badRecipient: row.errors.some(error => error.problem === 'recipient'),
    missingData: row.errors.some(error => error.problem === 'missing'),
    ...(isMeasured ? { tooLong: row.tooLong } : {}),
  }
}

export const recipientHandlers: Record<string, Handler> = {
  'email-address': emailAddress,
  'phone-number': phoneNumber,
  'recipient-csv': recipientCsv,
}
