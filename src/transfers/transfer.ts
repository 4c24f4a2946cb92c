// What moves with a service from one cell to another: everything that it owns except messages, jobs, files, events, counts and
// requests. They stay where they are until their retention ends.
import type { Row } from '../db/connect.ts'
import type { KeyPrefix } from '../keys/key.ts'
import type { RequestRow } from '../live-requests/sql/transfer.ts'
import type { ServiceRows } from '../services/sql/transfer.ts'
import type { TemplateRows } from '../templates/sql/transfer.ts'
import type { WebhookRow } from '../webhooks/sql/transfer.ts'
import type { Target } from '../webhooks/webhook.ts'

/** Settings of an installation that a moved service depends on. */
export type Cell = { keyPrefix: string; sendingDomain: string; homeCountry: string }
/** The same settings in the configuration of this installation. */
export type CellConfig = Omit<Cell, 'keyPrefix'> & { keyPrefix: KeyPrefix }

/** The content of a file of format 1. Secrets are in clear text here; the file is sealed as a whole. */
export type Transfer = ServiceRows &
  TemplateRows & {
    version: string
    exported_at: string
    cell: Cell
    keys: readonly (Row & { secret: string })[]
    samples: readonly (Row & { values: unknown })[]
    webhooks: readonly (WebhookRow & { target: Target })[]
    live_requests: readonly RequestRow[]
  }

/** How much of what, for the output of a command and for the audit log. */
export const countsOf = (transfer: Transfer) => ({
  templates: transfer.templates.length,
  versions: transfer.versions.length,
  folders: transfer.folders.length,
  keys: transfer.keys.length,
  webhooks: transfer.webhooks.length,
  members: transfer.users.length,
  reply_tos: transfer.reply_tos.length,
  senders: transfer.senders.length,
  safelist: transfer.safelist.length,
})
