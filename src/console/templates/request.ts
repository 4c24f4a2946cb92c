// The request with which a program sends a template.
import type { Channel } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import type { Values } from '../../rendering/placeholders.ts'
import { placeholdersOf, samplesFor } from '../../templates/draft.ts'

const SENDS: Readonly<Record<Channel, { path: string; field: string; example: string }>> = {
  email: { path: '/v2/notifications/email', field: 'email_address', example: 'somebody@example.org' },
  sms: { path: '/v2/notifications/sms', field: 'phone_number', example: '+16135550123' },
}

/** Each placeholder has its example value, or `…`. */
export function requestFor(
  template: { id: Id; type: Channel; subject: string | null; content: string },
  { to, values = {} }: { to?: string | null; values?: Values } = {},
): { path: string; body: object } {
  const { path, field, example } = SENDS[template.type]
  const placeholders = placeholdersOf(template)
  const examples = samplesFor(template, values)
  return {
    path,
    body: {
      [field]: to ?? example,
      template_id: template.id,
      ...(placeholders.length > 0 && {
        personalisation: Object.fromEntries(placeholders.map(({ name }) => [name, examples[name] ?? '…'])),
      }),
    },
  }
}
