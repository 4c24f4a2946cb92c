// Keys, safelist, request log and webhooks of a planted service.
import type { Operator } from '../../../src/audit/actor.ts'
import type { Id } from '../../../src/core/id.ts'
import { eventId } from '../../../src/events/event.ts'
import { create as createKey } from '../../../src/keys/create.ts'
import { revoke } from '../../../src/keys/revoke.ts'
import type { Parts } from '../../../src/parts.ts'
import type { ShownService } from '../../../src/services/sql.ts'
import { create as createWebhook } from '../../../src/webhooks/create.ts'

const OPERATOR: Operator = { kind: 'operator', name: 'tests' }
const DAY_MS = 86_400_000

/** `spareKey` is used by nothing. */
export type PlantedForDevelopers = { spareKey: Id; webhooks: { active: Id; disabled: Id } }

export async function plantForDevelopers(
  parts: Parts,
  service: ShownService,
  mark: string,
): Promise<PlantedForDevelopers> {
  const key = (name: string, key_type: 'normal' | 'team' | 'test', days?: number) =>
    createKey(parts, OPERATOR, service, {
      ...{ name: name + mark, key_type, manage_webhooks: key_type === 'team' },
      ...(days !== undefined && { ends_at: parts.clock.now() + days * DAY_MS }),
    })
  const spare = await key('Staging', 'team', 9.5)
  const old = await key('Old importer', 'normal')
  await revoke(parts, OPERATOR, old.id)
  const owner = { service_id: service.id, key_type: 'normal' as const }
  const active = await createWebhook(parts, OPERATOR, owner, {
    url: 'https://hooks.eastmere.example/herald',
    include_recipient: true,
  })
  const disabled = await createWebhook(parts, OPERATOR, owner, {
    url: 'https://bi.eastmere.example/in/messages?source=herald&environment=production&region=north',
  })
  const { sql } = parts.db
  await sql`
    update webhooks set state = 'disabled', reason = 'failing', failures = 40, failing_since = now() - interval '3 days'
    where id = ${disabled.webhook.id}`
  await sql`
    update webhooks set failures = 2, failing_since = now() - interval '9 minutes', succeeded_at = now() - interval '12 minutes'
    where id = ${active.webhook.id}`
  await plantAttempts(parts, service.id, active.webhook.id)
  parts.requests.note(service.id, 400, () => ({
    ...{ key_id: spare.id, method: 'POST', path: '/v2/notifications/email', took_ms: 4 },
    ...{ error: 'ValidationError', reason: 'template_id is a required property' },
  }))
  return { spareKey: spare.id, webhooks: { active: active.webhook.id, disabled: disabled.webhook.id } }
}

async function plantAttempts(parts: Parts, service: Id, webhook: Id): Promise<void> {
  const { sql } = parts.db
  const groups = await sql<{ id: Id; stamp: string; seq: string; subjects: Id[] }>`
    select id, stamp::text, seq::text, subjects from events
    where service_id = ${service} and key_type = 'normal' and channel is not null order by id limit 4`
  const answers = [
    [204, null, '', [96]],
    [502, null, '<html><head><title>502 Bad Gateway</title></head></html>', [30]],
    [null, 'no answer in 10 s', '', [10_000]],
    [502, null, '<html><head><title>502 Bad Gateway</title></head></html>', [12]],
  ] as const
  for (const [at, group] of groups.entries()) {
    const [status, error, answer, took] = answers[at] ?? answers[0]
    await sql`
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error, answer)
      values (${parts.ids.next()}, ${webhook}, now(), ${[eventId(group.id, 0)]}::uuid[], ${group.stamp}::bigint,
              ${[...took]}::integer[], ${status}, ${error}, ${answer === '' ? null : parts.seal.seal('webhook answer', answer)})`
  }
  const [first, second] = groups
  if (first && second)
    await sql`
      insert into webhook_attempts (id, webhook_id, at, events, stamp, took, status, error, answer)
      values (${parts.ids.next()}, ${webhook}, now(), ${[eventId(first.id, 0), eventId(second.id, 0)]}::uuid[],
              ${first.stamp}::bigint, ${[40]}::integer[], 204, null, null)`
  if (first)
    await sql`
      insert into webhook_retries (webhook_id, event, stamp, seq, subject, failures, next_at, status)
      values (${webhook}, ${eventId(first.id, 0)}, ${first.stamp}::bigint, ${first.seq}::bigint, ${first.subjects[0]}, 2,
              now() + interval '1 hour', 422)`
}
