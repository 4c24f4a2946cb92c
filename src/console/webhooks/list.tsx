// The endpoints of a service, of all types of keys.

import { list, type ShownWebhook } from '../../webhooks/read.ts'
import { MOST_WEBHOOKS } from '../../webhooks/webhook.ts'
import { Callout, Card, Done, Empty, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Table, Title } from '../components/list.tsx'
import { TYPES } from '../keys/types.ts'
import type { Answer, ServiceVisit } from '../page.ts'
import { plural, rich, say, t } from '../words/index.ts'
import { hostOf, WebhookState } from './state.tsx'

export async function webhooksPage(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, url, query } = visit
  const webhooks = await list(parts, { service_id: service.id, key_type: null })
  const troubled = webhooks.find(({ state, failures }) => state === 'disabled' || (state === 'active' && failures > 0))
  return {
    kind: 'page',
    title: t`Webhooks`,
    nav: 'webhooks',
    body: (
      <>
        <PageHead title={t`Webhooks`} lede={t`Herald calls your server when the status of a message changes.`}>
          {webhooks.length < MOST_WEBHOOKS && (
            <a class="btn btn-primary" href={url(`/s/${service.id}/webhooks/new`)}>
              <Icon name="plus" />
              {t`Add an endpoint`}
            </a>
          )}
        </PageHead>
        <Done
          done={query.get('done')}
          sentences={{
            removed: t`The endpoint is removed. Its events stay in the event list.`,
            'created-before': t`This endpoint was added already. Its secret is shown only once: replace it if you do not have it.`,
          }}
        />
        {troubled && <Trouble visit={visit} webhook={troubled} />}
        <Card body={false}>
          {webhooks.length > 0 ? (
            <Webhooks visit={visit} webhooks={webhooks} />
          ) : (
            <Empty
              level={2}
              icon="webhook"
              title={t`There is no endpoint yet`}
              text={t`Add the address of a program of yours. Herald posts each change to it, signed, and tries again for 72 hours.`}
            >
              <a class="btn" href={url(`/s/${service.id}/webhooks/new`)}>
                {t`Add an endpoint`}
              </a>
            </Empty>
          )}
        </Card>
        <AsCurl path="/herald/v1/webhooks" />
      </>
    ),
  }
}

function Trouble({ visit: { service, url }, webhook }: { visit: ServiceVisit; webhook: ShownWebhook }) {
  const { id, state, succeeded_at } = webhook
  const host = hostOf(webhook.url)
  return (
    <Callout tone="warn" title={state === 'disabled' ? t`${host} is disabled` : t`${host} does not accept events`}>
      <p>
        {succeeded_at === null
          ? t`It has not accepted an event yet.`
          : rich`Last good answer: ${<Time at={succeeded_at} />}.`}{' '}
        {t`Events are kept as long as messages are, and messages are sent as usual.`}{' '}
        <a href={url(`/s/${service.id}/webhooks/${id}`)}>{t`See the attempts`}</a>
      </p>
    </Callout>
  )
}

function Webhooks({ visit, webhooks }: { visit: ServiceVisit; webhooks: readonly ShownWebhook[] }) {
  const { service, url, formats } = visit
  return (
    <Table<ShownWebhook>
      caption={t`Endpoints`}
      rows={webhooks}
      keyOf={({ id }) => id}
      columns={[
        {
          head: t`Endpoint`,
          cell: webhook => (
            <Title href={url(`/s/${service.id}/webhooks/${webhook.id}`)} sub={formatWords(webhook)}>
              {webhook.url}
            </Title>
          ),
        },
        { head: t`State`, kind: 'status', cell: webhook => <WebhookState webhook={webhook} /> },
        { head: t`Messages of`, cell: ({ key_type }) => say(TYPES[key_type].words) },
        { head: t`Events`, cell: ({ types }) => typesWords(types) },
        {
          head: t`Last success`,
          kind: 'num',
          class: 'hide-mid',
          cell: ({ succeeded_at }) => (succeeded_at === null ? '–' : <Time at={succeeded_at} />),
        },
        {
          head: t`Waiting`,
          kind: 'num',
          cell: ({ behind: { events, more } }) => `${formats.number(events)}${more ? '+' : ''}`,
        },
      ]}
    />
  )
}

export const formatWords = ({ format, batch }: Pick<ShownWebhook, 'format' | 'batch'>): string => {
  if (format === 'callback') return t`with a token, one message per request`
  return batch === 1 ? t`signed, one event per request` : t`signed, up to ${batch} events per request`
}

const typesWords = (types: ShownWebhook['types']): string =>
  types === null ? t`All` : plural(types.length, t`${types.length} type`, t`${types.length} types`)
