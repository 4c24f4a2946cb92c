// The list of messages: one search field, filters, newest first, pages by id.
import type { ComponentChildren } from 'preact'
import { fromMicros } from '../../core/clock.ts'
import { browse, type ListedMessage, type MessagesPage } from '../../timeline/browse.ts'
import { messageChoices } from '../../timeline/choices.ts'
import { Empty, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { FormToken } from '../components/form.tsx'
import { type Column, FilterSelect, Pager, SearchField, Table, Title } from '../components/list.tsx'
import { Channel, MessageStatus } from '../components/status.tsx'
import type { Handler, ServiceVisit } from '../page.ts'
import { type Marked, mark, plural, say, t } from '../words/index.ts'
import {
  cursorOf,
  filtersOf,
  type Given,
  givenIn,
  KEYS,
  keyNameOf,
  listPath,
  type Name,
  pathOf,
  without,
} from './query.ts'

type Choices = Awaited<ReturnType<typeof messageChoices>>

export const messagesPage: Handler<ServiceVisit> = async visit => {
  const { parts, actor, service, query } = visit
  const given = givenIn(query)
  const cursor = cursorOf(query)
  const [page, choices] = await Promise.all([
    given.found ? NOTHING : browse(parts, actor, service, filtersOf(given, visit), cursor),
    messageChoices(parts, actor, service.id, given),
  ])
  return {
    kind: 'page',
    title: t`Messages`,
    nav: 'messages',
    body: <Messages {...{ visit, given, page, choices }} isFirst={cursor === null} />,
  }
}

const NOTHING: MessagesPage = { messages: [], older: null, newer: null, isPartial: false }

type Shown = { visit: ServiceVisit; given: Given; page: MessagesPage; choices: Choices; isFirst: boolean }

function Messages({ visit, given, page, choices, isFirst }: Shown) {
  const { service, url } = visit
  const { messages } = page
  const isFiltered = Object.keys(given).length > 0
  const isLive = isFirst && !given.found
  return (
    <>
      <PageHead title={t`Messages`} lede={`${keptWords(service)} ${t`Counts stay, contents go.`}`}>
        {messages.length > 0 && (
          <a class="btn" href={url(pathOf(`/s/${service.id}/messages/export`, given))}>
            <Icon name="download" />
            {t`Download these as CSV`}
          </a>
        )}
      </PageHead>
      <FilterForm {...{ visit, given, choices }} />
      {isFiltered && <Chips {...{ visit, given, choices, messages }} />}
      {isLive && (
        <p
          class="row row-tight"
          role="status"
          hidden
          data-live={url(pathOf(`/s/${service.id}/messages/newer`, given, { than: messages[0]?.id }))}
          data-href={url(listPath(service.id, given))}
        />
      )}
      <section class="card">
        {messages.length > 0 ? (
          <>
            <Table
              caption={t`Messages`}
              brief
              columns={columnsFor(visit)}
              rows={messages}
              keyOf={message => message.id}
            />
            <Pager
              newer={page.newer && url(listPath(service.id, given, { after: page.newer }))}
              older={page.older && url(listPath(service.id, given, { before: page.older }))}
            >
              {pagerWords(page, isFirst ? visit.formats.brief(fromMicros(visit.parts.clock.micros())) : null)}
            </Pager>
          </>
        ) : page.isPartial || page.newer !== null || page.older !== null ? (
          <NothingHere {...{ visit, given, page }} />
        ) : isFiltered ? (
          <NoMatch {...{ visit, given }} />
        ) : (
          <NoMessages visit={visit} />
        )}
      </section>
      <AsCurl path={apiPath(given)} />
    </>
  )
}

const keptWords = ({ email_retention_days: emails, sms_retention_days: texts }: ServiceVisit['service']) =>
  emails === texts
    ? t`Kept for ${daysWords(emails)}.`
    : t`E-mails are kept for ${daysWords(emails)}, text messages for ${daysWords(texts)}.`

export const daysWords = (days: number) => plural(days, t`1 day`, t`${days} days`)

/** `now`: of the newest page, which a person without script loads again to see more. */
function pagerWords({ messages, older, isPartial }: MessagesPage, now: string | null): string {
  const count = plural(messages.length, t`1 message`, t`${messages.length} messages`)
  if (isPartial) return t`${count} so far. Older ones may match: look further with Older.`
  if (now === null) return count
  return t`${older === null ? count : t`Newest ${messages.length}`} at ${now}`
}

/** The same data by the interface; a recipient cannot be asked for there. */
function apiPath({ q, status, kind }: Given): string {
  const query = new URLSearchParams({ include_jobs: 'true' })
  if (q) query.set('reference', q)
  if (kind) query.append('template_type', kind === 'text' ? 'sms' : 'email')
  for (const one of status ? (API_STATUSES[status] ?? [status]) : []) query.append('status', one)
  return `/v2/notifications?${query}`
}

const API_STATUSES: Readonly<Record<string, readonly string[]>> = {
  'in-transit': ['created', 'sending', 'pending', 'pending-virus-check'],
  delivered: ['delivered', 'sent'],
  scheduled: ['created'],
  cancelled: [],
}

export const STATUS_OPTIONS = [
  ['', mark('Any')],
  ['failed', mark('Failed')],
  ['in-transit', mark('In transit')],
  ['delivered', mark('Delivered')],
  ['scheduled', mark('Scheduled')],
  ['cancelled', mark('Cancelled')],
  ['permanent-failure', mark('No such address or number')],
  ['temporary-failure', mark('Inbox or carrier issue')],
  ['technical-failure', mark('Tech issue')],
  ['virus-scan-failed', mark('Attachment has virus')],
  ['created', mark('Waits for its turn')],
  ['pending-virus-check', mark('Being scanned')],
  ['sending', mark('With the provider')],
  ['pending', mark('With the network')],
  ['sent', mark('Sent abroad')],
] as const
const KIND_OPTIONS = [
  ['', mark('E-mail and text')],
  ['email', mark('E-mail')],
  ['text', mark('Text message')],
] as const
const KEY_OPTIONS = [
  ['', mark('Any')],
  ['live', mark('Live')],
  ['team', mark('Team')],
  ['test', mark('Test')],
] as const

const said = (options: readonly (readonly [string, Marked])[]) =>
  options.map(([value, words]) => [value, say(words)] as const)

function sinceOptions({ email_retention_days: emails, sms_retention_days: texts }: ServiceVisit['service']) {
  const kept = Math.max(emails, texts)
  return [
    ['', daysWords(kept)],
    ['today', t`Today`],
    ['yesterday', t`Yesterday`],
    ...[3, 7, 30, 90].filter(days => days < kept).map(days => [String(days), daysWords(days)] as const),
  ] as const
}

/** A POST: what is searched for may be an address, which must not stand in the address of a page. It leads to the list. */
function FilterForm({ visit, given, choices }: { visit: ServiceVisit; given: Given; choices: Choices }) {
  const { service, url } = visit
  return (
    <form
      class="filters"
      role="search"
      aria-label={t`Messages`}
      method="post"
      action={url(`/s/${service.id}/messages/search`)}
    >
      <FormToken />
      <input type="hidden" name="filtered" value="yes" />
      {given.recipient && <input type="hidden" name="recipient" value={given.recipient} />}
      <div class="search">
        <SearchField name="q" label={t`Recipient, reference or id`} value={given.q ?? ''} />
      </div>
      <FilterSelect label={t`Status`} name="status" options={said(STATUS_OPTIONS)} value={given.status ?? null} />
      <FilterSelect label={t`Kind`} name="kind" options={said(KIND_OPTIONS)} value={given.kind ?? null} />
      <FilterSelect label={t`Since`} name="since" options={sinceOptions(service)} value={given.since ?? null} />
      {choices.templates.length > 0 && (
        <FilterSelect
          label={t`Template`}
          name="template"
          options={[['', t`Any`], ...choices.templates.map(one => [one.id, one.name] as const)]}
          value={given.template ?? null}
        />
      )}
      {choices.jobs.length > 0 && (
        <FilterSelect
          label={t`Job`}
          name="job"
          options={[['', t`Any or none`], ...choices.jobs.map(one => [one.id, one.name] as const)]}
          value={given.job ?? null}
        />
      )}
      <FilterSelect label={t`Key`} name="key" options={said(KEY_OPTIONS)} value={given.key ?? null} />
      <button class="btn" type="submit">{t`Filter`}</button>
    </form>
  )
}

/** Each filter with a cross that removes it. */
function Chips(props: { visit: ServiceVisit; given: Given; choices: Choices; messages: readonly ListedMessage[] }) {
  const { service, url } = props.visit
  const words = chipWords(props)
  return (
    <p class="row row-tight">
      {words.map(([names, text]) => (
        <a key={names.join()} class="btn btn-sm" href={url(listPath(service.id, without(props.given, ...names)))}>
          <bdi>{text}</bdi> <Icon name="cross" />
          <span class="vh">{t`Remove`}</span>
        </a>
      ))}
      {words.length > 1 && <a class="sm" href={url(listPath(service.id, {}))}>{t`Remove all`}</a>}
    </p>
  )
}

function chipWords(props: Parameters<typeof Chips>[0]): (readonly [names: readonly Name[], words: string])[] {
  const { given, choices, messages, visit } = props
  const named = (options: readonly (readonly [string, string])[], value: string | undefined) =>
    options.find(([one]) => one !== '' && one === value)?.[1]
  const all: (readonly [readonly Name[], string | undefined])[] = [
    [['recipient'], given.recipient && (messages[0]?.to ?? t`One recipient`)],
    [['q'], given.q],
    [['found'], given.found && t`What you searched for`],
    [['status'], named(said(STATUS_OPTIONS), given.status)],
    [['kind'], named(said(KIND_OPTIONS), given.kind)],
    [['template'], given.template && (choices.templates.find(one => one.id === given.template)?.name ?? t`A template`)],
    [['job'], given.job && (choices.jobs.find(one => one.id === given.job)?.name ?? t`A job`)],
    [['key'], given.key && keyNameOf(KEYS[given.key as keyof typeof KEYS])],
    [['since'], given.since && (named(sinceOptions(visit.service), given.since) ?? daysWords(Number(given.since)))],
  ]
  return all.flatMap(([names, words]) => (words === undefined || words === '' ? [] : [[names, words] as const]))
}

export const columnsFor = ({ service, url }: Pick<ServiceVisit, 'service' | 'url'>): Column<ListedMessage>[] => [
  {
    head: t`To`,
    cell: ({ id, to, title }) => (
      <Title href={url(`/s/${service.id}/messages/${id}`)} sub={title}>
        {to}
      </Title>
    ),
  },
  { head: t`Status`, kind: 'status', cell: message => <Status message={message} /> },
  { head: t`Kind`, class: 'hide-phone', cell: ({ channel }) => <Channel channel={channel} /> },
  { head: t`Template`, class: 'nowrap', cell: ({ template_name }) => <bdi>{template_name}</bdi> },
  { head: t`Sent by`, class: 'hide-mid', cell: message => <bdi>{senderWords(message)}</bdi> },
  { head: t`Accepted`, kind: 'num', cell: ({ created_at }) => <Time at={created_at} /> },
]

export const Status = ({
  message: { status, channel, isScheduled, provider },
}: {
  message: Pick<ListedMessage, 'status' | 'channel' | 'isScheduled' | 'provider'>
}) => <MessageStatus {...{ status, channel, isScheduled, provider }} />

const senderWords = ({ job_name, person, key_name, key_type }: ListedMessage): ComponentChildren =>
  job_name ?? person ?? (key_name === null ? t`The operator` : key_type === 'test' ? t`${key_name} (test)` : key_name)

const NoMatch = ({ visit, given }: { visit: ServiceVisit; given: Given }) => (
  <Empty
    icon="search"
    level={2}
    title={t`No message matches`}
    text={
      given.recipient || given.found || given.q
        ? t`Recipients are found by the whole address or number only, because they are stored encrypted. Look for a typing error, or search by reference.`
        : t`No message of the days that are kept matches all of these filters.`
    }
  >
    <a class="btn" href={visit.url(listPath(visit.service.id, {}))}>{t`Remove all filters`}</a>
  </Empty>
)

/** A page between others. */
const NothingHere = ({ visit, given, page }: { visit: ServiceVisit; given: Given; page: MessagesPage }) => (
  <Empty
    icon="search"
    level={2}
    title={page.isPartial ? t`Nothing found so far` : t`No more messages`}
    text={
      page.isPartial
        ? t`There are many messages to look through. Go on looking for older ones, or remove a filter.`
        : t`There are none beyond this page.`
    }
  >
    {page.newer && (
      <a
        class="btn"
        rel="prev"
        href={visit.url(listPath(visit.service.id, given, { after: page.newer }))}
      >{t`Newer`}</a>
    )}
    {page.older && (
      <a class="btn" rel="next" href={visit.url(listPath(visit.service.id, given, { before: page.older }))}>
        {page.isPartial ? t`Look further` : t`Older`}
      </a>
    )}
  </Empty>
)

const NoMessages = ({ visit }: { visit: ServiceVisit }) => (
  <Empty
    icon="messages"
    level={2}
    title={t`No messages yet`}
    text={t`Messages appear here as soon as they are accepted, with what happened to each.`}
  >
    <a class="btn" href={visit.url(`/s/${visit.service.id}/templates`)}>{t`Open the templates`}</a>
  </Empty>
)
