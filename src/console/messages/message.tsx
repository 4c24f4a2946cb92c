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
import type { Answer, DirectAnswer, Handler, PageAnswer, ServiceVisit } from '../page.ts'
import { mark, rich, t } from '../words/index.ts'
import { fromNoun, known } from '../words/nouns.tsx'
import { Content, isView, type View } from './content.tsx'
import { Happened } from './happened.tsx'
import { daysWords, Status } from './list.tsx'
import { keyNameOf } from './query.ts'

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
    acted(visit, id, t`Not cancelled`, async () => {
      await cancel({ sql: visit.parts.db.sql, hints: visit.parts.hints }, visit.actor, visit.service.id, id)
      return `/s/${visit.service.id}/messages/${id}?done=cancelled`
    }),
  )

export const copyMessage: Handler<ServiceVisit> = visit =>
  withMessage(visit, async id => {
    const { parts, actor, service, origin } = visit
    const send = async () => {
      const copy = await sendCopy(parts, actor, service, id, { base: parts.config.baseUrl ?? origin })
      return copy === null
        ? `/s/${service.id}/messages/${id}?done=simulated`
        : `/s/${service.id}/messages/${copy}?done=copied`
    }
    const reader = { owner: service.id, person: actor.id }
    const inTurn = <T,>(read: () => Promise<T>) => parts.reads.visit(reader, read)
    return { kind: 'later', make: () => acted(visit, id, t`The copy was not sent`, send, inTurn) }
  })

const DONE = {
  cancelled: mark('The message is cancelled. It was not sent.'),
  sent: mark('This is your test. What happened to it is below.'),
  accepted: mark('The message is accepted and leaves as soon as it is its turn. What happens to it is below.'),
  scheduled: mark('The message is scheduled. Until it leaves you can cancel it.'),
  copied: mark('This is the copy. It is accepted and leaves as soon as it is its turn.'),
  simulated: mark('The recipient is one for smoke tests: the copy was checked, and nothing is stored or sent.'),
} as const

/** Of an id that cannot be read, or that is too old to be known, there is nothing. */
async function withMessage(visit: ServiceVisit, work: (id: Id) => Promise<Answer>): Promise<Answer> {
  const { parts, service, params } = visit
  const id = readId(params.id)
  if (id === null) return notFound(service)
  if (isGone(parts, service, id)) return gone(visit, id)
  return work(id)
}

type InTurn = <T>(read: () => Promise<T>) => Promise<T>

/** A verb that says no is answered with the page and its sentence. `inTurn`: for what is done later, after the turn of the page. */
async function acted(
  visit: ServiceVisit,
  id: Id,
  title: string,
  work: () => Promise<string>,
  inTurn: InTurn = read => read(),
): Promise<DirectAnswer> {
  try {
    return { kind: 'redirect', to: await work() }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'NoResultFound' || error.kind === 'ForbiddenError') throw error
    const whole = await inTurn(() => wholeMessage(visit.parts, visit.actor, visit.service, id, writerOf(visit)))
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
      : t`${formats.clock(at)}${zone} on ${day}`
  }

type Refused = { title: string; sentences: readonly string[] }

function pageOf(visit: ServiceVisit, whole: WholeMessage, refused?: Refused): PageAnswer {
  const asked = visit.query.get('view') ?? ''
  const view: View = whole.content.channel === 'email' && isView(asked) ? asked : 'sent'
  const title = titleOf(whole)
  return {
    kind: 'page',
    title: refused ? t`Error: ${title}` : title,
    nav: 'messages',
    ...(refused && { status: 422 }),
    body: <Message {...{ visit, whole, view, title, refused }} />,
  }
}

