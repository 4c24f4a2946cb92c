// A person or an operator sends a copy of a message: a new message with the same values to the same recipient, by the template as it is now. The
// checks and limits are those of any message. Attachments are kept only until the message was sent, so many cannot be copied.
import { type Operator, type PersonActor, requirePermission } from '../audit/actor.ts'
import { PLAIN } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { isFile } from '../files/file.ts'
import { ContentGone, keyOf, nameOf, wholeOf } from '../files/keep.ts'
import { type FileRow, filesOfMessages } from '../files/sql.ts'
import type { Values } from '../rendering/placeholders.ts'
import type { Turns } from '../runtime/turns.ts'
import type { Service } from '../services/service.ts'
import { openPersonal } from './notification.ts'
import { isExpired } from './read.ts'
import { refuse } from './refusals.ts'
import { type SendAsApp, sendAs } from './send-as.ts'
import { type StoredMessage, storedMessage } from './sql/read.ts'

export type CopyApp = SendAsApp & { db: { sql: Sql }; files: { reading: Turns } }

/** Whether the files that a copy needs are still there. */
export const isCopyable = (files: readonly Pick<FileRow, 'emptied' | 'verdict'>[]): boolean =>
  files.every(file => !file.emptied && file.verdict === 'clean')

/**
 * Returns the id of the copy; null: the recipient is one for smoke tests. A copy of a test message is a test message too. It is not called in a
 * turn of the database, because attachments are read from the file store.
 */
export async function sendCopy(
  app: CopyApp,
  actor: PersonActor | Operator,
  service: Service,
  id: Id,
  { base }: { base: string },
): Promise<Id | null> {
  requirePermission(actor, 'send-messages', service.id)
  const message = await storedMessage(app.db.sql, service.id, id)
  if (!message || isExpired(app.clock, service, message)) throw refuse.notFound()
  const { to, values, e164 } = openPersonal(app.seal, message.sealed)
  const files = await filesOfMessages(app.db.sql, [id])
  if (!isCopyable(files)) throw refuse.filesGone()
  const attached = files.filter(file => file.method === 'attach')
  const copy = async () =>
    sendAs(
      app,
      actor,
      service.id,
      {
        channel: message.channel,
        to: e164 ?? to,
        template_id: message.template_id,
        reference: message.reference,
        sender_id: await senderOf(app, message),
        ...(await withFiles(app, values, attached)),
      },
      {
        base,
        act: { action: 'message sent again', detail: { copy_of: id } },
        keyType: message.key_type === 'test' ? 'test' : 'normal',
      },
    )
  // Until the copy is stored its files are in memory.
  return attached.length > 0 ? app.files.reading.run(service.id, copy) : copy()
}

/** The same sender or reply-to address, unless it was removed: then the one that is the default now. */
async function senderOf({ services }: CopyApp, { service_id, channel, sender_id }: StoredMessage): Promise<Id | null> {
  const origins: readonly { id: Id }[] = (await services.get(service_id))?.[PLAIN[channel].origins] ?? []
  return origins.some(one => one.id === sender_id) ? sender_id : null
}

/** An attached file is stored as an empty object among the values, in the order of the files; a linked one as its address. */
async function withFiles(app: CopyApp, values: Values, files: readonly FileRow[]) {
  const keys = Object.entries(values).flatMap(([key, value]) => (isFile(value) ? [key] : []))
  const contents = new Map<string, Buffer>()
  const objects: Record<string, unknown> = {}
  try {
    for (const [at, name] of keys.entries()) {
      const file = files[at]
      if (!file) throw refuse.filesGone()
      const key = keyOf(app.seal, file)
      contents.set(name, await wholeOf(app.files.store, file, key))
      objects[name] = { file: '', filename: nameOf(key, file), sending_method: 'attach' }
    }
  } catch (error) {
    throw error instanceof ContentGone ? refuse.filesGone() : error
  }
  return { personalisation: { ...values, ...objects }, contents }
}
