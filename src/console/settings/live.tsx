// Going live: the checklist, the request of a manager, the decision of an operator.
import type { Permission } from '../../audit/actor.ts'
import { askToGoLive } from '../../live-requests/ask.ts'
import { type ChecklistItem, checklistOf, isReady } from '../../live-requests/checklist.ts'
import { backToTrial, declineLive, grantLive } from '../../live-requests/decide.ts'
import { readRequest, type ShownRequest } from '../../live-requests/read.ts'
import { Callout, Card, Done, Facts, Time } from '../components/basics.tsx'
import { Choices, type FieldErrors, Form, Input, Textarea } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { errorsAt, problemOf } from '../refused.ts'
import { ServiceMode } from '../services/mode.tsx'
import { type Marked, mark, rich, say, t } from '../words/index.ts'
import { wholeIn } from './change.tsx'
import { belowSettings } from './form.tsx'
import { settingsPath } from './rows.tsx'
import { saidIn } from './settings.tsx'

const DONE = {
  asked: mark('The operators got your request by e-mail. You get one when they have decided.'),
  live: mark('The service is live already.'),
  granted: mark('The service is live. Who asked for it is told by e-mail.'),
  declined: mark('The request is declined. Who asked for it is told by e-mail, with your reason.'),
  trial: mark('The service is in trial again: it sends to its team and its safelist only.'),
}

type Given = { purpose: string; email_a_day: string; sms_a_day: string; considered: boolean; reason: string }
const NOTHING: Given = { purpose: '', email_a_day: '', sms_a_day: '', considered: false, reason: '' }

export const livePage = (visit: ServiceVisit): Promise<Answer> => page(visit, NOTHING, {})

export async function askForLive(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form, origin, url } = visit
  const given: Given = {
    purpose: form.get('purpose') ?? '',
    email_a_day: form.get('email_a_day') ?? '',
    sms_a_day: form.get('sms_a_day') ?? '',
    considered: form.get('considered') === 'yes',
    reason: '',
  }
  const errors: FieldErrors = {
    ...(given.purpose.trim() === '' && { purpose: t`Describe what you send, and to whom.` }),
    ...(!given.considered && { considered: t`Look at how long messages are kept, then tick the box.` }),
  }
  if (Object.keys(errors).length > 0 && service.mode === 'trial') return page(visit, given, errors)
  try {
    const done = await askToGoLive(parts, actor, service.id, {
      purpose: given.purpose,
      email_a_day: given.email_a_day.trim() === '' ? null : wholeIn(given.email_a_day),
      sms_a_day: given.sms_a_day.trim() === '' ? null : wholeIn(given.sms_a_day),
      console: origin + url(''),
    })
    return toLive(visit, done)
  } catch (error) {
    return page(visit, given, errorsAt(error, ['purpose', 'email_a_day', 'sms_a_day']))
  }
}

export async function grant(visit: ServiceVisit): Promise<Answer> {
  await grantLive(visit.parts, visit.actor, visit.service.id, visit.origin + visit.url(''))
  return toLive(visit, 'granted')
}

export async function decline(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, origin, url } = visit
  const reason = visit.form.get('reason') ?? ''
  if (reason.trim() === '') return page(visit, NOTHING, { reason: t`Say what is missing, so that they can mend it.` })
  try {
    await declineLive(parts, actor, service.id, { reason, console: origin + url('') })
    return toLive(visit, 'declined')
  } catch (error) {
    return page(visit, { ...NOTHING, reason }, { reason: problemOf(error) })
  }
}

export async function endLive(visit: ServiceVisit): Promise<Answer> {
  await backToTrial(visit.parts, visit.actor, visit.service.id)
  return toLive(visit, 'trial')
}

const toLive = ({ service }: ServiceVisit, done: string): Answer => ({
  kind: 'redirect',
  to: settingsPath(service.id, `/live?done=${done}`),
})

