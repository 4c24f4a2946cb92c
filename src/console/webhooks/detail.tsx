// One endpoint: how it is doing, what it was sent and what it answered.
import { type Id, readId } from '../../core/id.ts'
import { attempts, KEPT_DAYS, refused } from '../../webhooks/attempts.ts'
import { read, type ShownWebhook } from '../../webhooks/read.ts'
import { type SentAttempt, sentTo } from '../../webhooks/sent.ts'
import type { SetAside } from '../../webhooks/sql/replay.ts'
import { signingSecrets } from '../../webhooks/webhook.ts'
import { Callout, Card, Code, Done, Empty, Facts, Icon, PageHead, Tabs, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import { Form, Input } from '../components/form.tsx'
import { Pager, Table } from '../components/list.tsx'
import { Stats } from '../components/numbers.tsx'
import { Dialog } from '../components/overlays.tsx'
import { Badge } from '../components/status.tsx'
import { TYPES } from '../keys/types.ts'
import type { Answer, PageAnswer, ServiceVisit } from '../page.ts'
import { plural, rich, say, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { formatWords } from './list.tsx'
import { hostOf, type TestedWebhook, WebhookState } from './state.tsx'

const PAGE = 20
const NOTHING = '00000000-0000-0000-0000-000000000000'
const VIEWS = ['attempts', 'failed', 'refused'] as const
type View = (typeof VIEWS)[number]

export const webhookPage = (visit: ServiceVisit): Promise<Answer> => webhookAnswer(visit, {})

/** `problem`: of replaying. */
export type Extra = { tested?: TestedWebhook; problem?: string; status?: number }

export async function webhookAnswer(visit: ServiceVisit, extra: Extra): Promise<PageAnswer> {
  const { parts, service, params, query } = visit
  const owner = { service_id: service.id, key_type: null }
  const webhook = await read(parts, owner, (readId(params.id) ?? NOTHING) as Id)
  const view = VIEWS.find(one => one === query.get('view')) ?? 'attempts'
  const page = { olderThan: readId(query.get('before')), most: PAGE + 1 }
  const lists =
    view === 'refused'
      ? { refused: await refused(parts, owner, webhook.id, page), sent: [] }
      : {
          refused: [],
          sent: await sentTo(
            parts,
            webhook,
            await attempts(parts, owner, webhook.id, { ...page, isFailed: view === 'failed' }),
          ),
        }
  return {
    kind: 'page',
    title: extra.problem ? t`Error: ${hostOf(webhook.url)}` : hostOf(webhook.url),
    nav: 'webhooks',
    ...(extra.status && { status: extra.status }),
    body: <Endpoint {...{ visit, webhook, view, lists, extra }} isFirst={page.olderThan === null} />,
  }
}

type Lists = { refused: readonly SetAside[]; sent: readonly SentAttempt[] }
type Shown = { visit: ServiceVisit; webhook: ShownWebhook; view: View; lists: Lists; extra: Extra; isFirst: boolean }

const pathOf = ({ service }: ServiceVisit, { id }: ShownWebhook) => `/s/${service.id}/webhooks/${id}`

function Endpoint(props: Shown) {
  const { visit, webhook, extra } = props
  const { service, url, query } = visit
  const path = pathOf(visit, webhook)
  return (
    <>
      <PageHead
        title={hostOf(webhook.url)}
        crumbs={[[t`Webhooks`, `/s/${service.id}/webhooks`]]}
        lede={
          <>
            <span class="id">{webhook.url}</span> <WebhookState webhook={webhook} />
          </>
        }
      >
        <Form action={`${path}/test`} class="row">
          <button class="btn" type="submit">
            {t`Send a test event`}
          </button>
        </Form>
        <a class="btn" href={url(`${path}/settings`)}>
          {t`Change`}
        </a>
        {webhook.state === 'active' ? (
          <Switch path={path} state="paused" words={t`Pause`} />
        ) : (
          <Switch path={path} state="active" words={t`Resume`} isPrimary />
        )}
      </PageHead>
      {extra.tested === undefined && !extra.problem && <Done done={query.get('done')} sentences={done()} />}
      {extra.tested && <Tested tested={extra.tested} />}
      {extra.problem && (
        <Callout tone="bad" role="alert" title={t`Not sent again`}>
          <p>
            <a href="#from">{extra.problem}</a>
          </p>
        </Callout>
      )}
      <Health webhook={webhook} />
      <Numbers visit={visit} webhook={webhook} />
      <Attempts {...props} />
      <Again visit={visit} webhook={webhook} problem={extra.problem} />
      <About visit={visit} webhook={webhook} />
      <AsCurl path={`/herald/v1/webhooks/${webhook.id}/${props.view === 'refused' ? 'failed' : 'attempts'}`} />
    </>
  )
}

const done = () => ({
  created: t`The endpoint is added. Send a test event to see whether it answers.`,
  saved: t`The endpoint is changed.`,
  paused: t`The endpoint is paused. Events wait until you resume it.`,
  resumed: t`The endpoint is active. It gets everything from where it stopped.`,
  replayed: t`The events are sent again, beside the new ones.`,
})

const Switch = (props: { path: string; state: 'active' | 'paused'; words: string; isPrimary?: boolean }) => (
  <Form action={`${props.path}/state`} class="row">
    <input type="hidden" name="state" value={props.state} />
    <button class={props.isPrimary ? 'btn btn-primary' : 'btn'} type="submit">
      {props.words}
    </button>
  </Form>
)

const isGood = (status: number | null) => status !== null && status >= 200 && status <= 299

function Tested({ tested: { status_code: status, error, answer, took_ms } }: { tested: TestedWebhook }) {
  const { formats } = usePage()
  const time = formats.number(took_ms)
  return (
    <Callout
      tone={isGood(status) ? 'good' : 'bad'}
      role="status"
      title={status === null ? t`The test event got no answer` : t`The test event was answered with ${status}`}
    >
      <p>
        {status === null
          ? t`After ${time} ms: ${known(error ?? '')}. Check the address, and whether your server can be reached.`
          : isGood(status)
            ? t`It took ${time} ms. The endpoint works.`
            : t`It took ${time} ms. An endpoint must answer with a status from 200 to 299.`}
      </p>
      {answer ? <Code>{answer}</Code> : null}
    </Callout>
  )
}

function Health({ webhook: { state, reason, failures, failing_since } }: { webhook: ShownWebhook }) {
  if (state === 'disabled')
    return (
      <Callout
        tone="bad"
        title={reason === 'gone' ? t`Disabled: it answered 410 (gone)` : t`Disabled: no success for 72 hours`}
      >
        <p>
          {t`No event is lost. When your program works again, resume the endpoint: it gets everything from where it stopped.`}
        </p>
      </Callout>
    )
  if (state === 'paused' || failures === 0 || failing_since === null) return null
  return (
    <Callout tone="bad" title={t`It does not accept events`}>
      <p>
        {rich`Since ${<Time at={failing_since} />}. Herald tries again with growing pauses. After 72 hours without a success the endpoint is disabled, and its managers get a mail.`}
      </p>
    </Callout>
  )
}

function Numbers({ visit, webhook }: { visit: ServiceVisit; webhook: ShownWebhook }) {
  const { formats, url } = visit
  const { behind, failures, succeeded_at } = webhook
  const at = url(pathOf(visit, webhook))
  return (
    <Stats
      stats={[
        {
          label: t`Waiting events`,
          value: `${formats.number(behind.events)}${behind.more ? '+' : ''}`,
          href: `${at}?view=refused#attempts`,
        },
        {
          label: t`Oldest waiting event`,
          value: behind.since === null ? null : formats.ago(behind.since),
          href: `${at}?view=refused#attempts`,
        },
        { label: t`Failures in a row`, value: failures, href: `${at}?view=failed#attempts` },
        {
          label: t`Last success`,
          value: succeeded_at === null ? null : formats.ago(succeeded_at),
          href: `${at}?view=attempts#attempts`,
        },
      ]}
    />
  )
}

function Attempts({ visit, webhook, view, lists, isFirst }: Shown) {
  const { url } = visit
  const path = pathOf(visit, webhook)
  const count = view === 'refused' ? lists.refused.length : lists.sent.length
  const last = view === 'refused' ? lists.refused[PAGE - 1]?.event : lists.sent[PAGE - 1]?.id
  const link = (before: Id | undefined) => url(`${path}?view=${view}${before ? `&before=${before}` : ''}#attempts`)
  return (
    <Card title={t`Attempts`} id="attempts" body={false}>
      <Tabs
        label={t`Attempts by result`}
        tabs={[
          { words: t`All attempts`, href: url(`${path}?view=attempts#attempts`), current: view === 'attempts' },
          { words: t`Failed attempts`, href: url(`${path}?view=failed#attempts`), current: view === 'failed' },
          { words: t`Refused events`, href: url(`${path}?view=refused#attempts`), current: view === 'refused' },
        ]}
      />
      {count === 0 ? (
        <Empty
          icon="webhook"
          title={view === 'refused' ? t`No event waits alone` : t`No attempt`}
          text={
            view === 'refused'
              ? t`Events that the endpoint refuses while it takes others are tried again here.`
              : t`Attempts are kept for ${KEPT_DAYS} days.`
          }
        />
      ) : (
        <>
          {view === 'refused' ? (
            <Refused visit={visit} path={path} events={lists.refused.slice(0, PAGE)} />
          ) : (
            <ol class="events">
              {lists.sent.slice(0, PAGE).map(attempt => (
                <li key={attempt.id}>
                  <Attempt path={path} attempt={attempt} />
                </li>
              ))}
            </ol>
          )}
          <Pager newer={isFirst ? null : link(undefined)} older={count > PAGE ? link(last) : null}>
            {plural(Math.min(count, PAGE), t`1 entry`, t`${Math.min(count, PAGE)} entries`)}
          </Pager>
        </>
      )}
    </Card>
  )
}

function Attempt({ path, attempt }: { path: string; attempt: SentAttempt }) {
  const { formats } = usePage()
  const { status, events, requests, first, request } = attempt
  return (
    <details class="more event">
      <summary>
        <span class="row full">
          <Badge
            tone={isGood(status) ? 'good' : 'bad'}
            icon={status === null ? 'clock' : isGood(status) ? 'check' : 'cross'}
          >
            {status ?? t`No answer`}
          </Badge>
          <span class="strong">{first?.type ?? t`event`}</span>
          <span class="muted">
            {events > 1
              ? t`and ${formats.number(events - 1)} more, first after ${formats.number(attempt.tookMs)} ms`
              : t`after ${formats.number(attempt.tookMs)} ms`}
          </span>
          <span class="muted push">
            <Time at={attempt.at} />
          </span>
        </span>
      </summary>
      <div class="cols-even">
        <div class="stack stack-sm">
          <h3 class="sm muted">{requests > 1 ? t`First of ${formats.number(requests)} requests` : t`Request`}</h3>
          {request ? (
            <Code>
              {[
                request.line,
                ...request.headers.map(([name, value]) => `${name}: ${value}`),
                '',
                JSON.stringify(request.body, null, 2),
              ].join('\n')}
            </Code>
          ) : (
            <p class="muted">{t`The event is no longer kept.`}</p>
          )}
          {request && events > 1 && requests === 1 && (
            <p>{t`This request had ${formats.number(events)} events. The first one is shown.`}</p>
          )}
          <p class="hint">{t`Made again from the event list; signatures and tokens are left out.`}</p>
        </div>
        <div class="stack stack-sm">
          <h3 class="sm muted">{t`Answer, ${formats.number(attempt.tookMs)} ms`}</h3>
          <Code>
            {[status === null ? (attempt.error ?? '') : `HTTP/1.1 ${status}`, attempt.answer ?? '']
              .filter(Boolean)
              .join('\n\n')}
          </Code>
          {first && (
            <Form action={`${path}/replay`} class="row">
              <input type="hidden" name="event" value={first.id} />
              <button class="btn btn-sm" type="submit">
                <Icon name="repeat" />
                {events > 1 ? t`Send the first event again` : t`Send this event again`}
              </button>
            </Form>
          )}
        </div>
      </div>
    </details>
  )
}

const Refused = ({ visit, path, events }: { visit: ServiceVisit; path: string; events: readonly SetAside[] }) => (
  <>
    <Table<SetAside>
      caption={t`Refused events`}
      rows={events}
      columns={[
        {
          head: t`Event`,
          cell: ({ event, subject }) => (
            <>
              <span class="id">{event}</span>
              <span class="sub">
                <a href={visit.url(`/s/${visit.service.id}/messages/${subject}`)}>{t`Open the message`}</a>
              </span>
            </>
          ),
        },
        {
          head: t`State`,
          kind: 'status',
          cell: ({ state }) =>
            state === 'waiting' ? (
              <Badge tone="info" icon="clock">
                {t`Waiting`}
              </Badge>
            ) : (
              <Badge tone="bad" icon="cross">
                {t`Given up`}
              </Badge>
            ),
        },
        { head: t`Answer`, kind: 'num', cell: ({ status }) => status ?? '–' },
        { head: t`Failures`, kind: 'num', cell: ({ failures }) => failures },
        {
          head: t`Next attempt`,
          kind: 'num',
          cell: ({ state, next_at }) => (state === 'waiting' ? <Time at={next_at} /> : '–'),
        },
      ]}
    />
    <div class="card-body">
      <Form action={`${path}/replay`} class="row">
        <input type="hidden" name="failed" value="true" />
        <button class="btn btn-sm" type="submit">
          <Icon name="repeat" />
          {t`Send all refused events again`}
        </button>
      </Form>
    </div>
  </>
)

const Again = (props: { visit: ServiceVisit; webhook: ShownWebhook; problem: string | undefined }) => (
  <Card title={t`Send again from a moment`} id="again">
    <Form action={`${pathOf(props.visit, props.webhook)}/replay`}>
      <Input
        label={t`Everything since`}
        name="from"
        width="md"
        hint={t`A time in UTC, such as 2026-11-02T09:15:00Z. Your program tells repeated events by their ids.`}
        placeholder="2026-11-02T09:15:00Z"
        value={props.visit.form.get('from') ?? ''}
        error={props.problem}
      />
      <div class="row">
        <button class="btn" type="submit">
          <Icon name="repeat" />
          {t`Send these events again`}
        </button>
      </div>
    </Form>
  </Card>
)

function About({ visit, webhook }: { visit: ServiceVisit; webhook: ShownWebhook }) {
  const { url, parts } = visit
  const path = pathOf(visit, webhook)
  const earlier = webhook.secrets.find(({ until }) => until !== null && until > parts.clock.now())
  return (
    <Card
      title={t`About this endpoint`}
      id="about"
      foot={
        <span class="row">
          {webhook.format === 'standard' && (
            <button class="btn btn-sm" type="button" popovertarget="replace-secret">
              {t`Replace the secret`}
            </button>
          )}
          <a class="btn btn-sm" href={url(`${path}/remove`)}>
            {t`Remove the endpoint`}
          </a>
        </span>
      }
    >
      <Facts
        rows={[
          [t`Messages of`, say(TYPES[webhook.key_type].words)],
          [t`Format`, formatWords(webhook)],
          [t`Events`, webhook.types === null ? t`All types` : webhook.types.join(', ')],
          [t`Recipients`, webhook.with_recipient ? t`in the events` : t`left out`],
          [t`Added`, <Time key="added" at={webhook.created_at} />],
          earlier?.until != null && [
            t`Secrets`,
            t`${signingSecrets(webhook, parts.clock.now()).length} sign each request, until the earlier one ends`,
          ],
        ]}
      />
      {webhook.format === 'standard' && (
        <Dialog id="replace-secret" title={t`Replace the secret`}>
          <p>
            {t`You see the new secret once. For 24 hours requests are signed with both, so that your program can change without a gap.`}
          </p>
          <Form action={`${path}/secret`} class="row">
            <input type="hidden" name="seen" value={webhook.updated_at ?? ''} />
            <button class="btn" type="button" popovertarget="replace-secret" popovertargetaction="hide">
              {t`Keep it`}
            </button>
            <button class="btn btn-primary" type="submit">
              {t`Replace the secret`}
            </button>
          </Form>
        </Dialog>
      )}
    </Card>
  )
}
