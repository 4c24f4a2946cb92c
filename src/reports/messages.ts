// Messages of a period as a table, newest first. Streamed: a page is read while the one before is written in the report thread.
import type { Id } from '../core/id.ts'
import type { Caller } from '../keys/key.ts'
import { ahead } from '../timeline/ahead.ts'
import { NO_FILTERS, type StatusFilter } from '../timeline/browse.ts'
import { headOf, MESSAGE_COLUMNS, type ReportFormat } from '../timeline/lines.ts'
import { messagePages, type PagesApp } from '../timeline/pages.ts'
import type { ReportThread } from '../timeline/thread.ts'
import type { Period } from './period.ts'

export type MessagesApp = PagesApp & { reportThread: Pick<ReportThread, 'messages'> }

export type MessagesWanted = { period: Period; status: StatusFilter | null; template: Id | null; format: ReportFormat }

/** Messages of keys of the caller's type, as in `GET /v2/notifications`, those of jobs among them. */
export async function* reportMessages(
  app: MessagesApp,
  { service, key }: Caller,
  { period, status, template, format }: MessagesWanted,
): AsyncGenerator<string | Uint8Array> {
  yield headOf(MESSAGE_COLUMNS, format)
  const filters = { ...NO_FILTERS, ...period, status, template, keyType: key.key_type }
  yield* ahead(written(app, ahead(messagePages(app, service, filters)), format))
}

async function* written(
  { reportThread }: Pick<MessagesApp, 'reportThread'>,
  pages: ReturnType<typeof messagePages>,
  format: ReportFormat,
): AsyncGenerator<Uint8Array> {
  for await (const page of pages) yield await reportThread.messages({ ...page, format })
}