async function page(visit: ServiceVisit, given: Given, errors: FieldErrors): Promise<Answer> {
  const { parts, actor, service, query } = visit
  const [items, request] = await Promise.all([
    checklistOf(parts, actor, service.id),
    readRequest(parts, actor, service.id),
  ])
  const isOpen = request?.decision === null
  const isOperator = visit.may('manage-installation')
  const isTrial = service.mode === 'trial'
  return belowSettings(
    visit,
    {
      title: t`Going live`,
      lede: isTrial
        ? t`In trial a service sends to its team and its safelist only. Live, it sends to anyone, within its limits.`
        : t`This service is live: it sends to anyone, within its limits.`,
      aside: <ServiceMode service={service} />,
      done: <Done done={query.get('done')} sentences={saidIn(DONE)} />,
      errors,
      not: t`Not sent yet`,
      command: `herald service set ${service.id} --mode live`,
    },
    <>
      {isTrial && request?.decision === 'declined' && <Declined request={request} />}
      {isTrial && <Checklist visit={visit} items={items} />}
      {isTrial && isOpen && <Request visit={visit} request={request} />}
      {isTrial && !isOpen && visit.may('manage-service') && (
        <Ask visit={visit} given={given} errors={errors} canAsk={isReady(items)} />
      )}
      {isTrial && !visit.may('manage-service') && !isOpen && (
        <p class="muted">{t`A manager of the service asks to go live; an operator decides.`}</p>
      )}
      {isOperator && isTrial && <Decide visit={visit} isOpen={isOpen} reason={given.reason} errors={errors} />}
      {isOperator && !isTrial && <End visit={visit} />}
    </>,
  )
}

const ITEMS: Readonly<
  Record<ChecklistItem['key'], { words: Marked; hint: Marked; go: Marked; path: string; permission: Permission }>
> = {
  template: {
    words: mark('A template'),
    hint: mark('What your messages say. Every message is made from one.'),
    go: mark('Go to the templates'),
    path: '/templates',
    permission: 'see-messages',
  },
  sender: {
    words: mark('A live key, or somebody who may send'),
    hint: mark('A program sends with a key of the type live; a person needs the role sender or manager.'),
    go: mark('Go to the keys'),
    path: '/keys',
    permission: 'manage-keys',
  },
  'reply-to': {
    words: mark('A confirmed address for replies'),
    hint: mark('So that answers to your e-mails reach your team. Not needed for text messages.'),
    go: mark('Go to the addresses'),
    path: '/settings#reply-tos',
    permission: 'see-service',
  },
  team: {
    words: mark('A team of two'),
    hint: mark('So that somebody can act while the other is away.'),
    go: mark('Go to the team'),
    path: '/team',
    permission: 'see-service',
  },
}

const Checklist = ({ visit, items }: { visit: ServiceVisit; items: readonly ChecklistItem[] }) => (
  <section class="card" aria-label={t`What a live service needs`}>
    <ol class="steps">
      {items.map(({ key, isDone, needed }) => (
        <li key={key} class={isDone ? 'done' : undefined}>
          <div>
            <h2>{say(ITEMS[key].words)}</h2>
            <p class="muted">
              {say(ITEMS[key].hint)} {!isDone && (needed ? t`Missing, and needed.` : t`Missing, but not needed.`)}
            </p>
          </div>
          {!isDone && visit.may(ITEMS[key].permission) && (
            <a class="btn btn-sm" href={visit.url(`/s/${visit.service.id}${ITEMS[key].path}`)}>
              {say(ITEMS[key].go)}
            </a>
          )}
        </li>
      ))}
    </ol>
  </section>
)

const Declined = ({ request }: { request: ShownRequest }) => (
  <Callout tone="warn" title={t`The last request was declined`}>
    <p>
      <bdi>{request.reason}</bdi>
    </p>
  </Callout>
)

const volume = (visit: ServiceVisit, number: number | null) => (number === null ? '–' : visit.formats.number(number))

