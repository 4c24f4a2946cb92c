// Shared by the tests of sends and reads: templates, due times, and messages in states set without an engine.
import type { Id } from '../../src/core/id.ts'
import { CATEGORY, type Caller, type World } from './world.ts'

export const EMAIL = '/v2/notifications/email'
export const SMS = '/v2/notifications/sms'
export const LIST = '/v2/notifications'

export const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
export const ZULU = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

type Service = Awaited<ReturnType<World['service']>>
export type Key = Awaited<ReturnType<Service['key']>>

export const emailTemplate = (key: Caller, content = 'Hello ((name))', subject = 'Dear ((name))') =>
  template(key, { template_type: 'email', content, subject })

export const smsTemplate = (key: Caller, content = 'Hi ((name))') => template(key, { template_type: 'sms', content })

async function template(key: Caller, fields: object): Promise<Id> {
  const made = await key.post('/v2/manage-template', {
    name: 'A template',
    template_category_id: CATEGORY.general,
    ...fields,
  })
  if (made.status !== 201) throw new Error(`the template was refused: ${made.text}`)
  return made.body.id
}

/** Bodies as text, for values that JSON.stringify does not write. */
export const rawEmail = (template: Id, personalisation: string) =>
  `{"email_address":"a@example.net","template_id":"${template}","personalisation":${personalisation}}`
export const rawSms = (template: Id, personalisation: string) =>
  `{"phone_number":"+16135550123","template_id":"${template}","personalisation":${personalisation}}`

/** A due time, in UTC and without a zone. */
export const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)

/** Removes a scheduled message from the queue and its schedule, so that only the test changes its state. */
export async function hold({ parts: { db } }: World, id: Id): Promise<void> {
  await db.sql`delete from tickets where ${id} = any (subjects)`
  await db.sql`update notifications set scheduled_for = null where id = ${id}`
}

type State = {
  status: string
  sent_at?: string
  completed_at?: string
  provider_response?: string
  failure_detail?: string
}

export const FINAL = [
  'sent',
  'delivered',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'virus-scan-failed',
]

/** Writes a state as the engine does. */
export async function putState({ parts: { db } }: World, id: Id, state: State): Promise<void> {
  const completed = state.completed_at ?? (FINAL.includes(state.status) ? '2026-06-15T12:30:04.5Z' : null)
  await db.sql`
    update states
    set status = ${state.status},
        sent_at = ${state.sent_at ?? null}::timestamptz,
        completed_at = ${completed}::timestamptz,
        provider_response = ${state.provider_response ?? null},
        failure_detail = ${state.failure_detail ?? null}
    where id = ${id}`
}

/** Stores copies of a message under other ids; with `job`, as rows of that job. */
export async function copy({ parts: { db } }: World, id: Id, ids: readonly Id[], job: Id | null = null): Promise<void> {
  await db.sql`
    insert into notifications (id, service_id, key_id, key_type, channel, in_job, job_id, job_row, template_id,
                               template_version, lane, reference, sender_id, scheduled_for, is_international, sealed)
    select copies.id, service_id, key_id, key_type, channel, ${job}::uuid is not null, ${job}::uuid,
           case when ${job}::uuid is not null then ord end, template_id, template_version, lane, reference, sender_id,
           scheduled_for, is_international, sealed
    from notifications n, unnest(${ids}::uuid[]) with ordinality as copies (id, ord)
    where n.id = ${id}`
  await db.sql`
    insert into states (id, service_id, key_type, channel, in_job, status, sent_at, completed_at)
    select copies.id, service_id, key_type, channel, ${job}::uuid is not null, status, sent_at, completed_at
    from states s, unnest(${ids}::uuid[]) as copies (id)
    where s.id = ${id}`
}
