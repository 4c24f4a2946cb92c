// What the recipient of a message gets, rendered by the code that sends it.
import type { Channel, Compiled, CompiledOf } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { EmailMessage, TextMessage } from '../providers/port.ts'
import type { Email } from '../rendering/compile.ts'
import type { Values } from '../rendering/placeholders.ts'
import { largeEmail, type RenderThread } from '../rendering/thread.ts'
import type { Services } from '../services/load.ts'
import type { LoadedService } from '../services/sql.ts'
import type { Templates } from '../templates/cache.ts'
import { emailOf, textOf, versionOf } from './message.ts'
import { openPersonal, type Personal } from './notification.ts'

export type ContentApp = {
  seal: Seal
  services: Services
  templates: Templates
  renderThread: Pick<RenderThread, 'email'>
  sendingDomain: string
}

/** The columns of a message that its content is made of. */
export type StoredContent = {
  id: Id
  channel: Channel
  sealed: Buffer
  service_id: Id
  template_id: Id
  template_version: number
  sender_id: Id | null
}

/** Attachments are left out. */
export type MessageContent = { channel: 'email'; email: EmailMessage } | { channel: 'sms'; text: TextMessage }

export async function contentOf(app: ContentApp, row: StoredContent): Promise<MessageContent> {
  const service = await app.services.get(row.service_id)
  if (!service) throw new Error('the service of the message does not exist')
  const version = await app.templates.version(row.template_id, row.template_version)
  return RENDER[row.channel](app, row, version, service, openPersonal(app.seal, row.sealed))
}

type Render = (
  app: ContentApp,
  row: StoredContent,
  version: Compiled,
  service: LoadedService,
  personal: Personal,
) => Promise<MessageContent>

const RENDER: Readonly<Record<Channel, Render>> = {
  email: async (app, row, version, service, { to, values }) => ({
    channel: 'email',
    email: emailOf(app, row, service, to, await emailFrom(app, versionOf(version, 'email'), values), []),
  }),
  sms: async (_app, row, version, service, personal) => ({
    channel: 'sms',
    text: textOf({ ...row, version: versionOf(version, 'sms') }, service, personal),
  }),
}

export async function emailFrom(
  app: Pick<ContentApp, 'renderThread'>,
  { compiled, source }: CompiledOf<'email'>,
  values: Values,
): Promise<Email> {
  if (compiled.isTooLarge(values)) return { subject: '', text: '', html: '' } // accepted by a version without this limit
  return compiled.mergedUnits(values) > largeEmail ? app.renderThread.email(source, values) : compiled.render(values)
}
