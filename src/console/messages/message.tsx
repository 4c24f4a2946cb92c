// One message: what happened and what to do, what the recipient gets, and everything that is known of it.
import { fromMicros, type Timestamp } from '../../core/clock.ts'
import { type Id, microsOf, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { cancel } from '../../notifications/cancel.ts'
import { sendCopy } from '../../notifications/copy.ts'
import { retentionDays } from '../../services/service.ts'
import { NOTHING_TO_DO } from '../../timeline/sentence.ts'
import { isGone, messageContent, type WholeMessage, wholeMessage } from '../../timeline/whole.ts'
import { Callout, Card, Done, Empty, Facts, Icon, PageHead, type Tone } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { Dialog } from '../components/overlays.tsx'
import { reachedNobody } from '../components/status.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, Handler, PageAnswer, ServiceVisit } from '../page.ts'
import { Content, isView, type View } from './content.tsx'
import { Happened } from './happened.tsx'
import { Status } from './list.tsx'
import { keyNameOf, listPath } from './query.ts'

export const messagePage: Handler<ServiceVisit> = visit =>
  withMessage(visit, async id => {
    const whole = await wholeMessage(visit.parts, visit.actor, visit.service, id, writerOf(visit))
    return pageOf(visit, whole)
  })

/** The e-mail alone, for the frame. */
export const renderedPage: Handler<ServiceVisit> = visit =>
  withMessage(visit, async id => {
    const content = await messageContent(visit.parts, visit.actor, visit.service, id)
    return content.channel === 'email' ? { kind: 'frame', html: content.email.html } : notFound(visit.service)
  })

export const cancelMessage: Handler<ServiceVisit> = visit =>
  withMessage(visit, id =>
    acted(visit, id, 'Not cancelled', async () => {
      await cancel({ sql: visit.parts.db.sql, hints: visit.parts.hints }, visit.actor, visit.service.id, id)
      return `/s/${visit.service.id}/messages/${id}?done=cancelled`
    }),
  )

export const copyMessage: Handler<ServiceVisit> = visit =>
  withMessage(visit, id =>
    acted(visit, id, 'The copy was not sent', async () => {
      const { parts, actor, service, origin } = visit
      const copy = await sendCopy(parts, actor, service, id, { base: parts.config.baseUrl ?? origin })
      return copy === null
        ? `/s/${service.id}/messages/${id}?done=simulated`
        : `/s/${service.id}/messages/${copy}?done=copied`
    }),
  )

const DONE = {
  cancelled: 'The message is cancelled. It was not sent.',
  sent: 'This is your test. What happened to it is below.',
  accepted: 'The message is accepted and leaves as soon as it is its turn. What happens to it is below.',
  scheduled: 'The message is scheduled. Until it leaves you can cancel it.',
  copied: 'This is the copy. It is accepted and leaves as soon as it is its turn.',
  simulated: 'The recipient is one for smoke tests: the copy was checked, and nothing is stored or sent.',
} as const

/** Of an id that cannot be read, or that is too old to be known, there is nothing. */
async function withMessage(visit: ServiceVisit, work: (id: Id) => Promise<Answer>): Promise<Answer> {
  const { parts, service, params } = visit
  const id = readId(params.id)
  if (id === null) return notFound(service)
  if (isGone(parts, service, id)) return gone(visit, id)
  return work(id)
}

/** A verb that says no is answered with the page and its sentence. */
async function acted(visit: ServiceVisit, id: Id, title: string, work: () => Promise<string>): Promise<Answer> {
  try {
    return { kind: 'redirect', to: await work() }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'NoResultFound' || error.kind === 'ForbiddenError') throw error
    const whole = await wholeMessage(visit.parts, visit.actor, visit.service, id, writerOf(visit))
    return pageOf(visit, whole, { title, sentences: error.messages })
  }
}

/** "14:32", with the day when it is another. */
const writerOf =
  ({ formats, parts }: Pick<ServiceVisit, 'formats' | 'parts'>) =>
  (at: Timestamp) => {
    const day = formats.day(at)
    const zone = formats.timeZone === 'UTC' ? ' UTC' : ''
    return day === formats.day(fromMicros(parts.clock.micros()))
      ? `${formats.clock(at)}${zone}`
      : `${formats.clock(at)}${zone} on ${day}`
  }

type Refused = { title: string; sentences: readonly string[] }

