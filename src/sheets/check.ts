// Checks a sheet before it is sent, by the same code as the send.
import { createHash } from 'node:crypto'
import type { PersonActor } from '../audit/actor.ts'
import { type CheckBulkApp, type CheckedBulk, checkBulk } from '../bulk/check-file.ts'
import type { BulkThread, FileRules } from '../bulk/thread.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { refuse as refuseSend } from '../notifications/refusals.ts'
import type { Services } from '../services/load.ts'
import { type BulkOptions, bulkHead, bulkRequestOf } from './body.ts'
import type { CheckedRows, SheetChecks } from './checks.ts'
import { unclearConditions } from './conditions.ts'
import { type LoadedSheet, loadReady, type SheetApp } from './read.ts'
import type { Sheet, UnclearValues } from './sheet.ts'

/** `lines`: of each row of the report, whose first row is 1. */
export type CheckedSheet = Pick<CheckedBulk, 'report' | 'errors'> & {
  sheet: Sheet
  lines: readonly number[]
  unclear: readonly UnclearValues[]
}

export async function check(
  app: ThreadApp & CheckBulkApp & { services: Services },
  actor: PersonActor,
  serviceId: Id,
  id: Id,
  options: BulkOptions,
): Promise<CheckedSheet> {
  const loaded = await loadReady(app, actor, serviceId, id)
  const service = await app.services.get(serviceId)
  if (!service) throw refuseSend.notFound()
  const { bulkThread, head, found } = threadFor(app, loaded, options)
  const { report, errors } = await checkBulk({ ...app, bulkThread }, { service, actor, key_type: 'normal' }, head)
  return { report, errors, ...found(), sheet: loaded.sheet }
}

type ThreadApp = SheetApp & { clock: Clock; bulkThread: BulkThread; sheets: { checks: SheetChecks } }

/** A thread for the check of one sheet, which reads its rows only when they must be checked. */
function threadFor(app: ThreadApp, loaded: LoadedSheet, options: BulkOptions) {
  const { id, service_id } = loaded.record
  let last: Pick<CheckedRows, 'lines' | 'unclear'> = { lines: [], unclear: [] }

  async function checkRows(rules: FileRules): Promise<CheckedRows> {
    const request = await bulkRequestOf(app, loaded, options)
    const checked = await app.bulkThread.examine(service_id, request.body, async thread => {
      await thread.read(app.clock.now())
      return thread.check(rules)
    })
    return { checked, lines: request.lines, unclear: await unclearConditions(app, loaded, rules) }
  }

  const bulkThread: Pick<BulkThread, 'examine'> = {
    examine: (service, head, work) =>
      work({
        read: now => app.bulkThread.examine(service, head, thread => thread.read(now)),
        async check(rules) {
          const found = await app.sheets.checks.once(id, keyOf(loaded, rules), () => checkRows(rules))
          last = { lines: found.lines, unclear: found.unclear }
          return found.checked
        },
      }),
  }
  return { bulkThread, head: bulkHead(loaded, options), found: () => last }
}

/** Everything that the result depends on. Not the time: in a check it only numbers messages, which are not made. */
function keyOf({ record, header, match }: LoadedSheet, { dueMicros: _, ...rules }: FileRules): string {
  return createHash('sha256')
    .update(JSON.stringify([header, match, record.left_out, rules]))
    .digest('base64')
}