const Request = ({ visit, request }: { visit: ServiceVisit; request: ShownRequest }) => (
  <Card id="request" title={t`The request`}>
    <Facts
      rows={[
        [t`Asked by`, <bdi>{request.asked_by_name ?? t`the operator`}</bdi>],
        [t`When`, <Time at={request.asked_at} />],
        [t`What is sent, and to whom`, <bdi>{request.purpose}</bdi>],
        [t`E-mails a day`, volume(visit, request.email_a_day)],
        [t`Text messages a day`, volume(visit, request.sms_a_day)],
      ]}
    />
  </Card>
)

function Ask(props: { visit: ServiceVisit; given: Given; errors: FieldErrors; canAsk: boolean }) {
  const { visit, given, errors, canAsk } = props
  const { service, url } = visit
  return (
    <Card id="ask" title={t`Ask to go live`}>
      {!canAsk && <p>{t`Do first what is marked as needed above.`}</p>}
      {canAsk && (
        <Form action={settingsPath(service.id, '/live')}>
          <Textarea
            label={t`What do you send, and to whom?`}
            name="purpose"
            rows={3}
            hint={t`A few sentences for the operator. Name no recipients.`}
            value={given.purpose}
            error={errors.purpose}
            required
          />
          <Input
            label={t`E-mails a day, about`}
            name="email_a_day"
            type="number"
            width="sm"
            value={given.email_a_day}
            error={errors.email_a_day}
          />
          <Input
            label={t`Text messages a day, about`}
            name="sms_a_day"
            type="number"
            width="sm"
            value={given.sms_a_day}
            error={errors.sms_a_day}
          />
          <Choices
            legend={t`Privacy`}
            name="considered"
            type="checkbox"
            error={errors.considered}
            options={[
              {
                value: 'yes',
                words: rich`We have looked at ${<a href={url(settingsPath(service.id, '#limits'))}>{t`how long messages are kept`}</a>}`,
                checked: given.considered,
              },
            ]}
          />
          <div class="row">
            <button class="btn btn-primary" type="submit">
              {t`Ask to go live`}
            </button>
          </div>
        </Form>
      )}
    </Card>
  )
}

/** Two forms: the one for declining has a field. */
function Decide(props: { visit: ServiceVisit; isOpen: boolean; reason: string; errors: FieldErrors }) {
  const { service } = props.visit
  return (
    <Card id="decide" title={props.isOpen ? t`Decide` : t`Make it live`}>
      <div class="stack">
        <p>{t`Live, it sends to anyone. Look at its limits first: they are those of live services unless it has its own.`}</p>
        <Form action={settingsPath(service.id, '/live/grant')} class="row">
          <button class="btn btn-primary" type="submit">
            {t`Make the service live`}
          </button>
          <a class="btn" href={props.visit.url(settingsPath(service.id, '/limits'))}>
            {t`Change the limits`}
          </a>
        </Form>
        {props.isOpen && (
          <Form action={settingsPath(service.id, '/live/decline')}>
            <Textarea
              label={t`Reason for declining`}
              name="reason"
              rows={3}
              hint={t`They get it by e-mail, and see it here.`}
              value={props.reason}
              error={props.errors.reason}
            />
            <div class="row">
              <button class="btn" type="submit">
                {t`Decline the request`}
              </button>
            </div>
          </Form>
        )}
      </div>
    </Card>
  )
}

const End = ({ visit }: { visit: ServiceVisit }) => (
  <Card id="end" title={t`Back to trial`}>
    <div class="stack">
      <p>{t`From the next request on it sends to its team and its safelist only. Messages that were accepted are still sent.`}</p>
      <Form action={settingsPath(visit.service.id, '/live/end')} class="row">
        <a class="btn" href={visit.url(settingsPath(visit.service.id))}>
          {t`Keep it live`}
        </a>
        <button class="btn btn-danger" type="submit">
          {t`Put it back to trial`}
        </button>
      </Form>
    </div>
  </Card>
)
