import { type Actor, requirePermission } from '../audit/actor.ts'
import { record } from '../audit/sql.ts'
import { type Clock, fromMicros, zulu } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { exportKeys } from '../keys/sql/transfer.ts'
import { exportRequests } from '../live-requests/sql/transfer.ts'
import { refuse as refuseService } from '../services/refusals.ts'
import { exportService } from '../services/sql/transfer.ts'
import { opened } from '../templates/samples.ts'
import { exportSamples, exportTemplates } from '../templates/sql/transfer.ts'
import { exportWebhooks } from '../webhooks/sql/transfer.ts'
import { openTarget } from '../webhooks/webhook.ts'
import { SHORTEST_PASSPHRASE, seal } from './file.ts'
import { refuse } from './refusals.ts'
import { snapshot } from './sql.ts'
import { type Cell, type CellConfig, countsOf, type Transfer } from './transfer.ts'

type App = { db: Pick<Database, 'transaction'>; clock: Clock; seal: Seal; config: CellConfig }

/** The service as the bytes of a file. The audit log records that its secrets have left the database. */
export async function exportTo(
  app: App,
  actor: Actor,
  service: Id,
  passphrase: string,
  version: string,
): Promise<{ file: Buffer; transfer: Transfer }> {
  requirePermission(actor, 'manage-installation', null)
  if (passphrase.trim().length < SHORTEST_PASSPHRASE) throw refuse.shortPassphrase(SHORTEST_PASSPHRASE)
  const transfer = await collected(app, actor, service, version)
  return { file: await seal(transfer, passphrase), transfer }
}

const collected = (app: App, actor: Actor, service: Id, version: string): Promise<Transfer> =>
  app.db.transaction(async sql => {
    await snapshot(sql)
    const rows = await exportService(sql, service)
    if (!rows) throw refuseService.unknownService(service)
    const keys = await exportKeys(sql, service)
    const samples = await exportSamples(sql, service)
    const webhooks = await exportWebhooks(sql, service)
    const transfer: Transfer = {
      version,
      exported_at: zulu(fromMicros(app.clock.micros())),
      cell: cellOf(app.config),
      ...rows,
      ...(await exportTemplates(sql, service)),
      keys: keys.map(({ secret_sealed, ...key }) => ({
        ...key,
        secret: app.seal.open('key secret', secret_sealed).toString('utf8'),
      })),
      samples: samples.map(({ sealed, ...sample }) => ({
        ...sample,
        values: opened(app.seal, 'template samples', sealed) ?? {},
      })),
      webhooks: webhooks.map(({ sealed, ...webhook }) => ({ ...webhook, target: openTarget(app.seal, sealed) })),
      live_requests: await exportRequests(sql, service),
    }
    await record(sql, 'service exported', actor, service, service, countsOf(transfer))
    return transfer
  })

export const cellOf = ({ keyPrefix, sendingDomain, homeCountry }: CellConfig): Cell => ({
  keyPrefix: keyPrefix.own,
  sendingDomain,
  homeCountry,
})
