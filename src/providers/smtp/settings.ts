// From the settings table to what the adapter needs.
import type { BounceSettings } from './bounces/receiver.ts'
import type { DkimSettings } from './dkim.ts'
import { isLoopback, type Relay } from './session.ts'

export type SmtpSettings = {
  relay: Relay
  connections: number
  messagesPerConnection: number
  idleSeconds: number
  perSecond: number | null
  dkim: DkimSettings | null
  /** Null: nobody listens for bounces, and they go to the sender's address. */
  bounces: BounceSettings | null
}

/** The rows of config.ts this adapter reads. */
export type SmtpConfig = {
  smtpUrl: string | null
  smtpTls: 'required' | 'opportunistic' | 'never' | null
  smtpCa: string | null
  smtpConnections: number
  smtpReplySeconds: number
  smtpPerSecond: number | null
  dkimDomain: string | null
  dkimSelector: string | null
  dkimKey: string | null
  bounceDomain: string | null
  bounceHost: string
  bouncePort: number
  sendingDomain: string
}

/** `secrets`: today's sealing secret first, then earlier ones; bounce addresses are signed with them. */
export function smtpSettings(config: SmtpConfig, secrets: readonly string[]): SmtpSettings | null {
  if (config.smtpUrl === null) return null
  return {
    relay: {
      ...relayOf(config.smtpUrl, config.smtpTls),
      replySeconds: config.smtpReplySeconds,
      ca: config.smtpCa,
      name: config.sendingDomain,
    },
    connections: config.smtpConnections,
    messagesPerConnection: 1_000,
    idleSeconds: 15,
    perSecond: config.smtpPerSecond,
    dkim: dkimSettings(config),
    bounces:
      config.bounceDomain === null
        ? null
        : { host: config.bounceHost, port: config.bouncePort, domain: config.bounceDomain, secrets },
  }
}

export function dkimSettings(config: Pick<SmtpConfig, 'dkimDomain' | 'dkimSelector' | 'dkimKey' | 'sendingDomain'>) {
  if (config.dkimKey === null || config.dkimSelector === null) return null
  return {
    domain: config.dkimDomain ?? config.sendingDomain,
    selector: config.dkimSelector,
    privateKey: config.dkimKey,
  }
}

/** `smtp://user:password@host:587` or `smtps://…:465`; user and password percent-encoded. */
function relayOf(address: string, tls: SmtpConfig['smtpTls']): Omit<Relay, 'ca' | 'name'> {
  const url = new URL(address)
  const implicitTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return {
    host,
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    tls: tls ?? (isLoopback(host) ? 'opportunistic' : 'required'),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.username === '' ? null : decodeURIComponent(url.password),
    ...timeouts,
  }
}

// reliability F3.
export const timeouts = { connectSeconds: 10, replySeconds: 30 }
