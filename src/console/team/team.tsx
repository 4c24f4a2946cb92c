// The team of a service: who belongs to it, who is invited, what roles may do.
import { ROLES } from '../../audit/role.ts'
import { type ListedInvitation, listInvitations } from '../../people/invitations.ts'
import { listMembers, type Member } from '../../people/members.ts'
import { Avatar, Card, Done, Empty, Hidden, Icon, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Form, Select } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { mayRole, ROLE_WORDS, TASKS } from './roles.ts'

const DONE = {
  created: 'The service is there, and you are its manager. Invite the others.',
  invited: 'The invitation is on its way. It works once, for 7 days.',
  again: 'Another invitation is on its way. The link of the one before does not work any longer.',
  withdrawn: 'The invitation is withdrawn: its link does not work any longer.',
  role: 'The role is changed, from their next request on.',
  removed: 'They do not belong to this service any longer.',
  joined: 'You belong to this service now. The audit log says so.',
}

export async function teamPage(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, url, query } = visit
  const canManage = visit.may('manage-people')
  const [members, invitations] = await Promise.all([
    listMembers(parts, service.id),
    canManage ? listInvitations(parts, service.id) : [],
  ])
  return {
    kind: 'page',
    title: 'Team',
    nav: 'team',
    body: (
      <>
        <PageHead title="Team" lede="Everybody here can see messages. Roles say what else they may do.">
          {canManage && (
            <a class="btn btn-primary" href={url(`/s/${service.id}/team/invite`)}>
              <Icon name="plus" />
              Invite somebody
            </a>
          )}
        </PageHead>
        <Done done={query.get('done')} sentences={DONE} />
        {visit.role === null && <Join visit={visit} />}
        <Card body={false}>
          {members.length === 0 ? (
            <Empty level={2} icon="team" title="Nobody is here yet" text="Invite somebody to work in this service." />
          ) : (
            <Members visit={visit} members={members} canManage={canManage} />
          )}
        </Card>
        {invitations.length > 0 && <Invitations visit={visit} invitations={invitations} />}
        {!canManage && <p class="muted">Managers invite and remove people and change roles.</p>}
        <Roles />
        <AsCommand command={`herald user list ${service.id}`} />
      </>
    ),
  }
}

const Person = ({ name, address }: { name: string; address: string }) => (
  <span class="person">
    <Avatar name={name} />
    <span>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      <span class="sub">
        <bdi>{address}</bdi>
      </span>
    </span>
  </span>
)

function Members({ visit, members, canManage }: { visit: ServiceVisit; members: Member[]; canManage: boolean }) {
  const { url, service, formats, signedIn } = visit
  return (
    <Table<Member>
      caption="People"
      rows={members}
      keyOf={({ id }) => id}
      columns={[
        { head: 'Person', cell: ({ name, email_address }) => <Person name={name} address={email_address} /> },
        { head: 'Role', kind: 'status', cell: ({ role }) => <span class="tag">{ROLE_WORDS[role]}</span> },
        {
          head: 'Last here',
          kind: 'num',
          cell: ({ person_id, last_seen_at }) => {
            if (person_id === signedIn.person.id) return 'now'
            return last_seen_at === null ? (
              '–'
            ) : (
              <time title={formats.full(last_seen_at)}>{formats.ago(last_seen_at)}</time>
            )
          },
        },
        ...(canManage
          ? [
              {
                head: 'Actions',
                hidden: true,
                kind: 'num' as const,
                cell: ({ id, name }: Member) => (
                  <a class="btn btn-sm" href={url(`/s/${service.id}/team/${id}`)}>
                    Change
                    <Hidden>
                      {' '}
                      <bdi>{name}</bdi>
                    </Hidden>
                  </a>
                ),
              },
            ]
          : []),
      ]}
    />
  )
}

function Invitations({ visit, invitations }: { visit: ServiceVisit; invitations: readonly ListedInvitation[] }) {
  const { service, formats } = visit
  const act = (id: string, verb: string, words: string, kind: string, address: string) => (
    <Form class="inline" action={`/s/${service.id}/team/invitations/${id}/${verb}`}>
      <button class={`btn btn-sm${kind}`} type="submit">
        {words}
        <Hidden>
          {' '}
          <bdi>{address}</bdi>
        </Hidden>
      </button>
    </Form>
  )
  return (
    <Card title="Invitations" body={false}>
      <Table<ListedInvitation>
        caption="Invitations that wait"
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          { head: 'Invited', cell: ({ email_address }) => <bdi>{email_address}</bdi> },
          { head: 'Role', kind: 'status', cell: ({ role }) => <span class="tag">{role && ROLE_WORDS[role]}</span> },
          { head: 'By', cell: ({ invited_by_name }) => <bdi>{invited_by_name ?? 'Operator'}</bdi> },
          { head: 'Ends', kind: 'num', cell: ({ expires_at }) => formats.day(expires_at) },
          {
            head: 'Actions',
            hidden: true,
            kind: 'num',
            cell: ({ id, email_address }) => (
              <span class="row row-tight">
                {act(id, 'again', 'Send again', '', email_address)}
                {act(id, 'withdraw', 'Withdraw', ' btn-quiet', email_address)}
              </span>
            ),
          },
        ]}
      />
    </Card>
  )
}

/** For an operator who is not a member. */
const Join = ({ visit }: { visit: ServiceVisit }) => (
  <Card title="Join this service">
    <div class="stack">
      <p>
        As an operator you see the settings and counts of this service, and its team. To see messages and templates,
        join it: its team sees you here, and the audit log records it.
      </p>
      <Form action={`/s/${visit.service.id}/join`}>
        <Select
          label="My role"
          name="role"
          width="md"
          value="viewer"
          options={ROLES.map(role => [role, ROLE_WORDS[role]] as const)}
        />
        <div class="row">
          <button class="btn" type="submit">
            Join the service
          </button>
        </div>
      </Form>
    </div>
  </Card>
)

const Roles = () => (
  <Card title="What roles may do" body={false}>
    <Table<(typeof TASKS)[number]>
      caption="Roles"
      rows={TASKS}
      columns={[
        { head: 'Task', cell: ([words]) => words },
        ...ROLES.map(role => ({
          head: ROLE_WORDS[role],
          cell: ([, permission]: (typeof TASKS)[number]) =>
            mayRole(role, permission) ? (
              <>
                <Icon name="check" />
                <Hidden>yes</Hidden>
              </>
            ) : (
              '–'
            ),
        })),
      ]}
    />
  </Card>
)
