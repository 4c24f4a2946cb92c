// The parts of the service that sending or checking one message needs.
import { followDatabase } from '../db/clock.ts'
import { createFilePlace } from '../delivery.ts'
import { createAccept } from '../notifications/accept.ts'
import type { CheckApp } from '../notifications/check.ts'
import type { CopyApp } from '../notifications/copy.ts'
import type { Store } from '../parts.ts'
import { homePlan } from '../recipients/plans.ts'
import { createRenderThread } from '../rendering/thread.ts'
import { createServices } from '../services/load.ts'
import { createSimulated } from '../services/simulated.ts'
import { createLog } from '../telemetry/log.ts'
import { createTemplates } from '../templates/cache.ts'

export type SendingApp = CopyApp & CheckApp

/** This process sends nothing: it stores the message, and an engine looks for it every second. */
export async function withApp<T>(store: Store, work: (app: SendingApp) => Promise<T>): Promise<T> {
  const { config, db, clock } = store
  const files = createFilePlace(store, createLog('silent'))
  const renderThread = createRenderThread()
  try {
    return await work({
      ...store,
      services: createServices(db.sql, clock, config),
      templates: createTemplates(db.sql, clock),
      simulated: createSimulated(config.sendingDomain, config.simulatedRecipients, homePlan(config.homeCountry)),
      files,
      renderThread,
      sendingDomain: config.sendingDomain,
      accept: createAccept({
        db,
        clock,
        dispatcher: { initialLease: () => null, hand() {} },
        timeoutSeconds: config.databaseSeconds - 0.5,
        trace: null,
        mustReplicate: config.replication === 'required',
        followClock: () => followDatabase(db.sql, clock),
      }),
    })
  } finally {
    await renderThread.stop()
    await files.stop()
  }
}
