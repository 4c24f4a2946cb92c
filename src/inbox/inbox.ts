// What would have been sent, sealed at rest like the messages themselves.
import { type Clock, fromMicros, zulu } from '../core/clock.ts'
import { floorOf, type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { createBatch } from '../engine/batch.ts'
import type { EmailMessage, TextMessage } from '../providers/port.ts'
import { type Captured, find, forgetBefore, keep, page } from './sql.ts'

export type Shown = {
  id: Id
  type: 'email' | 'sms'
  at: string
  from: string | null
  to: string
  subject: string | null
  text: string
  html: string | null
}

type Kept = Omit<Shown, 'id' | 'type' | 'at'>

export type Inbox = {
  keepEmail(message: EmailMessage): Promise<void>
  keepText(message: TextMessage): Promise<void>
  list(olderThan: Id | null, size: number): Promise<Shown[]>
  get(id: Id): Promise<Shown | null>
}

export function createInbox({ sql, seal }: { sql: Sql; seal: Seal }): Inbox {
  const batch = createBatch<Captured, undefined>(
    async messages => {
      await keep(sql, messages)
      return messages.map(() => undefined)
    },
    { most: 256, inFlight: 1 },
  )
  const put = (id: Id, channel: 'email' | 'sms', kept: Kept) =>
    batch.add({ id, channel, sealed: seal.seal(JSON.stringify(kept)) })
  const shown = ({ id, channel, sealed }: Captured): Shown => ({
    id,
    type: channel,
    at: zulu(fromMicros(microsOf(id))),
    ...(JSON.parse(seal.open(sealed).toString('utf8')) as Kept),
  })
  return {
    keepEmail: ({ id, from, to, subject, text, html }) =>
      put(id, 'email', { from: `${from.name} <${from.address}>`, to, subject, text, html }),
    keepText: ({ id, from, to, text }) => put(id, 'sms', { from, to, subject: null, text, html: null }),
    list: async (olderThan, size) => (await page(sql, olderThan, size)).map(shown),
    async get(id) {
      const found = await find(sql, id)
      return found && shown(found)
    },
  }
}

const KEPT_MICROS = 7 * 86_400_000_000

/** As long as messages are kept by default. */
export const forgetInbox = (app: { db: { sql: Sql }; clock: Clock }) =>
  forgetBefore(app.db.sql, floorOf(app.clock.micros() - KEPT_MICROS))
