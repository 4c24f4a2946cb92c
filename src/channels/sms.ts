import { readPhone } from '../recipients/phone.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import type { Values } from '../rendering/placeholders.ts'
import { compileSms, countTemplate, smsLimit } from '../rendering/sms.ts'
import type { ChannelShape, Content } from './channel.ts'

export const sms = {
  name: 'sms',
  words: { one: 'text message', many: 'text messages', title: 'Text messages' },
  columns: { maySend: 'may_send_sms', dailyLimit: 'sms_daily_limit', retentionDays: 'sms_retention_days' },
  dailyLimits: { trial: 50, live: 1_500 },
  lanes: [
    { pace: 'high', slots: 16, reserved: 4 },
    { pace: 'medium', slots: 16, reserved: 2 },
    { pace: 'low', slots: 32, reserved: 2 },
  ],
  providersVariable: 'HERALD_TEXT_PROVIDERS',
  recipient: {
    field: 'phone_number',
    headers: { en: 'phone number', fr: 'numéro de téléphone' },
    read(text, rules) {
      const reading = readPhone(text, rules)
      return reading.ok ? { ok: true, key: reading.e164, international: reading.international } : reading
    },
    storesKey: true,
    homePrefix: (plan: PhonePlan = homePlan('CA')) => `+${plan.homeCode}`,
  },
  template: {
    hasSubject: false,
    longest: smsLimit,
    lengthOf: content => countTemplate(content).units,
    compile,
    preview: async (_app, { content }, values) => ({
      ...compileSms(content).answer(values),
      html: null,
      subject: null,
    }),
  },
  takesFiles: false,
  origins: 'senders',
  refusals: { send: 'noTexts', origin: 'unknownSender', template: 'smsNotAllowed' },
  labels: { sent: 'Sent', 'permanent-failure': 'No such number', 'temporary-failure': 'Carrier issue' },
  isFirstFinal: true,
  mixesSimulated: false,
} as const satisfies ChannelShape

function compile({ content }: Content) {
  const compiled = compileSms(content)
  return {
    type: 'sms' as const,
    source: { content, subject: null },
    compiled,
    isShown: () => false,
    excess: (values: Values, prefix: string | null) =>
      compiled.isTooLong(values, prefix) ? ('tooLong' as const) : null,
    stored: compiled.answer,
    received: (values: Values, prefix: string | null) => ({
      subject: null,
      body: compiled.render(values, prefix).text,
    }),
  }
}
