// Who changed what, as people read it: with the names of services, keys, people and of what was changed. The audit table holds ids
// only, so a name is that of today; what is gone has none.
import { type Actor, requirePermission } from '../audit/actor.ts'
import { type Action, type AuditEntry, browse, type From, type Wanted } from '../audit/sql.ts'
import { zulu } from '../core/clock.ts'
import { csvRow } from '../core/csv.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { namesOf as keyNames } from '../keys/sql.ts'
import { originNames } from '../services/sql/origins.ts'
import { memberNames, namesOf as serviceNames } from '../services/sql.ts'
import { folderNames } from '../templates/sql/folders.ts'
import { templateNames } from '../templates/sql/names.ts'
import { invitedNames } from './sql/invitations.ts'
import { namesOf } from './sql/people.ts'

export type Change = AuditEntry & {
  service_name: string | null
  /** Of the key, the person or the system account. */
  who: string | null
  /** What was changed: the name of a key, a template, a person, a reply-to address. */
  subject: string | null
}

type App = { db: { sql: Sql } }

/** Rows of a page. */
export const PAGE = 50

export type ChangePage = { changes: Change[]; newer: From; older: From }

/** `scope`: the service whose changes somebody may read; null: all of the installation. */
export async function browseChanges(
  app: App,
  actor: Actor,
  scope: Id | null,
  wanted: Wanted,
  from: From,
): Promise<ChangePage> {
  const rows = await browse(app.db.sql, allowed(actor, scope, wanted), from, PAGE + 1)
  const isBackwards = from !== null && 'after' in from
  const hasMore = rows.length > PAGE
  const shown = isBackwards ? rows.slice(-PAGE) : rows.slice(0, PAGE)
  const [first, last] = [shown[0], shown.at(-1)]
  return {
    changes: await named(app.db.sql, shown),
    newer: first && (isBackwards ? hasMore : from !== null) ? { after: first.id } : null,
    older: last && (isBackwards || hasMore) ? { before: last.id } : null,
  }
}

function allowed(actor: Actor, scope: Id | null, wanted: Wanted): Wanted {
  requirePermission(actor, scope === null ? 'manage-installation' : 'manage-service', scope)
  return scope === null ? wanted : { ...wanted, service: scope }
}

const HEADER = [
  'at',
  'service',
  'service_id',
  'who',
  'actor_kind',
  'actor_id',
  'action',
  'subject',
  'subject_id',
  'detail',
]
const EXPORT_PAGE = 500

/** All that match, newest first, as CSV: a page in memory. */
export async function* exportChanges(app: App, actor: Actor, scope: Id | null, wanted: Wanted): AsyncGenerator<string> {
  const only = allowed(actor, scope, wanted)
  yield `${csvRow(HEADER)}\r\n`
  for (let from: From = null; ; ) {
    const rows = await named(app.db.sql, await browse(app.db.sql, only, from, EXPORT_PAGE))
    yield rows.map(row => `${csvRow(cellsOf(row))}\r\n`).join('')
    const last = rows.at(-1)
    if (!last || rows.length < EXPORT_PAGE) return
    from = { before: last.id }
  }
}

const cellsOf = (row: Change) => [
  zulu(row.at),
  row.service_name,
  row.service_id,
  row.who,
  row.actor_kind,
  row.actor_id,
  row.action,
  row.subject,
  row.subject_id,
  row.detail && JSON.stringify(row.detail),
]

type Names = ReadonlyMap<Id, string>
type Look = (sql: Sql, ids: readonly Id[]) => Promise<Names>

/** Where the name of a subject is looked up, by how its action begins. */
const SUBJECTS: readonly (readonly [pattern: RegExp, look: Look])[] = [
  [/^key /, keyNames],
  [/^template /, templateNames],
  [/^service /, serviceNames],
  [/^(member|role) /, memberNames],
  [/reply-to|sender/, originNames],
  [/^folder /, folderNames],
  [/^person invited|^invitation /, invitedNames],
  [/^(person|operator|account|address|sign-in link) /, namesOf],
]

const lookFor = (action: Action) => SUBJECTS.find(([pattern]) => pattern.test(action))?.[1]

/** One statement for each kind of name that occurs. */
export async function named(sql: Sql, entries: readonly AuditEntry[]): Promise<Change[]> {
  const known = async (look: Look, ids: readonly (Id | null)[]): Promise<Names> => {
    const list = [...new Set(ids.flatMap(id => id ?? []))]
    return list.length === 0 ? new Map() : look(sql, list)
  }
  const actors = (kind: Actor['kind']) => entries.map(entry => (entry.actor_kind === kind ? entry.actor_id : null))
  const [services, keys, people] = await Promise.all([
    known(
      serviceNames,
      entries.map(entry => entry.service_id),
    ),
    known(keyNames, actors('key')),
    known(namesOf, actors('person')),
  ])
  const subjects = new Map<Look, Names>()
  for (const [, look] of SUBJECTS)
    subjects.set(
      look,
      await known(
        look,
        entries.map(entry => (lookFor(entry.action) === look ? entry.subject_id : null)),
      ),
    )
  const whoOf = ({ actor_kind, actor_id, actor_name }: AuditEntry) =>
    actor_id === null ? actor_name : ((actor_kind === 'key' ? keys : people).get(actor_id) ?? null)
  return entries.map(entry => {
    const look = lookFor(entry.action)
    return {
      ...entry,
      service_name: entry.service_id && (services.get(entry.service_id) ?? null),
      who: whoOf(entry),
      subject: (look && subjects.get(look)?.get(entry.subject_id)) ?? null,
    }
  })
}
