// Webhook endpoint for SES notifications by SNS: POST /receipts/<name>. Topic and signature are verified before the content is parsed,
// and only addresses on hosts of SNS are fetched (reliability S-23, S-24).
import type { ProviderWorld, WebhookEndpoint } from '../port.ts'
import { readNotification } from './receipts.ts'
import { createCertificates, type Fetch, isSigned, type SnsMessage, snsAddress } from './signature.ts'

type WebhookReply = Awaited<ReturnType<WebhookEndpoint['read']>>

const LARGEST = 524_288
// SNS retries for an hour at most, so an older message is a replay.
const OLDEST_MS = 2 * 3_600_000
const SKEW_MS = 300_000
const CONFIRM_MS = 10_000

export function createWebhookEndpoint(
  name: string,
  topics: readonly string[],
  world: Pick<ProviderWorld, 'now' | 'warn'>,
  fetcher: Fetch,
): WebhookEndpoint {
  const allowed = new Set(topics)
  const certificates = createCertificates(world.now, fetcher)

  async function read(body: Buffer): Promise<WebhookReply> {
    const message = readMessage(body)
    if (!message) return no(400, 'not an SNS message')
    if (!allowed.has(message.TopicArn ?? '')) return no(403, 'topic not allowed')
    const at = Date.parse(message.Timestamp ?? '')
    if (!(at > world.now() - OLDEST_MS && at < world.now() + SKEW_MS)) return no(401, 'too old or from the future')
    if (!(await isSigned(message, certificates, world.now()))) return no(401, 'signature not valid')

    switch (message.Type) {
      case 'Notification':
        return notification(message)
      case 'SubscriptionConfirmation':
        return confirm(message)
      case 'UnsubscribeConfirmation':
        world.warn({ provider: name }, 'A topic was unsubscribed from this endpoint')
        return { ok: true, receipts: [] }
      default:
        return no(400, 'unknown kind of SNS message')
    }
  }

  function notification(message: SnsMessage): WebhookReply {
    const receipts = readNotification(message.Message ?? '')
    // SES sends one line of plain text when a topic is set up.
    if (!receipts && /^Successfully validated SNS topic/.test(message.Message ?? '')) return { ok: true, receipts: [] }
    return receipts ? { ok: true, receipts } : no(400, 'not a notification of SES')
  }

  async function confirm(message: SnsMessage): Promise<WebhookReply> {
    const address = snsAddress(message.SubscribeURL)
    if (address?.searchParams.get('Action') !== 'ConfirmSubscription')
      return no(400, 'subscription address not allowed')
    if (address.searchParams.get('TopicArn') !== message.TopicArn) return no(400, 'subscription for another topic')
    const confirmed = await fetched(address.href)
    if (!confirmed) world.warn({ provider: name }, 'A subscription could not be confirmed; SNS will retry')
    return confirmed ? { ok: true, receipts: [] } : no(400, 'subscription not confirmed')
  }

  async function fetched(address: string): Promise<boolean> {
    try {
      const reply = await fetcher(address, { redirect: 'error', signal: AbortSignal.timeout(CONFIRM_MS) })
      await reply.body?.cancel()
      return reply.status === 200
    } catch {
      // Unreachable or redirected; the caller logs it.
      return false
    }
  }

  return { name, read: ({ body }) => read(body) }
}

const no = (status: 400 | 401 | 403, why: string): WebhookReply => ({ ok: false, status, why })

function readMessage(body: Buffer): SnsMessage | null {
  if (body.length > LARGEST) return null
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const strings = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(strings))
  } catch {
    return null
  }
}
