// Reply-to addresses and text senders: the list on the page of settings, adding one, the default, removing one.
import { readId } from '../../core/id.ts'
import { addReplyTo, askReplyToAgain } from '../../people/reply-tos.ts'
import { addOrigin, chooseDefault, dropOrigin } from '../../services/origins.ts'
import { listOrigins, type Origin, type OriginKind } from '../../services/sql/origins.ts'
import { Card, Empty, Hidden, Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { Form, Input } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { language, rich, t } from '../words/index.ts'
import { settingsForm } from './form.tsx'
import { settingsPath } from './rows.tsx'

const PATHS = { 'reply-to': '/reply-to', sender: '/senders' } as const satisfies Record<OriginKind, string>

export const OriginsCard = (props: { visit: ServiceVisit; kind: OriginKind; origins: readonly Origin[] }) => {
  const { visit, kind, origins } = props
  const { service, url } = visit
  const canChange = visit.may('manage-service')
  const isReplyTo = kind === 'reply-to'
  const path = (rest: string) => settingsPath(service.id, PATHS[kind] + rest)
  return (
    <Card
      id={isReplyTo ? 'reply-tos' : 'senders'}
      title={isReplyTo ? t`Replies go to` : t`Text senders`}
      body={false}
      aside={
        canChange && (
          <a class="btn btn-sm" href={url(path('/new'))}>
            <Icon name="plus" />
            {isReplyTo ? t`Add an address` : t`Add a sender`}
          </a>
        )
      }
    >
      {origins.length === 0 ? (
        <Empty
          icon={isReplyTo ? 'email' : 'text'}
          title={isReplyTo ? t`No address for replies yet` : t`No text sender yet`}
          text={
            isReplyTo
              ? t`Without one, replies go to the address that e-mails come from, which nobody may read.`
              : t`Without one, text messages come from the sender of the installation.`
          }
        />
      ) : (
        <Table<Origin>
          caption={isReplyTo ? t`Addresses for replies` : t`Text senders`}
          rows={origins}
          keyOf={({ id }) => id}
          columns={[
            { head: isReplyTo ? t`Address` : t`Sender`, cell: ({ value }) => <bdi>{value}</bdi> },
            { head: t`State`, kind: 'status', cell: origin => <State origin={origin} /> },
            ...(canChange
              ? [
                  {
                    head: t`Actions`,
                    hidden: true,
                    kind: 'num' as const,
                    cell: (origin: Origin) => <Acts origin={origin} path={path} />,
                  },
                ]
              : []),
          ]}
        />
      )}
    </Card>
  )
}

function State({ origin }: { origin: Origin }) {
  if (origin.verified_at === null)
    return (
      <Badge tone="warn" icon="clock">
        {t`Waits for its link`}
      </Badge>
    )
  return origin.is_default ? (
    <Badge tone="good" icon="check">
      {t`Default`}
    </Badge>
  ) : (
    <Badge tone="idle" icon="check">
      {t`Can be chosen`}
    </Badge>
  )
}

function Acts({ origin, path }: { origin: Origin; path(rest: string): string }) {
  const { url } = usePage()
  const act = (to: string, words: string) => (
    <Form action={path(`/${origin.id}/${to}`)} class="row">
      <button class="btn btn-sm" type="submit">
        {words}
        <Hidden> {origin.value}</Hidden>
      </button>
    </Form>
  )
  return (
    <div class="row row-tight row-end">
      {origin.verified_at === null
        ? act('again', t`Send the link again`)
        : !origin.is_default && act('default', t`Make default`)}
      <a class="btn btn-sm" href={url(path(`/${origin.id}/remove`))}>
        {t`Remove`}
        <Hidden> {origin.value}</Hidden>
      </a>
    </div>
  )
}

// ——— adding one ———

export const newReplyTo = (visit: ServiceVisit): Answer => form(visit, 'reply-to', '', undefined)
export const newSender = (visit: ServiceVisit): Answer => form(visit, 'sender', '', undefined)

export async function saveReplyTo(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, origin, url } = visit
  const address = visit.form.get('value') ?? ''
  try {
    await addReplyTo(parts, actor, service.id, { address, console: origin + url(''), language: language() })
    return done(visit, 'reply-to', 'reply-to-asked')
  } catch (error) {
    return form(visit, 'reply-to', address, problemOf(error))
  }
}

export async function saveSender(visit: ServiceVisit): Promise<Answer> {
  const value = visit.form.get('value') ?? ''
  try {
    await addOrigin(visit.parts, visit.actor, 'sender', visit.service.id, { value, makeDefault: false })
    return done(visit, 'sender', 'sender-added')
  } catch (error) {
    return form(visit, 'sender', value, problemOf(error))
  }
}

