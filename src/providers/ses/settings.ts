// The variables of Amazon SES, and their parsing.
import { label, list, text, whole } from '../../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../../core/setting.ts'
import type { DkimSettings } from '../smtp/dkim.ts'
import type { PoolSettings } from '../smtp/pool.ts'
import { dkimRows, dkimSettings, timeouts } from '../smtp/settings.ts'
import type { SettingNames } from '../unreachable.ts'

export const settings = {
  sesRegion: setting<string | null>('HERALD_SES_REGION', label, null, 'Region of Amazon SES, like `eu-west-1`.', {
    shown: 'none',
  }),
  sesUser: setting<string | null>('HERALD_SES_USER', text, null, 'SMTP user name of Amazon SES.', {
    shown: 'none',
    secret: true,
  }),
  sesPassword: setting<string | null>('HERALD_SES_PASSWORD', text, null, 'SMTP password of Amazon SES.', {
    shown: 'none',
    secret: true,
  }),
  sesConfigurationSet: setting<string | null>(
    'HERALD_SES_CONFIGURATION_SET',
    label,
    null,
    'Configuration set named in every message, to publish its events.',
    { shown: 'none' },
  ),
  sesTopics: setting(
    'HERALD_SES_TOPICS',
    list,
    [] as string[],
    'SNS topics (ARN) whose receipts are accepted, separated by commas.',
    { shown: 'none' },
  ),
  sesConnections: setting(
    'HERALD_SES_CONNECTIONS',
    whole(1, 200),
    20,
    'Connections of one `herald start` to Amazon SES; a quarter of them is reserved for urgent messages.',
  ),
  sesPerSecond: setting<number | null>(
    'HERALD_SES_PER_SECOND',
    whole(1, 100_000),
    null,
    'Messages per second that Amazon SES allows this account.',
    { shown: 'no limit' },
  ),
  ...dkimRows,
} satisfies Settings

export type SesSettings = {
  pool: PoolSettings
  perSecond: number | null
  /** SES signs for verified domains; our own key is for other domains. */
  dkim: DkimSettings | null
  /** The configuration set of SES: decides, among other things, to which topic events are published. */
  configurationSet: string | null
  /** The trusted SNS topics. */
  topics: readonly string[]
}

export type SesConfig = ValuesOf<typeof settings> & { sendingDomain: string }

/** Throws when SES is configured without its login. */
export function checkSes(config: Pick<SesConfig, 'sesRegion' | 'sesUser' | 'sesPassword'>): void {
  if (config.sesRegion !== null && !(config.sesUser && config.sesPassword))
    throw new Error('HERALD_SES_REGION is set, but HERALD_SES_USER and HERALD_SES_PASSWORD are not both set')
}

const namesBy = (called: (variable: string) => string): SettingNames => ({
  address: called('HERALD_SES_REGION'),
  login: `${called('HERALD_SES_USER')} and ${called('HERALD_SES_PASSWORD')}`,
  ca: null,
  tls: null,
})

export function sesSettings(config: SesConfig, called = (variable: string) => variable): SesSettings | null {
  if (config.sesRegion === null) return null
  return {
    pool: {
      relay: {
        host: `email-smtp.${config.sesRegion}.amazonaws.com`,
        port: 587,
        implicitTls: false,
        tls: 'required',
        user: config.sesUser,
        password: config.sesPassword,
        ca: null,
        name: config.sendingDomain,
        names: namesBy(called),
        ...timeouts,
      },
      connections: config.sesConnections,
      messagesPerConnection: 1_000,
      // SES closes connections that are idle for about ten seconds.
      idleSeconds: 5,
    },
    perSecond: config.sesPerSecond,
    dkim: dkimSettings(config),
    configurationSet: config.sesConfigurationSet,
    topics: config.sesTopics,
  }
}
