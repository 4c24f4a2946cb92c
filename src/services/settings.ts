// Settings of the installation that apply to every service.
import { domain, list, reader, text } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'
import { isCountry } from '../recipients/plans.ts'

const country = reader(given =>
  isCountry(given) ? given : { problem: `is "${given}"; it must be a country like CA or FR` },
)

export const settings = {
  sendingDomain: setting(
    'HERALD_SENDING_DOMAIN',
    domain,
    'herald.example',
    'Domain of the addresses that e-mails are sent from.',
  ),
  homeCountry: setting(
    'HERALD_HOME_COUNTRY',
    country,
    'CA',
    'Home country of phone numbers (ISO 3166, two capital letters): numbers without a country code are read in it, and its numbers are not international. A service can have its own.',
  ),
  smsSender: setting<string | null>(
    'HERALD_SMS_SENDER',
    text,
    null,
    'Sender of text messages whose service has none. Without it the provider chooses, and answers show the name of the service, cut to 11 characters.',
    { shown: 'none' },
  ),
  simulatedRecipients: setting(
    'HERALD_SIMULATED_RECIPIENTS',
    list,
    [] as string[],
    'Smoke-test recipients: accepted, but neither stored nor sent. Separated by commas. The word family stands for those of the published installations of this interface family and the default ones.',
    { shown: 'simulate-delivered(-2, -3)@ the sending domain; +16132532222, …3, …4' },
  ),
} satisfies Settings
