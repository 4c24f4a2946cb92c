// Example values of a template, for its preview and for a test to oneself, and the draft that a person is previewing.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { StoredPurpose } from '../core/purposes.ts'
import { openable, type Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { Draft } from './draft.ts'
import * as store from './sql/samples.ts'

/** The most characters of all values, as for a message. */
const MOST = 51_200

/** Whether the values are few enough to be kept. */
export const areKeepable = (values: Values): boolean =>
  Object.entries(values).reduce((sum, [name, value]) => sum + name.length + JSON.stringify(value).length, 0) <= MOST

type App = { db: { sql: Sql }; seal: Seal }

export async function readSamples(app: App, service: Id, template: Id): Promise<Values> {
  const sealed = await store.findSamples(app.db.sql, service, template)
  return sealed ? (opened<Values>(app.seal, 'template samples', sealed) ?? {}) : {}
}

export async function keepSamples(
  app: App,
  actor: PersonActor,
  service: Id,
  template: Id,
  values: Values,
): Promise<void> {
  requirePermission(actor, 'manage-templates', service)
  await store.keepSamples(app.db.sql, service, template, app.seal.seal('template samples', JSON.stringify(values)))
  await store.dropDrafts(app.db.sql, template, actor.id)
}

/** `version`: the one that was edited. */
export type PreviewedDraft = { draft: Draft; values: Values; version: number }

/** Keeps what is being written until it is saved, so that a frame can show it, and the example values. */
export async function keepDraft(
  app: App & { ids: { next(): Id } },
  actor: PersonActor,
  service: Id,
  template: Id,
  previewed: PreviewedDraft,
): Promise<Id> {
  requirePermission(actor, 'manage-templates', service)
  const id = app.ids.next()
  await store.keepDraft(app.db.sql, {
    id,
    template_id: template,
    service_id: service,
    person_id: actor.id,
    sealed: app.seal.seal('template draft', JSON.stringify(previewed)),
    samples: app.seal.seal('template samples', JSON.stringify(previewed.values)),
  })
  return id
}

/** The person's own draft; null when it was saved, or newer ones have replaced it. */
export async function readDraft(
  app: App,
  actor: PersonActor,
  service: Id,
  template: Id,
  id: Id,
): Promise<PreviewedDraft | null> {
  requirePermission(actor, 'manage-templates', service)
  const sealed = await store.findDraft(app.db.sql, service, template, actor.id, id)
  return sealed && opened<PreviewedDraft>(app.seal, 'template draft', sealed)
}

/** Null: sealed with a secret that is not configured any more. */
export function opened<T>(seal: Seal, purpose: StoredPurpose, sealed: Buffer): T | null {
  const text = openable(seal, purpose, sealed)
  return text && (JSON.parse(text.toString('utf8')) as T)
}
