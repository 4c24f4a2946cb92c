// Sends e-mails by the SMTP interface of Amazon SES. Unlike other relays it returns a message id and sends receipts.
// https://docs.aws.amazon.com/ses/latest/dg/send-email-smtp.html
import type { EmailProvider, ProviderWorld } from '../port.ts'
import { textHeader } from '../smtp/headers.ts'
import { createSender, relayCapacity } from '../smtp/send.ts'
import type { SesSettings } from './settings.ts'
import type { Fetch } from './signature.ts'
import { createWebhookEndpoint } from './webhook.ts'

export function createSes(
  settings: SesSettings,
  world: ProviderWorld,
  name = 'ses',
  fetcher: Fetch = fetch,
): EmailProvider {
  const sender = createSender({
    name,
    pool: settings.pool,
    dkim: settings.dkim,
    headers:
      settings.configurationSet === null ? [] : [textHeader('X-SES-CONFIGURATION-SET', settings.configurationSet)],
    // SES sets its own return path and processes bounces.
    returnPath: () => null,
    refOf: readReference,
    world,
  })
  return {
    channel: 'email',
    name,
    reports: true,
    webhook: createWebhookEndpoint(name, settings.topics, world, fetcher),
    capacity: relayCapacity(settings.pool, settings.perSecond),
    ...sender,
  }
}

/** `250 Ok 0102018f5e1b2c3d-1a2b3c4d-…-000000`: the id that is mail.messageId in notifications. */
export const readReference = (reply: string): string | null =>
  /^250[ -](?:2\.\d\.\d )?Ok:? <?([A-Za-z0-9.-]{10,100})(?:@[A-Za-z0-9.-]+)?>?\s*$/i.exec(reply)?.[1] ?? null
