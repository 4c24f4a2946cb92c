// A service of this database in the form of a file.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Row, Sql } from '../db/connect.ts'
import { exportKeys } from '../keys/sql/transfer.ts'
import { isUnknown } from '../keys/unknown-secret.ts'
import { exportService } from '../services/sql/transfer.ts'
import { exportTemplates } from '../templates/sql/transfer.ts'
import { exportWebhooks } from '../webhooks/sql/transfer.ts'
import { openTarget } from '../webhooks/webhook.ts'
import { FIELDS, type GivenService, picked } from './form.ts'

/** With every list. Secrets of keys and webhooks are in it: the writer of a file takes them out. */
export type Collected = Required<Pick<GivenService, Lists>> & GivenService
type Lists = 'team' | 'reply_to_addresses' | 'text_senders' | 'safelist' | 'folders' | 'templates' | 'keys' | 'webhooks'

/** Null: there is no such service. */
export async function collected(sql: Sql, seal: Seal, service: Id): Promise<Collected | null> {
  const rows = await exportService(sql, service)
  if (!rows) return null
  const { folders, templates, versions } = await exportTemplates(sql, service)
  const keys = await exportKeys(sql, service)
  const webhooks = await exportWebhooks(sql, service)
  const versionsOf = grouped(versions, 'template_id')
  const all = <T>(fields: readonly string[], rows: readonly Row[]) => rows.map(row => picked<T>(fields, row))
  return {
    ...picked<GivenService>(FIELDS.service, rows.service),
    team: all(FIELDS.member, rows.users.toSorted(byTimeAnd('email_address'))),
    reply_to_addresses: all(FIELDS.replyTo, rows.reply_tos),
    text_senders: all(FIELDS.sender, rows.senders),
    // Ids of these rows are not written: nobody outside knows them.
    safelist: all(FIELDS.entry, rows.safelist.toSorted(byTimeAnd('recipient'))),
    folders: all(FIELDS.folder, folders),
    templates: templates.map(template => ({
      ...picked<Collected['templates'][number]>(FIELDS.template, template),
      versions: all(FIELDS.version, versionsOf.get(template.id) ?? []),
    })),
    keys: keys.map(({ secret_sealed, key_type, ...key }) => {
      const secret = seal.open('key secret', secret_sealed).toString('utf8')
      return {
        ...picked<Collected['keys'][number]>(FIELDS.key, { ...key, type: key_type }),
        secret: isUnknown(secret) ? null : secret,
      }
    }),
    webhooks: webhooks.map(({ sealed, with_recipient, ...webhook }) => {
      const { url, token, secrets } = openTarget(seal, sealed)
      return {
        ...picked<Collected['webhooks'][number]>(FIELDS.hook, { ...webhook, url, include_recipient: with_recipient }),
        // Earlier secrets, which sign for a day after a change, stay behind.
        secret: token ?? secrets[0]?.secret ?? null,
      }
    }),
  }
}

export function grouped(rows: readonly Row[], field: string): Map<unknown, Row[]> {
  const groups = new Map<unknown, Row[]>()
  for (const row of rows) {
    const group = groups.get(row[field])
    if (group) group.push(row)
    else groups.set(row[field], [row])
  }
  return groups
}

const byTimeAnd = (field: string) => (a: Row, b: Row) =>
  compare(a.created_at, b.created_at) || compare(a[field], b[field])
const compare = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0)