function form(visit: ServiceVisit, kind: OriginKind, value: string, problem: string | undefined): Answer {
  const isReplyTo = kind === 'reply-to'
  return settingsForm(
    visit,
    {
      title: isReplyTo ? t`Add an address for replies` : t`Add a text sender`,
      lede: isReplyTo
        ? t`Herald sends a link to the address. Messages can use it once somebody there has opened the link.`
        : t`Recipients see it as the sender of text messages.`,
      errors: { value: problem },
      not: t`Not added yet`,
      path: `${PATHS[kind]}/new`,
      button: isReplyTo ? t`Send the link` : t`Add the sender`,
      command: `herald ${kind} add ${visit.service.id} ${isReplyTo ? 'ADDRESS' : 'SENDER'}`,
    },
    <Input
      name="value"
      value={value}
      error={problem}
      required
      {...(isReplyTo
        ? {
            label: t`Address`,
            type: 'email',
            hint: t`One that your team reads, such as permits@example.org.`,
          }
        : {
            label: t`Sender`,
            width: 'md',
            hint: t`A name of at most 11 letters and digits, a short code, or a phone number. Ask your operator which ones the networks accept.`,
          })}
    />,
  )
}

// ——— removing one, after a question ———

const removeQuestion =
  (kind: OriginKind) =>
  async (visit: ServiceVisit): Promise<Answer> => {
    const origin = await found(visit, kind)
    if (!origin) return notFound(visit.service)
    const isReplyTo = kind === 'reply-to'
    return settingsForm(
      visit,
      {
        title: isReplyTo ? t`Remove an address for replies` : t`Remove a text sender`,
        heading: rich`Remove ${<bdi>{origin.value}</bdi>}?`,
        lede: isReplyTo
          ? t`Messages that name this address are refused from now on. Those that were accepted keep it.`
          : t`Messages that name this sender are refused from now on. Those that were accepted keep it.`,
        path: `${PATHS[kind]}/${origin.id}/remove`,
        keep: t`Keep it`,
        button: isReplyTo ? t`Remove the address` : t`Remove the sender`,
        isDanger: true,
        command: `herald ${kind} remove ${visit.service.id} ${origin.id}`,
      },
      origin.is_default && (
        <p>
          {isReplyTo
            ? t`It is the default. Replies go to the address that e-mails come from until another one is the default.`
            : t`It is the default. Text messages come from the sender of the installation until another one is the default.`}
        </p>
      ),
    )
  }

export const removeReplyTo = removeQuestion('reply-to')
export const removeSender = removeQuestion('sender')

async function found({ parts, service, params }: ServiceVisit, kind: OriginKind): Promise<Origin | undefined> {
  const id = readId(params.id)
  return (await listOrigins(parts.db.sql, kind, service.id)).find(one => one.id === id)
}

// ——— what the buttons of a row do ———

export const replyToAgain = async (visit: ServiceVisit): Promise<Answer> => {
  const id = readId(visit.params.id)
  if (!id) return notFound(visit.service)
  await askReplyToAgain(visit.parts, visit.actor, visit.service.id, id, {
    console: visit.origin + visit.url(''),
    language: language(),
  })
  return done(visit, 'reply-to', 'reply-to-again')
}

const madeDefault =
  (kind: OriginKind, key: string) =>
  async (visit: ServiceVisit): Promise<Answer> => {
    const id = readId(visit.params.id)
    if (!id) return notFound(visit.service)
    await chooseDefault(visit.parts, visit.actor, kind, visit.service.id, id)
    return done(visit, kind, key)
  }

const removed =
  (kind: OriginKind, key: string) =>
  async (visit: ServiceVisit): Promise<Answer> => {
    const id = readId(visit.params.id)
    if (!id) return notFound(visit.service)
    await dropOrigin(visit.parts, visit.actor, kind, visit.service.id, id)
    return done(visit, kind, key)
  }

export const replyToDefault = madeDefault('reply-to', 'reply-to-default')
export const senderDefault = madeDefault('sender', 'sender-default')
export const replyToRemoved = removed('reply-to', 'reply-to-removed')
export const senderRemoved = removed('sender', 'sender-removed')

const done = ({ service }: ServiceVisit, kind: OriginKind, key: string): Answer => ({
  kind: 'redirect',
  to: settingsPath(service.id, `?done=${key}#${kind === 'reply-to' ? 'reply-tos' : 'senders'}`),
})
