// Settings of SMTP: its variables, and what is made of them.
import { isLoopback } from '../../core/network.ts'
import { domain, label, oneOf, pem, reader, text, whole } from '../../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../../core/setting.ts'
import type { BounceSettings } from './bounces/receiver.ts'
import type { DkimSettings } from './dkim.ts'
import type { Relay } from './relay.ts'

const smtpUrl = reader<string>(given => {
  const wrong = { problem: 'must be an address like smtp://user:password@host:587 or smtps://user:password@host:465' }
  if (!/^smtps?:\/\/[^/?#]+\/?$/.test(given) || !URL.canParse(given)) return wrong
  try {
    const { hostname, username, password } = new URL(given)
    decodeURIComponent(username + password)
    return hostname === '' ? wrong : given
  } catch {
    return { problem: 'has a user or password with a % that must be written %25' }
  }
})

/** Signing belongs to the domain; every provider that is reached over SMTP has these rows. */
export const dkimRows = {
  dkimDomain: setting<string | null>('HERALD_DKIM_DOMAIN', domain, null, 'Domain that signs e-mails (DKIM).', {
    shown: 'the sending domain',
  }),
  dkimSelector: setting<string | null>(
    'HERALD_DKIM_SELECTOR',
    label,
    null,
    'Selector of the public key in DNS: `<selector>._domainkey.<domain>`. E-mails are signed when it and the key are set.',
    { shown: 'none: not signed' },
  ),
  dkimKey: setting<string | null>(
    'HERALD_DKIM_KEY',
    pem('PRIVATE KEY'),
    null,
    'Private key that signs e-mails, PEM, RSA or Ed25519.',
    { shown: 'none: not signed', secret: true },
  ),
} satisfies Settings

export const settings = {
  smtpUrl: setting<string | null>(
    'HERALD_SMTP_URL',
    smtpUrl,
    null,
    'Mail server that sends e-mails: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte.',
    { shown: 'none', secret: true, inline: true },
  ),
  smtpTls: setting<'required' | 'opportunistic' | 'never' | null>(
    'HERALD_SMTP_TLS',
    oneOf('required', 'opportunistic', 'never'),
    null,
    'Whether e-mails may be sent unencrypted. `opportunistic` encrypts where offered and checks no certificate.',
    { shown: 'required; to a mail server on this machine opportunistic' },
  ),
  smtpCa: setting<string | null>(
    'HERALD_SMTP_CA',
    pem('CERTIFICATE'),
    null,
    "Certificate authority of the mail server, PEM, instead of the system's.",
    { shown: "the system's" },
  ),
  smtpConnections: setting(
    'HERALD_SMTP_CONNECTIONS',
    whole(1, 200),
    20,
    'Connections of one `herald start` to the mail server; a quarter of them is reserved for urgent messages.',
  ),
  smtpReplySeconds: setting(
    'HERALD_SMTP_REPLY_SECONDS',
    whole(1, 600),
    30,
    'How long the mail server may take to answer before a message counts as uncertain and is retried.',
  ),
  smtpPerSecond: setting<number | null>(
    'HERALD_SMTP_PER_SECOND',
    whole(1, 100_000),
    null,
    'Messages per second that the mail server allows.',
    { shown: 'no limit' },
  ),
  ...dkimRows,
  bounceDomain: setting<string | null>(
    'HERALD_BOUNCE_DOMAIN',
    domain,
    null,
    'Domain of the return paths. When set, Herald receives bounces itself; the MX record of this domain must name it.',
    { shown: 'none: bounces go to the sender address' },
  ),
  bounceHost: setting('HERALD_BOUNCE_HOST', text, '127.0.0.1', 'Address on which bounces are received.'),
  bouncePort: setting('HERALD_BOUNCE_PORT', whole(0, 65_535), 2525, 'Port on which bounces are received.'),
} satisfies Settings

export type SmtpSettings = {
  relay: Relay
  connections: number
  messagesPerConnection: number
  idleSeconds: number
  perSecond: number | null
  dkim: DkimSettings | null
  /** Null: bounces are not received here, and go to the sender's address. */
  bounces: BounceSettings | null
}

/** In the providers file the password stands apart from the address. */
export const fileSettings = {
  smtpPassword: setting<string | null>(
    'HERALD_SMTP_PASSWORD',
    text,
    null,
    'Password of the user that the address names.',
    { shown: 'none', secret: true },
  ),
} satisfies Settings

export type SmtpConfig = ValuesOf<typeof settings> & Partial<ValuesOf<typeof fileSettings>> & { sendingDomain: string }

/** Throws when a password has no user, or is given twice. */
export function checkSmtp({ smtpUrl, smtpPassword }: Pick<SmtpConfig, 'smtpUrl' | 'smtpPassword'>): void {
  if (smtpUrl === null || !smtpPassword) return
  const { username, password } = new URL(smtpUrl)
  if (username === '') throw new Error('HERALD_SMTP_PASSWORD is given, but HERALD_SMTP_URL names no user')
  if (password !== '') throw new Error('HERALD_SMTP_PASSWORD is given, and HERALD_SMTP_URL holds one too; keep one')
}

/** `secrets`: the current sealing secret first, then earlier ones; they sign return paths. */
export function smtpSettings(config: SmtpConfig, secrets: readonly string[]): SmtpSettings | null {
  if (config.smtpUrl === null) return null
  return {
    relay: {
      ...relayOf(config.smtpUrl, config.smtpTls, config.smtpPassword ?? null),
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
function relayOf(address: string, tls: SmtpConfig['smtpTls'], password: string | null): Omit<Relay, 'ca' | 'name'> {
  const url = new URL(address)
  const implicitTls = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return {
    host,
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    tls: tls ?? (isLoopback(host) ? 'opportunistic' : 'required'),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    password: url.username === '' ? null : (password ?? decodeURIComponent(url.password)),
    ...timeouts,
  }
}

/** Reliability F3. */
export const timeouts = { connectSeconds: 10, replySeconds: 30 }
