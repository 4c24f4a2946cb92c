// Simulated recipients, to which nothing is sent (contract 15.5): smoke-test recipients are accepted but neither stored nor
// counted; failure recipients produce a failure status, so that callers can test their error handling.
import { keyOfAny } from '../channels/index.ts'
import type { PhonePlan } from '../recipients/plans.ts'

export type Simulated = { isSmokeTest(recipient: string): boolean; readonly all: readonly string[] }

const NUMBERS = ['+16132532222', '+16132532223', '+16132532224']
const MAILBOXES = ['simulate-delivered', 'simulate-delivered-2', 'simulate-delivered-3']
const at = (domain: string) => MAILBOXES.map(mailbox => `${mailbox}@${domain}`)

/** The word in the setting that stands for all of FAMILY. */
const PRESET = 'family'
/** What the published installations of the interface family accept, and their callers have in smoke tests. Nobody else owns them. */
const FAMILY = [
  ...NUMBERS,
  ...['+447700900000', '+447700900111', '+447700900222'],
  ...['notification.canada.ca', 'notifications.service.gov.uk'].flatMap(at),
]

export function createSimulated(sendingDomain: string, given: readonly string[] = [], plan?: PhonePlan): Simulated {
  const usual = [...NUMBERS, ...at(sendingDomain)]
  // Moving in must not end the smoke tests that callers have written for this installation.
  const all = given.length === 0 ? usual : given.flatMap(text => (text === PRESET ? [...FAMILY, ...usual] : text))
  const normal = new Set(all.map(text => keyOfAny(text, plan)))
  return { isSmokeTest: recipient => normal.has(recipient), all: [...normal] }
}
