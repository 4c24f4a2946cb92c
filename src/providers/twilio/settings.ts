// The variables of Twilio, and their parsing.
import { text, webAddress, whole } from '../../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../../core/setting.ts'
import type { TwilioSettings } from './send.ts'

export const settings = {
  twilioUrl: setting(
    'HERALD_TWILIO_URL',
    webAddress,
    'https://api.twilio.com',
    'Address of the Twilio API, or of a compatible one.',
  ),
  twilioAccount: setting<string | null>(
    'HERALD_TWILIO_ACCOUNT',
    text,
    null,
    'Account SID at Twilio; receipts need HERALD_BASE_URL too.',
    { shown: 'none' },
  ),
  twilioToken: setting<string | null>('HERALD_TWILIO_TOKEN', text, null, 'Auth token at Twilio.', {
    shown: 'none',
    secret: true,
  }),
  twilioMessagingService: setting<string | null>(
    'HERALD_TWILIO_MESSAGING_SERVICE',
    text,
    null,
    'Messaging service SID that chooses the sender of text messages whose service has none.',
    { shown: 'none' },
  ),
  twilioSender: setting<string | null>(
    'HERALD_TWILIO_SENDER',
    text,
    null,
    'Sender of text messages by Twilio whose service has none, when there is no messaging service.',
    { shown: 'none' },
  ),
  twilioPerSecond: setting(
    'HERALD_TWILIO_PER_SECOND',
    whole(0, 100_000),
    0,
    'Parts per second the account at Twilio allows; 0: no limit.',
  ),
} satisfies Settings

export type TwilioConfig = ValuesOf<typeof settings> & { baseUrl: string | null }

/** Null: not configured. Throws an error that names the setting when one of a pair is missing. `name`: for the address of receipts. */
export function twilioSettings(config: TwilioConfig, name = 'twilio'): TwilioSettings | null {
  const { twilioAccount: account, twilioToken: token } = config
  if (account === null && token === null) return null
  if (account === null || token === null)
    throw new Error('HERALD_TWILIO_ACCOUNT and HERALD_TWILIO_TOKEN go together; one of them is missing')
  if (!/^\w{1,64}$/.test(account)) throw new Error('HERALD_TWILIO_ACCOUNT must be letters and digits, like AC0123…')
  return {
    apiUrl: config.twilioUrl,
    account,
    token,
    messagingService: config.twilioMessagingService,
    sender: config.twilioSender,
    callbackUrl: config.baseUrl === null ? null : `${config.baseUrl}/receipts/${name}`,
    perSecond: config.twilioPerSecond === 0 ? null : config.twilioPerSecond,
    timeoutMillis: 30_000,
  }
}
