// Which refusals belong to which section of the reference.
import { sentences as bulk } from '../bulk/refusals.ts'
import type { Sentences } from '../core/refusal.ts'
import { sentences as feed } from '../feed/refusals.ts'
import { sentences as files } from '../files/refusals.ts'
import { answerOf } from '../http/errors.ts'
import { sentences as http } from '../http/refusals.ts'
import { sentences as fields } from '../http/validation.ts'
import { sentences as inbox } from '../inbox/refusals.ts'
import { sentences as keys } from '../keys/refusals.ts'
import { sentences as limits } from '../limits/refusals.ts'
import { sentences as notifications } from '../notifications/refusals.ts'
import { sentences as replays } from '../replays/refusals.ts'
import { sentences as reports } from '../reports/refusals.ts'
import { sentences as templates } from '../templates/refusals.ts'
import { sentences as webhooks } from '../webhooks/refusals.ts'

export type ShownRefusal = { status: number; error: string; sentence: string }

const listed = (...tables: readonly Sentences[]): ShownRefusal[] => {
  const rows = tables.flatMap(table =>
    Object.values(table).map(([kind, sentence]) => {
      const [status, error] = answerOf(kind)
      return { status, error, sentence }
    }),
  )
  return [...new Map(rows.map(row => [`${row.status} ${row.sentence}`, row])).values()].sort(
    (a, b) => a.status - b.status,
  )
}

/** Of every operation. */
export const COMMON: readonly ShownRefusal[] = listed(http, keys, limits)

/** Of fields, where a body or a query has some. */
export const OF_FIELDS: readonly ShownRefusal[] = fields.map(sentence => ({
  ...{ status: 400, error: 'ValidationError', sentence },
}))

const OF_TAG: Readonly<Record<string, readonly ShownRefusal[]>> = {
  Messages: listed(notifications, templates, files, replays),
  'Bulk jobs': listed(bulk, notifications, templates, replays),
  Templates: listed(templates),
  Events: listed(feed),
  Inbox: listed(inbox),
  Reports: listed(reports),
  Webhooks: listed(webhooks),
}

/** Of a section that has no table of its own: what a send may be refused for. */
const OF_SENDS = listed(notifications, bulk, templates)

export const refusalsOf = (tag: string): readonly ShownRefusal[] => OF_TAG[tag] ?? OF_SENDS
