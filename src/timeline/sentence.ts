// One plain sentence about a message: what happened, how far it came, and what to do. Pure: the same facts give the same sentence.
import { type Channel, PLAIN } from '../channels/plain.ts'
import type { Timestamp } from '../core/clock.ts'
import type { Cause } from '../events/event.ts'
import type { KeyType } from '../keys/key.ts'
import type { Status } from '../notifications/status.ts'
import { type Meaning, meaningOf } from './reply.ts'

export type Facts = {
  channel: Channel
  keyType: KeyType
  status: Status
  /** What set the status. */
  cause: Cause | null
  /** Who handed it over last. `capture` keeps it in the inbox, `simulation` is for test messages. */
  provider: string | null
  /** Our class of the failure, or of the last attempt that is repeated; the provider's words; provider_response. */
  detail: string | null
  reply: string | null
  response: string | null
  attempts: number
  /** An attempt may have succeeded although nobody knows; `isLastLost`: the last one. */
  uncertain: boolean
  isLastLost: boolean
  createdAt: Timestamp
  scheduledFor: Timestamp | null
  lastAttemptAt: Timestamp | null
  nextTryAt: Timestamp | null
  completedAt: Timestamp | null
  cancelledBy: string | null
  isHeld: boolean
  now: Timestamp
  /** How times are written; absent: in UTC. */
  write?(at: Timestamp): string
}

export function sentence(facts: Facts): string {
  const [first = '', ...rest] = partsOf(facts)
  return `${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join('; ')}.`
}

/** What the sentence is made of: what happened, how far it came, and last what to do. */
export const partsOf = (facts: Facts): string[] =>
  (SIMULATED.has(facts.provider ?? '') ? simulated : BY_STATUS[facts.status])(facts).filter(one => one !== null)

/** Parts of the sentence, to be joined by semicolons. */
type Said = readonly (string | null)[]

export const NOTHING_TO_DO = 'nothing to do'
const IF_IT_LASTS = 'if it lasts, ask the operator'
const SIMULATED = new Set(['simulation', 'capture'])

/** Neither a message of a test key nor a captured one was sent to anyone, whatever its status says. */
function simulated(facts: Facts): Said {
  const { keyType, provider, status, channel } = facts
  if (provider === 'capture' && status === 'delivered')
    return [
      'kept in the inbox of Herald and not delivered to anyone',
      `this installation has no provider for ${PLAIN[channel].words.many}`,
      'ask the operator to configure one, then send again',
    ]
  if (provider === 'capture') return BY_STATUS[status](facts)
  const [why, advice] =
    keyType === 'test'
      ? ['made with a test key', 'use a live key to send it']
      : ['addressed to a simulated recipient', 'use a real recipient']
  return [`${why}, so nothing was sent, and the status ${status} is simulated`, advice]
}

const BY_STATUS: Readonly<Record<Status, (facts: Facts) => Said>> = {
  created: waiting,
  'pending-virus-check': facts => [
    'its files wait for the virus scanner',
    facts.attempts > 0 || facts.nextTryAt ? nextTry(facts) : null,
    'the message is sent as soon as they are found clean',
  ],
  'virus-scan-failed': () => [
    'a virus was found in one of its files',
    'the message was not sent',
    'remove the file and send again',
  ],
  cancelled: ({ cancelledBy, completedAt, ...facts }) => [
    `cancelled${cancelledBy ? ` by ${cancelledBy}` : ''}${atTime(completedAt, facts)}`,
    'it was not sent',
    'send again if it is still needed',
  ],
  sending: facts =>
    facts.isLastLost
      ? [maybeSent(facts), 'a receipt may still tell', 'ask the recipient before you send again']
      : [handedOver(facts), twice(facts), 'its receipt has not come yet (72 hours at most)', NOTHING_TO_DO],
  pending: facts => [
    handedOver(facts),
    meaning(facts) ? lower(meaning(facts)?.is ?? '') : 'not delivered yet',
    'the provider keeps trying',
    NOTHING_TO_DO,
  ],
  sent: facts => [
    handedOver(facts),
    'for numbers of other countries no receipt is expected, so delivery is not confirmed',
    NOTHING_TO_DO,
  ],
  delivered: facts =>
    facts.cause === 'attempt'
      ? [handedOver(facts), 'that counts as delivered, but no receipt confirms it', IF_MISSING[facts.channel]]
      : [
          `delivered${atTime(facts.completedAt, facts)}, as ${named(facts.provider)} reported`,
          twice(facts),
          NOTHING_TO_DO,
        ],
  'permanent-failure': facts => failed(facts, REJECTED[facts.channel]),
  'temporary-failure': facts =>
    facts.cause === 'expiry'
      ? [
          handedOver(facts),
          'no receipt came within 72 hours, so nobody knows whether it arrived',
          'ask the recipient before you send again',
        ]
      : failed(facts, {
          name: '',
          is: 'It could not be delivered for the time being',
          advice: 'send again later or use another channel',
        }),
  'technical-failure': facts =>
    facts.cause === 'expiry' && facts.response === null
      ? ['it could not be sent within 72 hours', tried(facts), 'send again if it is still needed']
      : failed(facts, { name: '', is: 'The provider refused it', advice: 'ask the operator to look at the reply' }),
}