function pageOf(visit: ServiceVisit, whole: WholeMessage, refused?: Refused): PageAnswer {
  const asked = visit.query.get('view') ?? ''
  const view: View = whole.content.channel === 'email' && isView(asked) ? asked : 'sent'
  const title = titleOf(whole)
  return {
    kind: 'page',
    title: refused ? `Error: ${title}` : title,
    nav: 'messages',
    ...(refused && { status: 422 }),
    body: <Message {...{ visit, whole, view, title, refused }} />,
  }
}

const titleOf = ({ content, message }: WholeMessage): string =>
  (content.channel === 'email' && content.email.subject.trim()) || (message.template_name ?? 'A message')

type Shown = {
  visit: ServiceVisit
  whole: WholeMessage
  view: View
  title: string
  refused: Refused | undefined
}

function Message({ visit, whole, view, title, refused }: Shown) {
  const { service, query, url } = visit
  const { message, to, isScheduled } = whole
  const path = `/s/${service.id}/messages/${message.id}`
  return (
    <>
      <PageHead
        title={<bdi>{title}</bdi>}
        crumbs={[['Messages', `/s/${service.id}/messages`]]}
        lede={
          <>
            {message.channel === 'sms' ? 'Text message' : 'E-mail'} to{' '}
            <strong>
              <bdi>{to}</bdi>
            </strong>{' '}
            <Status message={{ ...message, isScheduled }} />
          </>
        }
      >
        <Actions {...{ visit, whole }} />
      </PageHead>
      <Done done={query.get('done')} sentences={DONE} />
      {refused ? (
        <Callout tone="bad" role="alert" title={refused.title}>
          {refused.sentences.map(sentence => (
            <p key={sentence} dir="auto">
              {sentence.endsWith('.') ? sentence : `${sentence}.`}
            </p>
          ))}
        </Callout>
      ) : (
        <WhatHappened {...{ visit, whole }} />
      )}
      <div class="cols-main">
        <div class="stack">
          <Content {...{ visit, whole, view }} path={url(path)} />
        </div>
        <div class="stack">
          <Happened {...{ visit, whole }} />
          <Details {...{ visit, whole }} />
        </div>
      </div>
      <AsCurl path={`/v2/notifications/${message.id}`} />
    </>
  )
}

function Actions({ visit, whole }: { visit: ServiceVisit; whole: WholeMessage }) {
  const { isScheduled, isCopyable, currentVersion } = whole
  const canCancel = isScheduled && visit.may('cancel-messages')
  const canCopy = !isScheduled && visit.may('send-messages') && isCopyable && currentVersion !== null
  return (
    <>
      {canCopy && <CopyDialog {...{ visit, whole, currentVersion }} />}
      {canCancel && <CancelDialog {...{ visit, whole }} />}
    </>
  )
}

const keep = (id: string, words: string) => (
  <button class="btn" type="button" popovertarget={id} popovertargetaction="hide">
    {words}
  </button>
)

const CancelDialog = ({ visit: { service }, whole: { message, to } }: { visit: ServiceVisit; whole: WholeMessage }) => (
  <>
    <button class="btn btn-danger" type="button" popovertarget="cancel">
      Cancel this message
    </button>
    <Dialog id="cancel" title="Cancel this message?">
      <p>
        It is not sent to <bdi>{to}</bdi>. It cannot be scheduled again, but you can send a copy later.
      </p>
      <Form action={`/s/${service.id}/messages/${message.id}/cancel`} class="row">
        {keep('cancel', 'Keep it')}
        <button class="btn btn-danger" type="submit">
          Cancel the message
        </button>
      </Form>
    </Dialog>
  </>
)

