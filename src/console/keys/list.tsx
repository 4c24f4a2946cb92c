// The keys of a service: those that work first, then those that have ended.
import { hasEnded, KEY_TYPES } from '../../keys/key.ts'
import { type ListedKey, list } from '../../keys/sql.ts'
import { countGroups } from '../../reports/statistics.ts'
import { Card, Done, Empty, Hidden, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import { millisOf } from '../formats.ts'
import type { Answer, ServiceVisit } from '../page.ts'
import { plural, rich, say, t } from '../words/index.ts'
import { TYPES } from './types.ts'

export async function keysPage(visit: ServiceVisit): Promise<Answer> {
  return {
    kind: 'page',
    title: t`API keys`,
    nav: 'keys',
    body: (
      <>
        <Head visit={visit} />
        <Done
          done={visit.query.get('done')}
          sentences={{
            revoked: t`The key is revoked. Programs that use it are refused from now on.`,
            'created-before': t`This key was made already. It is shown only once: if you do not have it, make another one.`,
          }}
        />
        <Keys visit={visit} keys={await keysOf(visit)} />
        <AsCommand command={`herald key list ${visit.service.id}`} />
      </>
    ),
  }
}

export const Head = ({ visit: { service, url } }: { visit: ServiceVisit }) => (
  <PageHead title={t`API keys`} lede={t`A key is a password for a program. Give each system its own.`}>
    <a class="btn" href={url(`/s/${service.id}/safelist`)}>
      {t`Safelist`}
    </a>
    <a class="btn btn-primary" href={url(`/s/${service.id}/keys/new`)}>
      <Icon name="plus" />
      {t`Make a key`}
    </a>
  </PageHead>
)

/** Of those that have ended. */
const MOST_ENDED = 50
type Shown = ListedKey & { isOver: boolean; messages: number }

export async function keysOf({ parts, service }: ServiceVisit): Promise<Shown[]> {
  const now = parts.clock.micros()
  // Today and the six days before, in UTC, as the counts are.
  const week = { since: (Math.floor(now / DAY_MICROS) - 6) * DAY_MICROS, until: now }
  const [keys, counts] = await Promise.all([
    list(parts.db.sql, service.id),
    countGroups(parts, service.id, KEY_TYPES, week, 'key'),
  ])
  const messages = new Map(counts.map(one => [one.group, one.messages]))
  const all = keys.map(key => ({
    ...key,
    isOver: isOver(key, parts.clock.now()),
    messages: messages.get(key.id) ?? 0,
  }))
  const newestFirst = all.toReversed()
  return [...newestFirst.filter(key => !key.isOver), ...newestFirst.filter(key => key.isOver).slice(0, MOST_ENDED)]
}

const isOver = ({ revoked_at, expires_at }: ListedKey, now: number): boolean =>
  revoked_at !== null || hasEnded({ ends_at: expires_at === null ? null : millisOf(expires_at) }, now)

export function Keys({ visit, keys }: { visit: ServiceVisit; keys: readonly Shown[] }) {
  const { service, url, formats } = visit
  if (keys.length === 0)
    return (
      <Card body={false}>
        <Empty
          level={2}
          icon="key"
          title={t`There is no key yet`}
          text={t`A program needs a key to send messages. Begin with a test key: it sends nothing.`}
        >
          <a class="btn" href={url(`/s/${service.id}/keys/new`)}>
            {t`Make a key`}
          </a>
        </Empty>
      </Card>
    )
  return (
    <Card body={false}>
      <Table<Shown>
        caption={t`API keys`}
        rows={keys}
        keyOf={({ id }) => id}
        columns={[
          { head: t`Name`, cell: key => <Name shown={key} /> },
          { head: t`Type`, kind: 'status', cell: key => <State shown={key} /> },
          {
            head: t`Last used`,
            kind: 'num',
            cell: ({ id, name, last_used_at }) =>
              last_used_at === null ? (
                t`Never`
              ) : (
                <a href={url(`/s/${service.id}/requests?key=${id}`)}>
                  <Time at={last_used_at} />
                  <Hidden> {rich`requests of ${<bdi>{name}</bdi>}`}</Hidden>
                </a>
              ),
          },
          { head: t`Messages, 7 days`, kind: 'num', cell: ({ messages }) => formats.number(messages) },
          { head: t`Ends`, kind: 'num', cell: key => <Ends visit={visit} shown={key} /> },
          {
            head: t`Actions`,
            hidden: true,
            kind: 'num',
            cell: ({ id, name, isOver }) =>
              isOver ? null : (
                <a class="btn btn-sm" href={url(`/s/${service.id}/keys/${id}/revoke`)}>
                  {t`Revoke`}
                  <Hidden>
                    {' '}
                    <bdi>{name}</bdi>
                  </Hidden>
                </a>
              ),
          },
        ]}
      />
    </Card>
  )
}

function Name({
  shown: { name, isOver, created_at, created_by, revoked_at, manage_templates, manage_webhooks },
}: {
  shown: Shown
}) {
  return (
    <>
      {isOver ? (
        <span class="muted">
          <bdi>{name}</bdi>
        </span>
      ) : (
        <strong>
          <bdi>{name}</bdi>
        </strong>
      )}
      <span class="sub">
        {revoked_at === null
          ? rich`made ${<Time at={created_at} />} by ${<bdi>{created_by}</bdi>}`
          : rich`revoked ${<Time at={revoked_at} />}, made by ${<bdi>{created_by}</bdi>}`}
        {manage_templates && <> · {t`manages templates`}</>}
        {manage_webhooks && <> · {t`manages webhooks`}</>}
      </span>
    </>
  )
}

function State({ shown: { key_type, isOver, revoked_at } }: { shown: Shown }) {
  if (isOver)
    return (
      <Badge tone="idle" icon={revoked_at === null ? 'clock' : 'blocked'}>
        {revoked_at === null ? t`Expired` : t`Revoked`}
      </Badge>
    )
  const { tone, icon, words } = TYPES[key_type]
  return (
    <Badge tone={tone} icon={icon}>
      {say(words)}
    </Badge>
  )
}

const DAY_MS = 86_400_000
const DAY_MICROS = DAY_MS * 1_000
/** Somebody should replace it. */
const SOON_DAYS = 14

function Ends({ visit: { parts, formats }, shown: { expires_at, isOver } }: { visit: ServiceVisit; shown: Shown }) {
  if (expires_at === null) return isOver ? '–' : t`Never`
  const days = Math.floor((millisOf(expires_at) - parts.clock.now()) / DAY_MS)
  if (isOver || days >= SOON_DAYS) return <Time at={expires_at} />
  return (
    <time class="warn strong" title={formats.full(expires_at)}>
      {days < 1 ? t`today` : plural(days, t`in ${days} day`, t`in ${formats.number(days)} days`)}
    </time>
  )
}
