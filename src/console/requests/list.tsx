// The request log: what the keys of the service called in the last 24 hours.
import { type Id, readId } from '../../core/id.ts'
import { type ListedKey, list } from '../../keys/sql.ts'
import { OF_SERVICE } from '../../requests/buffer.ts'
import { listRequests, type RequestPage, type ShownRequest } from '../../requests/read.ts'
import { classOf, type StatusClass } from '../../requests/request.ts'
import { Card, Empty, PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import { FilterSelect, Filters, Pager, Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'
import { fromNoun } from '../words/nouns.tsx'

const PAGE = 50
const CLASSES: Readonly<Record<string, StatusClass>> = { '2xx': 200, '4xx': 400, '5xx': 500 }

export async function requestsPage(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, query, url } = visit
  const status = query.get('status') ?? ''
  const keys = await list(parts.db.sql, service.id)
  const key = keys.find(({ id }) => id === readId(query.get('key')))?.id ?? null
  const olderThan = readId(query.get('before'))
  const filter = { status: CLASSES[status] ?? null, key }
  const page = await listRequests(parts, service.id, filter, { olderThan, most: PAGE })
  const path = (before: Id | null) => pathOf(`/s/${service.id}/requests`, { status, key, before })
  const isFiltered = filter.status !== null || key !== null
  return {
    kind: 'page',
    title: t`Request log`,
    nav: 'requests',
    body: (
      <>
        <PageHead
          title={t`Request log`}
          lede={t`What your keys called in the last 24 hours, and what Herald answered. No contents, no recipients.`}
        />
        <FilterForm visit={visit} keys={keys} status={status} selected={key} />
        <Card body={false}>
          {page.requests.length > 0 ? (
            <>
              <Requests page={page} />
              <Pager newer={olderThan && url(path(null))} older={page.next && url(path(page.next))}>
                {plural(page.requests.length, t`${page.requests.length} request`, t`${page.requests.length} requests`)}
              </Pager>
            </>
          ) : (
            <Nothing visit={visit} isFiltered={isFiltered || olderThan !== null} />
          )}
        </Card>
        <p class="muted sm">
          {t`Requests appear after about a second. Of a service that makes many at once, up to ${OF_SERVICE.answered.burst} answered ones and then ${OF_SERVICE.answered.perSecond} per second are listed for each process of Herald; the rest are counted. Requests without a known key are not here.`}
        </p>
        <AsCurl path={pathOf('/herald/v1/requests', { status, key_id: key })} />
      </>
    ),
  }
}

function pathOf(path: string, query: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

const FilterForm = (props: {
  visit: ServiceVisit
  keys: readonly ListedKey[]
  status: string
  selected: Id | null
}) => (
  <Filters label={t`Filter requests`} action={`/s/${props.visit.service.id}/requests`}>
    <FilterSelect
      label={t`Answer`}
      name="status"
      value={props.status}
      options={[
        ['', t`Any`],
        ['2xx', t`Answered (2xx)`],
        ['4xx', t`Refused (4xx)`],
        ['5xx', t`Failed (5xx)`],
      ]}
    />
    <FilterSelect
      label={t`Key`}
      name="key"
      value={props.selected}
      options={[['', t`Any`], ...props.keys.toReversed().map(({ id, name }) => [id, name] as const)]}
    />
  </Filters>
)

function Requests({ page }: { page: RequestPage }) {
  const { formats } = usePage()
  return (
    <Table<ShownRequest>
      caption={t`Requests`}
      rows={page.requests}
      columns={[
        { head: t`Request`, cell: row => <Called row={row} /> },
        { head: t`Answer`, kind: 'status', cell: row => <Answered row={row} /> },
        { head: t`Key`, cell: ({ key_name }) => (key_name === null ? '–' : <bdi>{key_name}</bdi>) },
        {
          head: t`Took`,
          kind: 'num',
          class: 'hide-mid',
          cell: ({ unlisted, took_ms }) => (unlisted === null ? t`${formats.number(took_ms)} ms` : '–'),
        },
        {
          head: t`Time`,
          kind: 'num',
          class: 'nowrap',
          cell: ({ at }) => <time title={formats.full(at)}>{formats.precise(at)}</time>,
        },
      ]}
    />
  )
}

function Called({ row }: { row: ShownRequest }) {
  const { formats } = usePage()
  if (row.unlisted !== null)
    return (
      <span class="muted">
        {plural(
          row.unlisted,
          t`${row.unlisted} more request was counted and not listed`,
          t`${formats.number(row.unlisted)} more requests were counted and not listed`,
        )}
      </span>
    )
  return (
    <>
      <span class="id">
        {row.method} {row.path}
      </span>
      {row.error && (
        <span class="sub">
          <span lang="en">{row.error}</span>
          {row.reason && <>: {fromNoun(row.reason)}</>}
        </span>
      )}
    </>
  )
}

function Answered({ row }: { row: ShownRequest }) {
  const group = classOf(row.status)
  const words = row.unlisted === null ? row.status : `${group / 100}xx`
  if (group === 500)
    return (
      <Badge tone="bad" icon="cross">
        {words}
      </Badge>
    )
  if (group === 400)
    return (
      <Badge tone="warn" icon="alert">
        {words}
      </Badge>
    )
  return (
    <Badge tone="good" icon="check">
      {words}
    </Badge>
  )
}

function Nothing({ visit: { service, url }, isFiltered }: { visit: ServiceVisit; isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty level={2} icon="search" title={t`No request matches`} text={t`Requests are kept for 24 hours.`}>
        <a class="btn" href={url(`/s/${service.id}/requests`)}>
          {t`Show all requests`}
        </a>
      </Empty>
    )
  return (
    <Empty
      level={2}
      icon="log"
      title={t`No request in the last 24 hours`}
      text={t`Make a key, then call Herald with it. The request appears here.`}
    >
      <a class="btn" href={url(`/s/${service.id}/keys`)}>
        {t`Open the keys`}
      </a>
    </Empty>
  )
}
