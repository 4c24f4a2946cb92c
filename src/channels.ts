// Which providers each channel uses, and whether this installation may capture messages instead of sending them.
import { isLoopback } from './providers/smtp/session.ts'

export type Part = 'http' | 'engine' | 'all'

/** Every provider of a channel, in the order in which configured ones are used, with the setting that configures it. */
export const PROVIDERS = {
  email: { smtp: 'HERALD_SMTP_URL', ses: 'HERALD_SES_REGION' },
  sms: { smpp: 'HERALD_SMPP_URL', twilio: 'HERALD_TWILIO_ACCOUNT', http: 'HERALD_HTTP_SMS_URL' },
} as const satisfies Record<string, Readonly<Record<string, string>>>

/** Keeps messages in the inbox, marks them delivered and sends nothing. */
export const CAPTURE = 'capture'
/** Switches a channel off: no service may send by it. */
export const NONE = 'none'

type Chosen = { emailProviders: readonly string[]; textProviders: readonly string[] }

export type ChannelInUse = {
  channel: 'email' | 'sms'
  /** In order of preference. `['capture']`: kept in the inbox. `['none']`: switched off. */
  providers: readonly string[]
  /** For people: the start banner, doctor, the inbox. */
  sentence: string
}

/** What each channel uses. The settings are already resolved: an unset list names what is configured (config.ts). */
export function providersInUse(config: Chosen): readonly [email: ChannelInUse, sms: ChannelInUse] {
  return [
    { channel: 'email', providers: config.emailProviders, sentence: sentence('E-mails', config.emailProviders) },
    { channel: 'sms', providers: config.textProviders, sentence: sentence('Text messages', config.textProviders) },
  ]
}

function sentence(what: string, [first, ...others]: readonly string[]): string {
  if (first === NONE) return `${what} are switched off.`
  if (first === CAPTURE) return `${what} are captured, not sent: the inbox keeps them.`
  return `${what} are sent by ${first}${others.length > 0 ? `, and by ${others.join(', then ')} while it is down` : ''}.`
}

export const isOff = (providers: readonly string[]) => providers.includes(NONE)

type Placed = Chosen & {
  host: string
  baseUrl: string | null
  trustedProxies: readonly string[]
  capture: boolean
}

/** Why an installation that is no trial may not start: a captured message is marked delivered although nobody gets it. */
export function captureProblems(config: Placed, part: Part): string[] {
  const reason = config.capture ? null : publicBecause(config, part)
  if (reason === null) return []
  return providersInUse(config)
    .filter(({ providers }) => providers.includes(CAPTURE))
    .map(({ channel, providers }) => {
      const [what, list] =
        channel === 'email' ? ['e-mails', 'HERALD_EMAIL_PROVIDERS'] : ['text messages', 'HERALD_TEXT_PROVIDERS']
      const settings = Object.values(PROVIDERS[channel])
      if (providers.length > 1)
        return `${list} names ${CAPTURE} beside others, which marks ${what} delivered that nobody gets, and ${reason}: leave it out, or set HERALD_CAPTURE=1 for a trial`
      return (
        `there is no provider for ${what}, and ${reason}: set ${settings.join(' or ')},` +
        ` or ${list}=${NONE} to switch ${what} off, or HERALD_CAPTURE=1 for a trial that sends nothing`
      )
    })
}

/** Null: only this machine can reach it, so it counts as a trial. */
function publicBecause({ host, baseUrl, trustedProxies }: Placed, part: Part): string | null {
  if (part === 'engine') return 'an engine without the HTTP interface cannot tell who sends'
  if (!isLoopback(host)) return `HERALD_HOST is ${host}`
  if (baseUrl !== null && !isLoopback(new URL(baseUrl).hostname)) return `HERALD_BASE_URL is ${baseUrl}`
  if (trustedProxies.length > 0) return 'HERALD_TRUSTED_PROXIES names a proxy'
  return null
}