const titleOf = ({ content, message }: WholeMessage): string =>
  (content.channel === 'email' && content.email.subject.trim()) || (message.template_name ?? t`A message`)

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
  const recipient = (
    <strong>
      <bdi>{to}</bdi>
    </strong>
  )
  return (
    <>
      <PageHead
        title={<bdi>{title}</bdi>}
        crumbs={[[t`Messages`, `/s/${service.id}/messages`]]}
        lede={
          <>
            {message.channel === 'sms' ? rich`Text message to ${recipient}` : rich`E-mail to ${recipient}`}{' '}
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
              {fromNoun(sentence.endsWith('.') ? sentence : `${sentence}.`)}
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
    <button class="btn btn-danger" type="button" popovertarget="cancel">{t`Cancel this message`}</button>
    <Dialog id="cancel" title={t`Cancel this message?`}>
      <p>{rich`It is not sent to ${<bdi>{to}</bdi>}. It cannot be scheduled again, but you can send a copy later.`}</p>
      <Form action={`/s/${service.id}/messages/${message.id}/cancel`} class="row">
        {keep('cancel', t`Keep it`)}
        <button class="btn btn-danger" type="submit">{t`Cancel the message`}</button>
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
        {t`Send a copy`}
      </button>
      <Dialog id="copy" title={t`Send a copy?`}>
        <p>
          {message.key_type === 'test'
            ? t`This message was made with a test key, so the copy is simulated too: nothing is sent.`
            : rich`${<bdi>{to}</bdi>} gets a new message with the same values now. It counts as a message of today.`}
        </p>
        {currentVersion !== message.template_version && (
          <p>{rich`The template has changed: this message has version ${message.template_version}, the copy has version ${currentVersion}.`}</p>
        )}
        <Form action={`/s/${visit.service.id}/messages/${message.id}/copy`} class="row">
          {keep('copy', t`Do not send`)}
          <button class="btn btn-primary" type="submit">{t`Send a copy`}</button>
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
      <Callout tone={tone} title={t`Leaves at ${writerOf(visit)(message.scheduled_for)}`}>
        <p>
          {visit.may('cancel-messages')
            ? t`Nothing was sent yet. Until then you can cancel it.`
            : t`Nothing was sent yet. Until then senders and managers can cancel it.`}
        </p>
      </Callout>
    )
  const [first = '', ...rest] = said
  const advice = rest.at(-1)
  const inWords = (part: string) => capital(known(part))
  return (
    <Callout tone={tone} title={inWords(first)}>
      {rest.length > 1 && (
        <p>
          {rest
            .slice(0, -1)
            .map(one => `${inWords(one)}.`)
            .join(' ')}
        </p>
      )}
      {advice && (
        <p>
          {advice === NOTHING_TO_DO ? (
            t`There is nothing to do.`
          ) : (
            <>
              <strong>{t`What to do:`}</strong> {known(advice)}.
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
    <Card title={t`Details`}>
      <Facts
        top
        rows={[
          [t`Id`, <span class="id">{message.id}</span>],
          message.reference !== null && [
            t`Your reference`,
            <span class="id">
              <bdi>{message.reference}</bdi>
            </span>,
          ],
          [
            t`Template`,
            rich`${(
              <a href={url(`/s/${service.id}/templates/${message.template_id}`)}>
                <bdi>{message.template_name ?? t`A template`}</bdi>
              </a>
            )}, version ${message.template_version}`,
          ],
          job && [
            t`Job`,
            <a href={url(`/s/${service.id}/jobs/${job.id}`)}>
              <bdi>{job.name}</bdi>
            </a>,
          ],
          [
            t`Sent by`,
            <bdi>{sentBy.kind === 'operator' ? t`The operator` : (sentBy.name ?? t`Somebody who left`)}</bdi>,
          ],
          [
            t`Kind of key`,
            sentBy.kind === 'person' && message.key_type === 'normal' ? t`None` : keyNameOf(message.key_type),
          ],
          [t`Lane`, <code>{lane}</code>],
          message.provider !== null && [t`Provider`, <bdi>{message.provider}</bdi>],
          [t`Content goes on`, formats.date(until)],
        ]}
      />
    </Card>
  )
}

/** Older than the retention: nobody can say whether there was such a message, but everybody when it would have gone. */
function gone({ service, formats, url }: ServiceVisit, id: Id): PageAnswer {
  const days = Math.max(service.email_retention_days, service.sms_retention_days)
  const at = formats.date(fromMicros(microsOf(id) + days * 86_400_000_000))
  return {
    kind: 'page',
    status: 404,
    title: t`The message is gone`,
    nav: 'messages',
    width: 'narrow',
    body: (
      <>
        <PageHead title={t`The message is gone`} crumbs={[[t`Messages`, `/s/${service.id}/messages`]]} />
        <Card>
          <Empty
            icon="clock"
            level={2}
            title={t`Its content went on ${at}`}
            text={t`This service keeps messages for ${daysWords(days)}. Counts stay, contents go.`}
          >
            <a class="btn" href={url(`/s/${service.id}/messages`)}>{t`Open the messages`}</a>
          </Empty>
        </Card>
      </>
    ),
  }
}
