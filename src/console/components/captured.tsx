// What a page says where messages are captured: nobody gets them, whatever their status is called by the API.
import type { ShownJob } from '../../bulk/sql/read.ts'
import type { Channel } from '../../channels/plain.ts'
import { channelsCaptured } from '../../config/in-use.ts'
import { type Ending, endingBy } from '../../timeline/endings.ts'
import type { ServiceVisit, Visit } from '../page.ts'
import { type Marked, mark, rich, say, t } from '../words/index.ts'
import { Callout, type Tone } from './basics.tsx'

/** Mails of Herald itself, too. */
export const capturesMails = ({ parts }: Pick<Visit, 'parts'>): boolean =>
  channelsCaptured(parts.config).includes('email')

const CAPTURED = {
  invited: mark('The invitation is captured, not sent. Operators find it in the captured inbox.'),
  again: mark('Another invitation is captured, not sent. The previous link no longer works.'),
  'reply-to-asked': mark('The link is captured, not sent. Operators find it in the captured inbox.'),
  'reply-to-again': mark('Another link is captured, not sent. The previous one no longer works.'),
  'address-asked': mark(
    'If no one has the new address, a link to it is captured, not sent. Operators find it in the captured inbox.',
  ),
}

/** What was done, where mails that were to be sent are captured. */
export const orCaptured = <D extends Readonly<Record<string, string>>>(visit: Pick<Visit, 'parts'>, done: D): D =>
  capturesMails(visit)
    ? { ...done, ...Object.fromEntries(Object.entries(CAPTURED).filter(([key]) => Object.hasOwn(done, key))) }
    : done

export const ENDINGS: Readonly<Record<Ending, readonly [tone: Tone, words: Marked]>> = {
  delivered: ['good', mark('Delivered')],
  captured: ['idle', mark('Captured')],
  simulated: ['idle', mark('Simulated')],
  mixed: ['idle', mark('Delivered or captured')],
}

export const ENDED: Readonly<Record<Ending, (count: string) => string>> = {
  delivered: count => t`${count} delivered`,
  captured: count => t`${count} captured`,
  simulated: count => t`${count} simulated`,
  mixed: count => t`${count} delivered or captured`,
}

/** Of messages that ended already; before that, of those to come. */
export const endingOr = (
  { parts }: Pick<Visit, 'parts'>,
  ending: Ending | null,
  channels: readonly Channel[],
): Ending => ending ?? (channels.every(one => channelsCaptured(parts.config).includes(one)) ? 'captured' : 'delivered')

/** Of a job, by who handed over its messages; before that, by who will. */
export function endingOfJob(
  visit: Pick<Visit, 'parts'>,
  job: Pick<ShownJob, 'channel' | 'key_type'>,
  provider: string | null,
): Ending {
  if (job.key_type === 'test') return 'simulated'
  return endingOr(visit, provider === null ? null : endingBy(provider), [job.channel])
}

/** Says above the numbers of a service that its messages reach nobody. Nothing where every channel sends. */
export function CapturedNote({ visit }: { visit: ServiceVisit }) {
  const captured = channelsCaptured(visit.parts.config)
  const [only, ...others] = captured
  if (only === undefined) return null
  const inbox = visit.may('see-inbox') ? (
    <a href={visit.url(`/s/${visit.service.id}/inbox`)}>{t`the captured inbox`}</a>
  ) : (
    t`the captured inbox`
  )
  return (
    <Callout
      tone="warn"
      title={others.length > 0 ? t`Messages are captured, not delivered to anyone` : say(NOBODY_GETS[only])}
    >
      <p>{rich`Herald keeps them in ${inbox}. The API calls them delivered.`}</p>
    </Callout>
  )
}

const NOBODY_GETS: Readonly<Record<Channel, Marked>> = {
  email: mark('E-mails are captured, not delivered to anyone'),
  sms: mark('Text messages are captured, not delivered to anyone'),
}
