// Every channel by its name. The order is that of tables and answers.
import type { PhonePlan } from '../recipients/plans.ts'
import { email } from './email.ts'
import { type Channel, channelNames, type PLAIN } from './plain.ts'
import { sms } from './sms.ts'

export { type Channel, channelNames } from './plain.ts'

export const CHANNELS = { email, sms } satisfies Record<keyof typeof PLAIN, unknown>

/** A template version of any channel, compiled; `type` says which. */
export type Compiled = ReturnType<(typeof CHANNELS)[Channel]['template']['compile']>
export type CompiledOf<C extends Channel> = Extract<Compiled, { type: C }>

/** The normal form of a recipient; undefined: not a recipient of this channel. */
export function recipientKey(text: string, channel: Channel, plan?: PhonePlan): string | undefined {
  const reading = CHANNELS[channel].recipient.read(text, { international: true, ...(plan && { plan }) })
  return reading.ok ? reading.key : undefined
}

/** The normal form by the first channel that can read the recipient, else the text itself. */
export function keyOfAny(text: string, plan?: PhonePlan): string {
  for (const channel of channelNames) {
    const key = recipientKey(text, channel, plan)
    if (key !== undefined) return key
  }
  return text
}
