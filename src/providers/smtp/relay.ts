// The mail server that messages are handed to, and how to reach it.
import type { SettingNames } from '../unreachable.ts'

export type Relay = {
  host: string
  port: number
  /** TLS from the first byte, as on port 465 (RFC 8314). */
  implicitTls: boolean
  tls: 'required' | 'opportunistic' | 'never'
  user: string | null
  password: string | null
  /** Certificate authorities to trust instead of the system's, PEM. */
  ca: string | null
  /** Our name in EHLO. */
  name: string
  connectSeconds: number
  replySeconds: number
  /** Absent: the variables of SMTP. */
  names?: SettingNames
}

export const namesBy = (called: (variable: string) => string): SettingNames => ({
  address: called('HERALD_SMTP_URL'),
  login: `user and password in ${called('HERALD_SMTP_URL')}`,
  ca: called('HERALD_SMTP_CA_FILE'),
  tls: called('HERALD_SMTP_TLS'),
})
