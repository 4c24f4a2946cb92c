// The tenant: who it is, what it may do, how much.
import type { Id } from '../core/id.ts'

export type Channel = 'email' | 'sms'

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
  /** Of phone numbers; null: the installation's. */
  home_country: string | null
}

/** Limits of a service that sets none of its own (contract 15). */
const DEFAULT_LIMITS = {
  trial: { email: 50, sms: 50 },
  live: { email: 10_000, sms: 1_500 },
  rate: 1_000,
} as const

export function dailyLimit(service: Service, channel: Channel): number {
  const own = channel === 'email' ? service.email_daily_limit : service.sms_daily_limit
  return own ?? DEFAULT_LIMITS[service.mode][channel]
}

/** What is due while a service is suspended or archived is not sent (contract 22.3). */
export const isActive = <S extends Pick<Service, 'state'>>(service: S | null): service is S =>
  service?.state === 'active'

export const rateLimit = (service: Service) => service.rate_limit ?? DEFAULT_LIMITS.rate

export const maySend = (service: Service, channel: Channel) =>
  channel === 'email' ? service.may_send_email : service.may_send_sms

/** `My Service!` → `my.service`: the mailbox a service sends from unless one is chosen. */
export function mailboxFrom(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '.')
  return plain.replace(/^\.+|\.+$/g, '').slice(0, 60) || 'service'
}
