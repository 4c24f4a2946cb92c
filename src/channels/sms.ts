import { readPhone } from '../recipients/phone.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import { draftSms } from '../rendering/draft.ts'
import type { Values } from '../rendering/placeholders.ts'
import { compileSms, countTemplate, smsLimit } from '../rendering/sms.ts'
import type { ChannelShape, Content } from './channel.ts'
import { PLAIN } from './plain.ts'

export const sms = {
  ...PLAIN.sms,
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
    draft: async (_app, { content }, values, { prefix }) =>
      // Longer texts cannot be saved, and values of any length are counted without rendering.
      compileSms(content).isTooLong(values, prefix) && longestShown < content.length + lengthOfValues(values)
        ? null
        : { kind: 'sms', ...draftSms(content, values, prefix) },
  },
} as const satisfies ChannelShape

/** A draft may be too long; some thousand characters too long it is not shown. */
const longestShown = 10_000

const lengthOfValues = (values: Values) => JSON.stringify(values).length

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