const IF_MISSING: Readonly<Record<Channel, string>> = {
  email: 'if it does not arrive, ask the recipient to look into the junk folder',
  sms: 'if it does not arrive, check the number',
}

const REJECTED: Readonly<Record<Channel, Meaning>> = {
  email: { name: '', is: 'The address cannot receive it', advice: 'check the address, or use another channel' },
  sms: { name: '', is: 'The number cannot receive it', advice: 'check the number, or use another channel' },
}

function waiting(facts: Facts): Said {
  const { scheduledFor, now, attempts, isHeld, createdAt, isLastLost } = facts
  if (scheduledFor !== null && isAfter(scheduledFor, now))
    return [`scheduled for ${written(scheduledFor, facts)}`, 'nothing was sent yet', 'it can be cancelled until then']
  const hold = isHeld ? 'sending is held by the operator, and goes on after the release' : null
  if (facts.nextTryAt === null && attempts === 0)
    return [
      hold ?? `accepted${atTime(createdAt, facts)} and waiting for its turn`,
      'nothing was sent yet',
      hold || isRecent(scheduledFor ?? createdAt, now) ? NOTHING_TO_DO : IF_IT_LASTS,
    ]
  const known = meaning(facts)
  return [
    isLastLost ? maybeSent(facts) : (known?.is ?? 'The provider does not take it at the moment'),
    isLastLost ? null : tried(facts),
    hold ?? nextTry(facts),
    facts.uncertain
      ? 'the recipient may get it twice'
      : known?.advice.includes('operator')
        ? IF_IT_LASTS
        : NOTHING_TO_DO,
  ]
}

function failed(facts: Facts, unknown: Meaning): Said {
  const { is, advice } = meaning(facts) ?? unknown
  return [is, tried(facts), facts.uncertain ? 'one attempt may have been delivered' : null, advice]
}

const meaning = ({ channel, reply, detail, response }: Facts) => meaningOf(channel, reply, detail, response)

const maybeSent = ({ provider, lastAttemptAt, ...facts }: Facts) =>
  `it may have been sent: the answer of ${named(provider)} was lost${atTime(lastAttemptAt, facts)}`

const twice = ({ uncertain }: Facts) =>
  uncertain ? 'an earlier attempt may have arrived as well, so the recipient may have it twice' : null

const handedOver = ({ provider, lastAttemptAt, ...facts }: Facts) =>
  `accepted by ${named(provider)}${atTime(lastAttemptAt, facts)}`

const named = (provider: string | null) => (provider === null ? 'the provider' : `the provider ${provider}`)

function tried({ attempts, lastAttemptAt, ...facts }: Facts): string | null {
  if (attempts === 0) return null
  if (attempts === 1) return `tried once${atTime(lastAttemptAt, facts)}`
  return `tried ${attempts} times${lastAttemptAt ? ` until ${written(lastAttemptAt, facts)}` : ''}`
}

const nextTry = ({ nextTryAt, ...facts }: Facts) =>
  nextTryAt === null || !isAfter(nextTryAt, facts.now) ? 'next try soon' : `next try at ${written(nextTryAt, facts)}`

type Times = Pick<Facts, 'now' | 'write'>

const atTime = (at: Timestamp | null, times: Times) => (at === null ? '' : ` at ${written(at, times)}`)

const written = (at: Timestamp, { now, write }: Times) => (write ? write(at) : clock(at, now))

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const millis = (at: Timestamp) => Date.parse(at)
const isAfter = (at: Timestamp, now: Timestamp) => millis(at) > millis(now)
const RECENT_MS = 300_000
const isRecent = (at: Timestamp, now: Timestamp) => millis(now) - millis(at) < RECENT_MS

/** `14:05 UTC`, with the date if it is another day. */
export function clock(at: Timestamp, now: Timestamp): string {
  const [text, today] = [new Date(millis(at)).toISOString(), new Date(millis(now)).toISOString()]
  const time = `${text.slice(11, 16)} UTC`
  return text.slice(0, 10) === today.slice(0, 10) ? time : `${text.slice(0, 10)} ${time}`
}
