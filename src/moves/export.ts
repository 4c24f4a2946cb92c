import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { allServices } from '../services/sql.ts'
import { exportCategories } from '../templates/sql/transfer.ts'
import { snapshot } from '../transfers/sql.ts'
import { type Collected, collected } from './collect.ts'
import { FORMAT, type GivenService, type Move, NAME } from './form.ts'

type App = { db: Pick<Database, 'transaction'>; seal: Seal }

/** Secrets are in an object of their own, by the id of their key or webhook. The audit log records when they leave the database. */
export async function exportMove(
  app: App,
  actor: Actor,
  wanted: { services: readonly Id[] | 'all'; withSecrets: boolean },
  onService: (done: number, total: number) => void = () => {},
): Promise<{ move: Move; secrets: Record<string, string> }> {
  requirePermission(actor, 'manage-installation', null)
  return app.db.transaction(async sql => {
    await snapshot(sql)
    const services: Collected[] = []
    const ids = wanted.services === 'all' ? await allServices(sql) : wanted.services
    for (const id of ids) {
      const service = await collected(sql, app.seal, id)
      if (!service) throw refuseService.unknownService(id)
      services.push(service)
      onService(services.length, ids.length)
      const { keys, webhooks } = service
      const counts = { keys: keys.length, webhooks: webhooks.length }
      if (wanted.withSecrets) await record(sql, 'service exported', actor, id, id, counts)
    }
    services.sort((a, b) => ((a.created_at ?? '') + a.id < (b.created_at ?? '') + b.id ? -1 : 1))
    return {
      move: {
        is: NAME,
        format: FORMAT,
        categories: await exportCategories(sql),
        services: services.map(withoutSecrets),
      },
      secrets: wanted.withSecrets ? secretsOf(services) : {},
    }
  })
}

const withoutSecrets = (service: Collected): GivenService => ({
  ...service,
  keys: service.keys.map(({ secret, ...key }) => key),
  webhooks: service.webhooks.map(({ secret, ...webhook }) => webhook),
})

const secretsOf = (services: readonly Collected[]): Record<string, string> =>
  Object.fromEntries(
    services.flatMap(({ keys, webhooks }) =>
      [...keys, ...webhooks].flatMap(({ id, secret }) => (secret ? [[id, secret]] : [])),
    ),
  )
