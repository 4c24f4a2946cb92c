// The services that a person belongs to: the first page after signing in.
import type { Id } from '../../core/id.ts'
import { groupOf, STATUSES } from '../../notifications/status.ts'
import { actorOf, type Membership } from '../../people/person.ts'
import { overview } from '../../statistics/overview.ts'
import { Card, Empty, Icon, PageHead } from '../components/basics.tsx'
import { Table, Title } from '../components/list.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { ROLE_WORDS } from '../team/roles.ts'
import { rich, say, t } from '../words/index.ts'
import { ServiceMode } from './mode.tsx'

/** For more services the numbers would make the page slow. */
const MOST_COUNTED = 20
const FAILED = STATUSES.filter(status => groupOf(status) === 'failed')

type Counts = { today: number; failed: number; accepted: number }

export async function myServices(visit: SignedInVisit): Promise<Answer> {
  const { memberships, person } = visit.signedIn
  const counts = await countsOf(visit, memberships)
  return {
    kind: 'page',
    title: t`My services`,
    width: 'narrow',
    nav: 'services',
    body: (
      <>
        <PageHead
          title={t`My services`}
          {...(memberships.length > 0 && { lede: t`Choose the service you want to work in.` })}
        />
        {memberships.length === 0 ? (
          <Card>
            <Empty
              level={2}
              icon="services"
              title={t`You belong to no service yet`}
              text={
                person.is_operator
                  ? t`As an operator you can add a service, or join one.`
                  : t`Ask a manager of the service to invite you.`
              }
            >
              {person.is_operator && <AllServices visit={visit} />}
            </Empty>
          </Card>
        ) : (
          <Card body={false}>
            <Table<Membership>
              caption={t`My services`}
              rows={memberships}
              keyOf={({ service_id }) => service_id}
              columns={[
                {
                  head: t`Service`,
                  cell: ({ service_id, service_name }) => (
                    <Title href={visit.url(`/s/${service_id}`)}>{service_name}</Title>
                  ),
                },
                { head: t`Mode`, kind: 'status', cell: ({ mode }) => <ServiceMode service={{ mode }} /> },
                { head: t`My role`, cell: ({ role }) => say(ROLE_WORDS[role]) },
                {
                  head: t`Sent today`,
                  kind: 'num',
                  cell: ({ service_id }) => number(visit, counts.get(service_id)?.today),
                },
                {
                  head: t`Failed, 7 days`,
                  kind: 'num',
                  cell: ({ service_id }) => share(visit, counts.get(service_id)),
                },
              ]}
            />
          </Card>
        )}
        {memberships.length > 0 && person.is_operator && (
          <div class="row">
            <AllServices visit={visit} />
          </div>
        )}
        {!person.is_operator && (
          <p class="muted">{rich`Missing a service? Ask one of its managers to invite ${(
            <strong>
              <bdi>{person.email_address}</bdi>
            </strong>
          )}.`}</p>
        )}
      </>
    ),
  }
}

const AllServices = ({ visit }: { visit: SignedInVisit }) => (
  <a class="btn" href={visit.url('/operator/services')}>
    <Icon name="services" />
    {t`All services of this installation`}
  </a>
)

async function countsOf(visit: SignedInVisit, memberships: readonly Membership[]): Promise<Map<Id, Counts>> {
  if (memberships.length > MOST_COUNTED) return new Map()
  const { db, clock } = visit.parts
  const read = async ({ service_id }: Membership): Promise<[Id, Counts]> => {
    const actor = actorOf(visit.signedIn, service_id)
    const { days } = await overview({ sql: db.sql, clock }, actor, service_id, visit.formats.timeZone)
    const all = days.flatMap(day => day.counts)
    const sum = (list: typeof all) => list.reduce((total, { messages }) => total + messages, 0)
    return [
      service_id,
      {
        today: sum([...(days.at(-1)?.counts ?? [])]),
        failed: sum(all.filter(({ status }) => (FAILED as readonly string[]).includes(status))),
        accepted: sum(all),
      },
    ]
  }
  return new Map(await Promise.all(memberships.map(read)))
}

const number = ({ formats }: SignedInVisit, value: number | undefined) =>
  value === undefined ? '–' : formats.number(value)
const share = ({ formats }: SignedInVisit, counts: Counts | undefined) =>
  counts ? formats.share(counts.failed, counts.accepted) : '–'
