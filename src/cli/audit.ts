import { type AuditEntry, entries } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { namesOf as keyNames } from '../keys/sql.ts'
import { find } from '../services/find.ts'
import { namesOf as serviceNames } from '../services/sql.ts'
import { type Command, withStore } from './command.ts'
import { firstLine, listing, minute, moment } from './print.ts'

const MOST = 100

export const auditCommands: readonly Command[] = [
  {
    noun: 'audit',
    options: [
      {
        name: 'service',
        value: 'SERVICE',
        sentence: 'Only of this service: its name, its id, or the first characters of its id (at least 8).',
      },
      { name: 'most', value: 'NUMBER', number: true, sentence: `How many entries to show. Default: ${MOST}.` },
    ],
    sentence: 'Show who changed keys, templates and services, and who cancelled what; newest first.',
    more: 'WHO is an API key, or the operator with the name of the system account that ran the command. An entry is added in the same transaction as the change and cannot be changed or deleted. Entries hold ids and settings, never recipients or contents of messages.',
    examples: ['herald audit --service "Parking permits" --most 20'],
    run: withStore(async (store, input) => {
      const named = input.maybe('service')
      const service = named === undefined ? null : (await find(store, named)).id
      const found = await withNames(store.db.sql, await entries(store.db.sql, service, input.number('most') ?? MOST))
      const rows = found.map(entry => [
        minute(entry.at),
        entry.service,
        who(entry),
        entry.action,
        entry.subject_id,
        entry.detail && JSON.stringify(entry.detail),
      ])
      return {
        text: listing(['WHEN', 'SERVICE', 'WHO', 'DID', 'TO', 'DETAIL'], rows, 'Nothing was changed yet.'),
        data: { audit: found.map(entry => ({ ...entry, at: moment(entry.at) })) },
      }
    }),
  },
]

type NamedEntry = AuditEntry & { service: string | null }

/** Entries hold the ids of services and keys; their names are looked up. */
async function withNames(sql: Sql, found: readonly AuditEntry[]): Promise<NamedEntry[]> {
  const services = await serviceNames(sql, unique(found.flatMap(entry => entry.service_id ?? [])))
  const keys = await keyNames(sql, unique(found.flatMap(entry => entry.key_id ?? [])))
  return found.map(entry => ({
    ...entry,
    service: entry.service_id && (services.get(entry.service_id) ?? null),
    actor_name: entry.key_id === null ? entry.actor_name : (keys.get(entry.key_id) ?? null),
  }))
}

const unique = (ids: readonly Id[]) => [...new Set(ids)]

/** `key website (0190…)`, `operator deploy`; without the name where it is not known. */
const who = ({ actor_kind, actor_id, actor_name }: NamedEntry) =>
  [actor_kind, actor_name && firstLine(actor_name), actor_id && (actor_name ? `(${actor_id})` : actor_id)]
    .filter(Boolean)
    .join(' ')
