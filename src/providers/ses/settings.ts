// From the settings table to what the adapter needs.
import type { DkimSettings } from '../smtp/dkim.ts'
import type { PoolSettings } from '../smtp/pool.ts'
import { dkimSettings, timeouts } from '../smtp/settings.ts'

export type SesSettings = {
  pool: PoolSettings
  perSecond: number | null
  /** SES signs for verified domains itself; a key of our own is for those it does not. */
  dkim: DkimSettings | null
  /** Names what happens with events, among them the topic they go to. */
  configurationSet: string | null
  /** The SNS topics whose news is believed. */
  topics: readonly string[]
}

/** The rows of config.ts this adapter reads. */
export type SesConfig = {
  sesRegion: string | null
  sesUser: string | null
  sesPassword: string | null
  sesConfigurationSet: string | null
  sesTopics: readonly string[]
  sesConnections: number
  sesPerSecond: number | null
  dkimDomain: string | null
  dkimSelector: string | null
  dkimKey: string | null
  sendingDomain: string
}

export function sesSettings(config: SesConfig): SesSettings | null {
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
        ...timeouts,
      },
      connections: config.sesConnections,
      messagesPerConnection: 1_000,
      // SES hangs up after about ten seconds of silence.
      idleSeconds: 5,
    },
    perSecond: config.sesPerSecond,
    dkim: dkimSettings(config),
    configurationSet: config.sesConfigurationSet,
    topics: config.sesTopics,
  }
}
