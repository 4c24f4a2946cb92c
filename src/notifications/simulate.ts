// Messages of test keys are not sent. Their final status is `delivered`, or a failure for four special recipients.
import { recipientKey } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Entry, Work } from '../engine/work.ts'
import type { Services } from '../services/load.ts'
import { isActive } from '../services/service.ts'
import type { Templates } from '../templates/cache.ts'
import { type DeliveryResult, writeResults } from './deliver.ts'
import { openPersonal } from './notification.ts'
import { type Due, due } from './sql/record.ts'
import { NOT_ACTIVE } from './status.ts'

const FAILURES = new Map<string, 'temporary-failure' | 'permanent-failure'>([
  ['temp-fail@simulator.notify', 'temporary-failure'],
  ['perm-fail@simulator.notify', 'permanent-failure'],
  ['+15149301633', 'temporary-failure'],
  ['+15149301632', 'permanent-failure'],
])

type App = { sql: Sql; seal: Seal; services: Services; templates: Templates }

export function simulate(app: App): Work<Due, DeliveryResult> {
  return {
    async load(tickets) {
      const rows = await due(
        app.sql,
        tickets.flatMap(ticket => ticket.subjects),
      )
      return new Map(rows.map((row): [Id, Due] => [row.id, row]))
    },
    async handle(item) {
      const service = await app.services.get(item.service_id)
      if (!isActive(service)) return { kind: 'done', result: failed(NOT_ACTIVE) }
      const { to, values, e164 } = openPersonal(app.seal, item.sealed)
      const { compiled } = await app.templates.version(item.template_id, item.template_version)
      // Blank messages fail with every type of key (contract 22.2).
      if (compiled.isBlank(values)) return { kind: 'done', result: failed('empty message') }
      const status = FAILURES.get(e164 ?? recipientKey(to, item.channel) ?? '') ?? 'delivered'
      return { kind: 'done', result: ended(status) }
    },
    setAside: () => ended('delivered'),
  }
}

/** The inbox shows what was simulated. It is added first: a message that is `delivered` is there. */
export const writeSimulated = (
  app: Parameters<typeof writeResults>[0] & { noteInInbox(ids: readonly Id[]): Promise<void> },
) => {
  const write = writeResults(app)
  return async (entries: readonly Entry<DeliveryResult>[]): Promise<void> => {
    await app.noteInInbox(entries.flatMap(({ id, result }) => (id && result?.provider === SIMULATION ? [id] : [])))
    await write(entries)
  }
}

const SIMULATION = 'simulation'

const NOTHING = {
  ref: null,
  response: null,
  detail: null,
  reply: null,
  uncertain: false,
  took: null,
  parts: null,
  delay: null,
}

const ended = (status: 'delivered' | 'temporary-failure' | 'permanent-failure'): DeliveryResult => ({
  ...NOTHING,
  status,
  moves: ['sending', status],
  provider: SIMULATION,
})

const failed = (response: string): DeliveryResult => ({
  ...NOTHING,
  status: 'technical-failure',
  moves: ['technical-failure'],
  provider: null,
  response,
})
