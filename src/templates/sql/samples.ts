// Example values of templates, and drafts that a person is previewing. Both may be personal, so both are sealed.
import type { Id } from '../../core/id.ts'
import { part, type Sql } from '../../db/connect.ts'
import { purgeById } from '../../db/purge.ts'

export async function findSamples(sql: Sql, service: Id, template: Id): Promise<Buffer | null> {
  const [found] = await sql<{ sealed: Buffer }>`
    select sealed
    from template_samples
    where template_id = ${template}
      and service_id = ${service}`
  return found?.sealed ?? null
}

const kept = (template: Id, service: Id, sealed: Buffer) => part`
  insert into template_samples (template_id, service_id, sealed)
  select id, service_id, ${sealed}::bytea
  from templates
  where id = ${template}
    and service_id = ${service}
  on conflict (template_id) do update
  set sealed = excluded.sealed,
      updated_at = now()`

export const keepSamples = (sql: Sql, service: Id, template: Id, sealed: Buffer) =>
  sql`${kept(template, service, sealed)}`

export type NewDraft = { id: Id; template_id: Id; service_id: Id; person_id: Id; sealed: Buffer; samples: Buffer }

/** The newest drafts of a person are kept: a page may name one while a later preview of the same text is on its way. */
const MOST_DRAFTS = 10

/** Drops what is older or more than is kept. */
const oldDrafts = (draft: Omit<NewDraft, 'samples'>) => part`old as (
    delete from template_drafts
    where person_id = ${draft.person_id}
      and (created_at < now() - interval '1 day'
           or template_id = ${draft.template_id}
              and id not in (select id
                             from template_drafts
                             where person_id = ${draft.person_id}
                               and template_id = ${draft.template_id}
                             order by id desc
                             limit ${MOST_DRAFTS - 1}))
  )
  insert into template_drafts (id, template_id, person_id, sealed)
  select ${draft.id}::uuid, t.id, ${draft.person_id}::uuid, ${draft.sealed}::bytea
  from templates t
  where t.id = ${draft.template_id}
    and t.service_id = ${draft.service_id}`

export const keepDraft = (sql: Sql, draft: NewDraft) => sql`
  with kept as (${kept(draft.template_id, draft.service_id, draft.samples)}),
  ${oldDrafts(draft)}`

/** Without changing the example values. */
export const keepPreview = (sql: Sql, draft: Omit<NewDraft, 'samples'>) => sql`with ${oldDrafts(draft)}`

export async function findDraft(sql: Sql, service: Id, template: Id, person: Id, id: Id): Promise<Buffer | null> {
  const [found] = await sql<{ sealed: Buffer }>`
    select d.sealed
    from template_drafts d
    join templates t on t.id = d.template_id
    where d.template_id = ${template}
      and d.person_id = ${person}
      and d.id = ${id}
      and t.service_id = ${service}`
  return found?.sealed ?? null
}

export const dropDrafts = (sql: Sql, template: Id, person: Id) => sql`
  delete from template_drafts
  where template_id = ${template}
    and person_id = ${person}`

/** Deletes up to `most` drafts of all people, oldest first: their ids have the time at which they were made. */
export const purgeDrafts = (sql: Sql, before: Id, after: Id | null, most: number) =>
  purgeById(sql, part`template_drafts`, before, after, most)

/** Example values that are sealed with an earlier secret. */
export const samplesSealedBefore = (sql: Sql, current: Buffer, after: Id | null, most: number) => sql<{
  id: Id
  sealed: Buffer
}>`
  select template_id as id, sealed
  from template_samples
  where substring(sealed from 1 for 4) <> ${current}
    and (${after}::uuid is null or template_id > ${after})
  order by template_id
  limit ${most}`

/** Unless somebody changed them meanwhile. */
export const resealSamples = (sql: Sql, template: Id, before: Buffer, sealed: Buffer) => sql`
  update template_samples
  set sealed = ${sealed}
  where template_id = ${template}
    and sealed = ${before}`
