// The tenant: identity, permissions, limits.
import { type Channel, PLAIN } from '../channels/plain.ts'
import type { Id } from '../core/id.ts'

export type Service = {
  id: Id
  name: string
  state: 'active' | 'suspended' | 'archived'
  mode: 'trial' | 'live'
  may_send_email: boolean
  may_send_sms: boolean
  may_send_international: boolean
  may_send_files: boolean
  sms_prefix: boolean
  mailbox: string
  email_daily_limit: number | null
  sms_daily_limit: number | null
  rate_limit: number | null
  email_retention_days: number
  sms_retention_days: number
  /** The home country of phone numbers; null: the installation's. */
  home_country: string | null
}

/** Requests in 60 seconds of a service that sets no limit of its own (contract 15). */
const DEFAULT_RATE_LIMIT = 1_000

export function dailyLimit(service: Service, channel: Channel): number {
  const { columns, dailyLimits } = PLAIN[channel]
  return service[columns.dailyLimit] ?? dailyLimits[service.mode]
}

/** Messages that are due while a service is suspended or archived are not sent (contract 22.3). */
export const isActive = <S extends Pick<Service, 'state'>>(service: S | null): service is S =>
  service?.state === 'active'

export const rateLimit = (service: Service) => service.rate_limit ?? DEFAULT_RATE_LIMIT

export const maySend = (service: Service, channel: Channel) => service[PLAIN[channel].columns.maySend]

export const retentionDays = (service: Service, channel: Channel) => service[PLAIN[channel].columns.retentionDays]

/** The names that sample services get. */
export const sampleName = (number: number) => (number === 1 ? 'Sample service' : `Sample service ${number}`)
export const isSampleName = (name: string) => /^Sample service( \d+)?$/.test(name)

/** `My Service!` → `my.service`: the default mailbox that a service sends from. */
export function mailboxFrom(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '.')
  return plain.replace(/^\.+|\.+$/g, '').slice(0, 60) || 'service'
}
