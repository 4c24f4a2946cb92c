// What was not sent to anyone: messages that the capture provider kept, and messages of test keys. Both are sealed at rest. The
// capture provider's are rows of their own; those of test keys are rendered from the stored message when somebody looks, so
// they cost nothing when they are sent and go with their messages.
import { setImmediate as turn } from 'node:timers/promises'
import { fromMicros, zulu } from '../core/clock.ts'
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { createBatch } from '../engine/batch.ts'
import { emailOf, textOf } from '../notifications/deliver.ts'
import { openPersonal } from '../notifications/notification.ts'
import type { EmailMessage, TextMessage } from '../providers/port.ts'
import type { Email } from '../rendering/compile.ts'
import type { Values } from '../rendering/placeholders.ts'
import { largeEmail, type RenderThread } from '../rendering/thread.ts'
import type { Services } from '../services/load.ts'
import type { Compiled, Templates } from '../templates/cache.ts'
import { type Captured, find, findTested, keep, page, type Tested, testedPage } from './sql.ts'

export type Shown = {
  id: Id
  type: 'email' | 'sms'
  at: string
  /** Sent with a test key; otherwise it was captured because its channel has no provider. */
  test: boolean
  from: string | null
  to: string
  subject: string | null
  text: string
  html: string | null
}

type Kept = Omit<Shown, 'id' | 'type' | 'at' | 'test'>

export type Inbox = {
  keepEmail(message: EmailMessage): Promise<void>
  keepText(message: TextMessage): Promise<void>
  /** `hasMore`: older ones may follow. A page of large messages is shorter than `size`. */
  list(olderThan: Id | null, size: number): Promise<{ messages: Shown[]; hasMore: boolean }>
  get(id: Id): Promise<Shown | null>
}

export type InboxApp = {
  sql: Sql
  seal: Seal
  services: Services
  templates: Templates
  renderThread: Pick<RenderThread, 'email'>
  sendingDomain: string
}

/** A message can be 2,000,000 characters long: a page of them is bounded by size too. */
const PAGE_BYTES = 8_000_000
/** What the inbox keeps of a text: enough to look at, and sealed in a few milliseconds. */
const MOST_CHARACTERS = 250_000

export function createInbox(app: InboxApp): Inbox {
  const { sql, seal } = app
  const batch = createBatch<Captured, undefined>(
    async messages => {
      await keep(sql, messages)
      return messages.map(() => undefined)
    },
    { most: 256, inFlight: 1 },
  )
  const put = (id: Id, channel: 'email' | 'sms', kept: Kept) =>
    batch.add({ id, channel, sealed: seal.seal(JSON.stringify(kept)) })
  return {
    keepEmail: message => put(message.id, 'email', keptEmail(message)),
    keepText: message => put(message.id, 'sms', keptText(message)),
    async list(olderThan, size) {
      const captured = await page(sql, olderThan, size, PAGE_BYTES)
      const tested = await testedPage(sql, olderThan, size)
      const all = [...captured, ...tested].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, size)
      const messages: Shown[] = []
      let bytes = 0
      for (const row of all) {
        const message = await shown(app, row)
        messages.push(message)
        bytes += 'service_id' in row ? message.text.length + (message.html?.length ?? 0) : row.sealed.length
        if (bytes >= PAGE_BYTES) break
        await turn()
      }
      return { messages, hasMore: messages.length < all.length || messages.length === size || bytes >= PAGE_BYTES }
    },
    async get(id) {
      const found = (await find(sql, id)) ?? (await findTested(sql, id))
      return found && shown(app, found)
    },
  }
}

const keptEmail = ({ from, to, subject, text, html }: EmailMessage): Kept => ({
  from: `${from.name} <${from.address}>`,
  to,
  subject: shortened(subject),
  text: shortened(text),
  html: shortened(html),
})
const shortened = (text: string) => (text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text)
const keptText = ({ from, to, text }: TextMessage): Kept => ({ from, to, subject: null, text, html: null })

async function shown(app: InboxApp, row: Captured | Tested): Promise<Shown> {
  const { id, channel: type } = row
  const test = 'service_id' in row
  const kept = test ? await rendered(app, row) : (JSON.parse(app.seal.open(row.sealed).toString('utf8')) as Kept)
  return { id, type, at: zulu(fromMicros(microsOf(id))), test, ...kept }
}

async function rendered(app: InboxApp, row: Tested): Promise<Kept> {
  const service = await app.services.get(row.service_id)
  if (!service) throw new Error('a message without its service')
  const item = { ...row, version: await app.templates.version(row.template_id, row.template_version) }
  const personal = openPersonal(app.seal, row.sealed)
  return row.channel === 'email'
    ? keptEmail(emailOf(app, item, service, personal.to, await emailFrom(app, item.version, personal.values), []))
    : keptText(textOf(item, service, personal))
}

async function emailFrom(app: InboxApp, version: Compiled, values: Values): Promise<Email> {
  if (version.type !== 'email') throw new Error('an e-mail with a template of another type')
  const { compiled, source } = version
  if (compiled.isTooLarge(values)) return { subject: '', text: '', html: '' } // accepted before there was a limit
  return compiled.mergedUnits(values) > largeEmail ? app.renderThread.email(source, values) : compiled.render(values)
}
