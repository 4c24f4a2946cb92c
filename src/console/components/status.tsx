// Statuses of messages and jobs as an icon, a word and a colour. The words are those of the design.
import type { ComponentChildren } from 'preact'
import { type Marked, mark, say, t } from '../words/index.ts'
import { Icon, type IconName, type Tone } from './basics.tsx'

/** An icon and a word. */
export const Badge = (props: { tone: Tone; icon: IconName; children: ComponentChildren }) => (
  <span class={props.tone === 'idle' ? 'badge' : `badge ${props.tone}`}>
    <Icon name={props.icon} />
    {props.children}
  </span>
)

type Sign = readonly [tone: Tone, icon: IconName, words: Marked]

const IN_TRANSIT: Sign = ['info', 'transit', mark('In transit')]
const SCHEDULED: Sign = ['plan', 'clock', mark('Scheduled')]

/** Where the words differ between the channels, the second is that of text messages. */
const MESSAGE: Readonly<Record<string, Sign | readonly [email: Sign, text: Sign]>> = {
  created: IN_TRANSIT,
  'pending-virus-check': IN_TRANSIT,
  sending: IN_TRANSIT,
  pending: IN_TRANSIT,
  delivered: ['good', 'check', mark('Delivered')],
  sent: ['good', 'check', mark('Sent')],
  'permanent-failure': [
    ['bad', 'cross', mark('No such address')],
    ['bad', 'cross', mark('No such number')],
  ],
  'temporary-failure': [
    ['warn', 'alert', mark('Content or inbox issue')],
    ['warn', 'alert', mark('Carrier issue')],
  ],
  'technical-failure': ['bad', 'cross', mark('Tech issue')],
  'virus-scan-failed': ['bad', 'cross', mark('Attachment has virus')],
  cancelled: ['idle', 'blocked', mark('Cancelled')],
}

const isSign = (entry: Sign | readonly [Sign, Sign]): entry is Sign => typeof entry[0] === 'string'

/** Messages that reached nobody, whatever their status says: kept in the inbox, or of a test key. */
const NOT_SENT: Readonly<Record<string, Sign>> = {
  capture: ['idle', 'inbox', mark('Captured')],
  simulation: ['idle', 'inbox', mark('Simulated')],
}

/** By the provider that handed it over last. */
export const reachedNobody = (provider: string | null): boolean => provider !== null && provider in NOT_SENT

type Shown = { status: string; isText: boolean; isScheduled: boolean; provider: string | null }

function signOf({ status, isText, isScheduled, provider }: Shown): Sign {
  if (status === 'created' && isScheduled) return SCHEDULED
  const notSent = NOT_SENT[provider ?? '']
  if (notSent && (status === 'delivered' || status === 'sent')) return notSent
  const entry = MESSAGE[status]
  if (!entry) return ['idle', 'dot', mark(status)]
  return isSign(entry) ? entry : entry[isText ? 1 : 0]
}

/** The words of a status, for sentences and titles. */
export const messageStatusWords = (status: string, channel: string, isScheduled = false): string =>
  say(signOf({ status, isText: channel === 'sms', isScheduled, provider: null })[2])

/** `status` as the API names it; `channel`: `email` or `sms`; `provider`: who handed it over last. */
export function MessageStatus(props: {
  status: string
  channel: string
  isScheduled?: boolean
  provider: string | null
}) {
  const [tone, icon, words] = signOf({
    status: props.status,
    isText: props.channel === 'sms',
    isScheduled: props.isScheduled ?? false,
    provider: props.provider,
  })
  return (
    <Badge tone={tone} icon={icon}>
      {say(words)}
    </Badge>
  )
}

const JOB: Readonly<Record<string, Sign>> = {
  pending: ['idle', 'dot', mark('Waiting')],
  'in progress': ['info', 'transit', mark('Sending')],
  finished: ['good', 'check', mark('Finished')],
  cancelled: ['idle', 'blocked', mark('Cancelled')],
  'sending limits exceeded': ['bad', 'cross', mark('Over the limit')],
  error: ['bad', 'cross', mark('Tech issue')],
}

export function JobStatus({ status, isScheduled = false }: { status: string; isScheduled?: boolean }) {
  const [tone, icon, words] = (status === 'pending' && isScheduled ? SCHEDULED : JOB[status]) ?? [
    'idle' as const,
    'dot' as const,
    mark(status),
  ]
  return (
    <Badge tone={tone} icon={icon}>
      {say(words)}
    </Badge>
  )
}

/** The channel as an icon with its word for screen readers. */
export const Channel = ({ channel }: { channel: string }) => (
  <>
    <Icon name={channel === 'sms' ? 'text' : 'email'} />
    <span class="vh">{channel === 'sms' ? t`Text message` : t`E-mail`}</span>
  </>
)
