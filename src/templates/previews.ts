// A message that a person is about to send: the latest version of a template with the values of one recipient, kept sealed for a
// day at most, so that a frame can show it.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { areKeepable, opened, type PreviewedDraft } from './samples.ts'
import * as store from './sql/samples.ts'

type App = { db: { sql: Sql }; seal: Seal }

/** Null: the values are too many to be sent, too. */
export async function keepPreview(
  app: App & { ids: { next(): Id } },
  actor: PersonActor,
  service: Id,
  template: Id,
  previewed: PreviewedDraft,
): Promise<Id | null> {
  requirePermission(actor, 'send-messages', service)
  if (!areKeepable(previewed.values)) return null
  const id = app.ids.next()
  const sealed = app.seal.seal('template draft', JSON.stringify(previewed))
  await store.keepPreview(app.db.sql, { id, template_id: template, service_id: service, person_id: actor.id, sealed })
  return id
}

/** The person's own; null when newer ones have replaced it, or it was sent. */
export async function readPreview(
  app: App,
  actor: PersonActor,
  service: Id,
  template: Id,
  id: Id,
): Promise<PreviewedDraft | null> {
  requirePermission(actor, 'send-messages', service)
  const sealed = await store.findDraft(app.db.sql, service, template, actor.id, id)
  return sealed && opened<PreviewedDraft>(app.seal, 'template draft', sealed)
}

/** After the message was sent, nothing of it is kept here. */
export async function dropPreviews(app: App, actor: PersonActor, service: Id, template: Id): Promise<void> {
  requirePermission(actor, 'send-messages', service)
  await store.dropDrafts(app.db.sql, template, actor.id)
}
