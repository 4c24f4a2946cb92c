// Simulated recipients, to which nothing is sent (contract 15.5): smoke-test recipients are accepted but neither stored nor
// counted; failure recipients produce a failure status, so that callers can test their error handling.
import { keyOfAny } from '../channels/index.ts'
import type { PhonePlan } from '../recipients/plans.ts'

export type Simulated = { isSmokeTest(recipient: string): boolean; readonly all: readonly string[] }

const NUMBERS = ['+16132532222', '+16132532223', '+16132532224']
const MAILBOXES = ['simulate-delivered', 'simulate-delivered-2', 'simulate-delivered-3']

export function createSimulated(sendingDomain: string, given: readonly string[] = [], plan?: PhonePlan): Simulated {
  const all = given.length > 0 ? given : [...NUMBERS, ...MAILBOXES.map(mailbox => `${mailbox}@${sendingDomain}`)]
  const normal = new Set(all.map(text => keyOfAny(text, plan)))
  return { isSmokeTest: recipient => normal.has(recipient), all: [...normal] }
}
