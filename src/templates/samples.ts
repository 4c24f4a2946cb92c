// Example values of a template, for its preview and for a test to oneself, and the draft that a person is previewing.
import { type PersonActor, requirePermission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
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
  return sealed ? (opened<Values>(app.seal, sealed) ?? {}) : {}
}

export async function keepSamples(
  app: App,
  actor: PersonActor,
  service: Id,
  template: Id,
  values: Values,
): Promise<void> {
  requirePermission(actor, 'manage-templates', service)
  await store.keepSamples(app.db.sql, service, template, app.seal.seal(JSON.stringify(values)))
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
    sealed: app.seal.seal(JSON.stringify(previewed)),
    samples: app.seal.seal(JSON.stringify(previewed.values)),
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
  return sealed && opened<PreviewedDraft>(app.seal, sealed)
}

/** Null: sealed with a secret that is not configured any more. */
export function opened<T>(seal: Seal, sealed: Buffer): T | null {
  try {
    return JSON.parse(seal.open(sealed).toString('utf8')) as T
  } catch {
    return null
  }
}

/** After a change of the sealing secret, the next start seals example values with the new one, as it does with keys. */
export async function resealSamples(app: { sql: Sql; seal: Seal }): Promise<void> {
  for (const { template_id, sealed } of await store.samplesSealedBefore(app.sql, app.seal.id)) {
    const values = opened<Values>(app.seal, sealed) ?? {}
    await store.resealSamples(app.sql, template_id, sealed, app.seal.seal(JSON.stringify(values)))
  }
}