function CopyDialog(props: { visit: ServiceVisit; whole: WholeMessage; currentVersion: number }) {
  const { visit, whole, currentVersion } = props
  const { message, to } = whole
  return (
    <>
      <button class="btn" type="button" popovertarget="copy">
        <Icon name="repeat" />
        Send a copy
      </button>
      <Dialog id="copy" title="Send a copy?">
        <p>
          {message.key_type === 'test' ? (
            'This message was made with a test key, so the copy is simulated too: nothing is sent.'
          ) : (
            <>
              <bdi>{to}</bdi> gets a new message with the same values now. It counts as a message of today.
            </>
          )}
        </p>
        {currentVersion !== message.template_version && (
          <p>
            The template has changed: this message has version {message.template_version}, the copy has version{' '}
            {currentVersion}.
          </p>
        )}
        <Form action={`/s/${visit.service.id}/messages/${message.id}/copy`} class="row">
          {keep('copy', 'Do not send')}
          <button class="btn btn-primary" type="submit">
            Send a copy
          </button>
        </Form>
      </Dialog>
    </>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  sent: 'good',
  'permanent-failure': 'bad',
  'technical-failure': 'bad',
  'virus-scan-failed': 'bad',
  'temporary-failure': 'warn',
  cancelled: 'idle',
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** What happened, how far it came, and what to do. */
function WhatHappened({ visit, whole }: { visit: ServiceVisit; whole: WholeMessage }) {
  const { message, said, isScheduled } = whole
  const isPlain = isScheduled || (reachedNobody(message.provider) && TONES[message.status] === 'good')
  const tone = isPlain ? 'info' : (TONES[message.status] ?? 'info')
  if (isScheduled && message.scheduled_for)
    return (
      <Callout tone={tone} title={`Leaves at ${writerOf(visit)(message.scheduled_for)}`}>
        <p>
          Nothing was sent yet. Until then {visit.may('cancel-messages') ? 'you' : 'senders and managers'} can cancel
          it.
        </p>
      </Callout>
    )
  const [first = '', ...rest] = said
  const advice = rest.at(-1)
  return (
    <Callout tone={tone} title={capital(first)}>
      {rest.length > 1 && (
        <p>
          {rest
            .slice(0, -1)
            .map(one => `${capital(one)}.`)
            .join(' ')}
        </p>
      )}
      {advice && (
        <p>
          {advice === NOTHING_TO_DO ? (
            'There is nothing to do.'
          ) : (
            <>
              <strong>What to do:</strong> {advice}.
            </>
          )}
        </p>
      )}
    </Callout>
  )
}

function Details({ visit, whole }: { visit: ServiceVisit; whole: WholeMessage }) {
  const { service, url, formats } = visit
  const { message, job, lane, sentBy } = whole
  const until = fromMicros(microsOf(message.id) + retentionDays(service, message.channel) * 86_400_000_000)
  return (
    <Card title="Details">
      <Facts
        top
        rows={[
          ['Id', <span class="id">{message.id}</span>],
          message.reference !== null && [
            'Your reference',
            <span class="id">
              <bdi>{message.reference}</bdi>
            </span>,
          ],
          [
            'Template',
            <>
              <a href={url(`/s/${service.id}/templates/${message.template_id}`)}>
                <bdi>{message.template_name ?? 'A template'}</bdi>
              </a>
              , version {message.template_version}
            </>,
          ],
          job && [
            'Job',
            <a href={url(listPath(service.id, { job: job.id }))}>
              <bdi>{job.name}</bdi>
            </a>,
          ],
          ['Sent by', <bdi>{sentBy.kind === 'operator' ? 'The operator' : (sentBy.name ?? 'Somebody who left')}</bdi>],
          [
            'Kind of key',
            sentBy.kind === 'person' && message.key_type === 'normal' ? 'None' : keyNameOf(message.key_type),
          ],
          ['Lane', lane],
          message.provider !== null && ['Provider', <bdi>{message.provider}</bdi>],
          ['Content goes on', formats.full(until).split(',')[0]],
        ]}
      />
    </Card>
  )
}

/** Older than the retention: nobody can say whether there was such a message, but everybody when it would have gone. */
function gone({ service, formats, url }: ServiceVisit, id: Id): PageAnswer {
  const days = Math.max(service.email_retention_days, service.sms_retention_days)
  const at = formats.full(fromMicros(microsOf(id) + days * 86_400_000_000)).split(',')[0]
  return {
    kind: 'page',
    status: 404,
    title: 'The message is gone',
    nav: 'messages',
    width: 'narrow',
    body: (
      <>
        <PageHead title="The message is gone" crumbs={[['Messages', `/s/${service.id}/messages`]]} />
        <Card>
          <Empty
            icon="clock"
            level={2}
            title={`Its content went on ${at}`}
            text={`This service keeps messages for ${days === 1 ? '1 day' : `${days} days`}. Counts stay, contents go.`}
          >
            <a class="btn" href={url(`/s/${service.id}/messages`)}>
              Open the messages
            </a>
          </Empty>
        </Card>
      </>
    ),
  }
}
