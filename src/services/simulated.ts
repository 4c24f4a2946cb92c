// Recipients that are never written to (contract 15.5): smoke-test recipients are accepted, stored nowhere and counted
// nowhere; failure recipients tell a tester's own code what a failure looks like.
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
