// The audit log as people read it, of one service or of the installation: filters, lines, cursors, download.
import type { From, Wanted } from '../../audit/sql.ts'
import { fromMicros, zulu } from '../../core/clock.ts'
import { readId } from '../../core/id.ts'
import type { Change, ChangePage } from '../../people/changes.ts'
import { startOfDay } from '../../statistics/days.ts'
import { Card, Empty, Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { FilterSelect, Filters, Pager, Table } from '../components/list.tsx'
import type { SignedInVisit } from '../page.ts'
import { rich, say, t } from '../words/index.ts'
import { actionsOf, actionWords, detailWords, GROUPS, type Group } from './words.ts'

/** The filters as they stand in the address. */
export type GivenFilters = { service: string; who: string; what: string; from: string; to: string }

export const filtersIn = (query: URLSearchParams): GivenFilters => ({
  service: query.get('service') ?? '',
  who: query.get('who') ?? '',
  what: query.get('what') ?? '',
  from: query.get('from') ?? '',
  to: query.get('to') ?? '',
})

/** Days are those of the person's clock; the last one is included. What is no day or no id filters nothing. */
export function wantedBy(given: GivenFilters, { formats }: Pick<SignedInVisit, 'formats'>): Wanted {
  const day = (text: string, after: number) => {
    const start = startOfDay(text, formats.timeZone, after)
    return start === null ? null : fromMicros(start * 1_000)
  }
  return {
    service: readId(given.service),
    actor: readId(given.who),
    actions: actionsOf(given.what),
    from: day(given.from, 0),
    to: day(given.to, 1),
  }
}

export function fromIn(query: URLSearchParams): From {
  const number = (name: string) => {
    const text = query.get(name)
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
  }
  const [before, after] = [number('before'), number('after')]
  return before !== null ? { before } : after !== null ? { after } : null
}

const queryOf = (given: GivenFilters, from: From = null): string => {
  const pairs = [...Object.entries(given).filter(([, value]) => value !== ''), ...Object.entries(from ?? {})]
  const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export type Choice = readonly [value: string, words: string]

/** `path`: of the page. `services`: absent on the page of a service. */
export function ChangeFilters(props: {
  path: string
  given: GivenFilters
  groups: readonly Group[]
  people: readonly Choice[]
  services?: readonly Choice[]
}) {
  const { given } = props
  return (
    <Filters label={t`Changes`} action={props.path}>
      {props.services && (
        <FilterSelect
          label={t`Service`}
          name="service"
          value={given.service}
          options={[['', t`Any`], ...props.services]}
        />
      )}
      <FilterSelect label={t`Who`} name="who" value={given.who} options={[['', t`Anybody`], ...props.people]} />
      <FilterSelect
        label={t`What`}
        name="what"
        value={given.what}
        options={[['', t`Anything`], ...props.groups.map(group => [group, say(GROUPS[group])] as const)]}
      />
      <DayField label={t`From`} name="from" value={given.from} />
      <DayField label={t`To`} name="to" value={given.to} />
    </Filters>
  )
}

const DayField = ({ label, name, value }: { label: string; name: string; value: string }) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input class="input" type="date" id={name} name={name} value={value} />
  </div>
)

export function ChangeList(props: { path: string; given: GivenFilters; page: ChangePage; withService?: boolean }) {
  const { url, formats } = usePage()
  const { changes, newer, older } = props.page
  const isFiltered = Object.values(props.given).some(value => value !== '')
  const to = (from: From) => (from === null ? null : url(props.path + queryOf(props.given, from)))
  return (
    <Card body={false}>
      {changes.length === 0 ? (
        <Empty
          level={2}
          icon="log"
          title={isFiltered ? t`Nothing matches` : t`Nothing was changed yet`}
          text={
            isFiltered
              ? t`Nobody did this in these days.`
              : t`Every change of settings, keys, templates and people appears here.`
          }
        >
          {isFiltered && (
            <a class="btn" href={url(props.path)}>
              {t`Remove all filters`}
            </a>
          )}
        </Empty>
      ) : (
        <Table<Change>
          caption={t`Changes, newest first`}
          rows={changes}
          keyOf={({ id }) => `change-${id}`}
          groupOf={({ at }) => formats.date(at)}
          columns={[
            {
              head: t`What`,
              cell: change => (
                <>
                  <strong>{actionWords(change.action)}</strong>
                  <span class="sub">
                    <Subject change={change} isLinked={!props.withService} />
                  </span>
                </>
              ),
            },
            {
              head: t`When`,
              kind: 'status',
              class: 'nowrap',
              cell: ({ at }) => (
                <time dateTime={zulu(at)} title={formats.full(at)}>
                  {formats.time(at)}
                </time>
              ),
            },
            { head: t`Who`, cell: change => whoWords(change) },
            ...(props.withService
              ? [
                  {
                    head: t`Service`,
                    cell: ({ service_id, service_name }: Change) =>
                      service_id === null ? (
                        '–'
                      ) : (
                        <a href={url(`/s/${service_id}/settings`)}>
                          <bdi>{service_name ?? service_id}</bdi>
                        </a>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {(newer || older) && <Pager newer={to(newer)} older={to(older)} />}
    </Card>
  )
}

/** Where a subject that has no name is looked at, below the page of its service. */
const PAGES: readonly (readonly [action: RegExp, path: string])[] = [
  [/^message (sent|cancelled)/, 'messages'],
  [/^job /, 'jobs'],
  [/^webhook (?!removed)/, 'webhooks'],
]

/**
 * The name of what was changed, then what is different. A message, a job or an endpoint has no name: then the first characters of its
 * id, which commands accept. Operators cannot open it.
 */
function Subject({ change, isLinked }: { change: Change; isLinked: boolean }) {
  const { url, formats } = usePage()
  const { subject, subject_id, service_id, action, detail } = change
  const page = PAGES.find(([pattern]) => pattern.test(action))?.[1]
  const words = detailWords(detail, subject, formats)
  const short = <code>{subject_id.slice(0, 8)}</code>
  const name =
    subject !== null && subject_id !== service_id ? (
      <bdi>{subject}</bdi>
    ) : page && service_id !== null ? (
      isLinked ? (
        <a href={url(`/s/${service_id}/${page}/${subject_id}`)}>{short}</a>
      ) : (
        short
      )
    ) : null
  return (
    <>
      {name}
      {name && words && ', '}
      <bdi>{words}</bdi>
    </>
  )
}

export function whoWords({ actor_kind, actor_id, who }: Change) {
  if (actor_kind === 'key') return rich`Key ${<bdi>{who ?? actor_id}</bdi>}`
  if (actor_kind === 'operator') return who === 'herald' ? t`Herald` : rich`Command line, ${<bdi>{who ?? '–'}</bdi>}`
  return <bdi>{who ?? t`Somebody who is gone`}</bdi>
}

export const DownloadLink = ({ path, given }: { path: string; given: GivenFilters }) => (
  <a class="btn" href={usePage().url(`${path}/export${queryOf(given)}`)}>
    <Icon name="download" />
    {t`Download as CSV`}
  </a>
)
