// The team of a service: who belongs to it, who is invited, what roles may do.
import { ROLES } from '../../audit/role.ts'
import { type ListedInvitation, listInvitations } from '../../people/invitations.ts'
import { listMembers, type Member } from '../../people/members.ts'
import { Avatar, Card, Done, Empty, Hidden, Icon, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { orCaptured } from '../components/captured.tsx'
import { Form, Select } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { mark, say, t } from '../words/index.ts'
import { mayRole, ROLE_WORDS, TASKS } from './roles.ts'

const DONE = {
  created: mark('The service is there, and you are its manager. Invite the others.'),
  invited: mark('The invitation is on its way. It works once, for 7 days.'),
  again: mark('Another invitation is on its way. The link of the one before does not work any longer.'),
  withdrawn: mark('The invitation is withdrawn: its link does not work any longer.'),
  role: mark('The role is changed, from their next request on.'),
  removed: mark('They do not belong to this service any longer.'),
  joined: mark('You belong to this service now. The audit log says so.'),
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
    title: t`Team`,
    nav: 'team',
    body: (
      <>
        <PageHead title={t`Team`} lede={t`Everybody here can see messages. Roles say what else they may do.`}>
          {canManage && (
            <a class="btn btn-primary" href={url(`/s/${service.id}/team/invite`)}>
              <Icon name="plus" />
              {t`Invite somebody`}
            </a>
          )}
        </PageHead>
        <Done done={query.get('done')} sentences={orCaptured(visit, DONE)} />
        {visit.role === null && <Join visit={visit} />}
        <Card body={false}>
          {members.length === 0 ? (
            <Empty
              level={2}
              icon="team"
              title={t`Nobody is here yet`}
              text={t`Invite somebody to work in this service.`}
            />
          ) : (
            <Members visit={visit} members={members} canManage={canManage} />
          )}
        </Card>
        {invitations.length > 0 && <Invitations visit={visit} invitations={invitations} />}
        {!canManage && <p class="muted">{t`Managers invite and remove people and change roles.`}</p>}
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
      caption={t`People`}
      rows={members}
      keyOf={({ id }) => id}
      columns={[
        { head: t`Person`, cell: ({ name, email_address }) => <Person name={name} address={email_address} /> },
        { head: t`Role`, kind: 'status', cell: ({ role }) => <span class="tag">{say(ROLE_WORDS[role])}</span> },
        {
          head: t`Last here`,
          kind: 'num',
          cell: ({ person_id, last_seen_at }) => {
            if (person_id === signedIn.person.id) return t`now`
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
                head: t`Actions`,
                hidden: true,
                kind: 'num' as const,
                cell: ({ id, name }: Member) => (
                  <a class="btn btn-sm" href={url(`/s/${service.id}/team/${id}`)}>
                    {t`Change`}
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
    <Card title={t`Invitations`} body={false}>
      <Table<ListedInvitation>
        caption={t`Invitations that wait`}
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          { head: t`Invited`, cell: ({ email_address }) => <bdi>{email_address}</bdi> },
          {
            head: t`Role`,
            kind: 'status',
            cell: ({ role }) => <span class="tag">{role && say(ROLE_WORDS[role])}</span>,
          },
          { head: t`By`, cell: ({ invited_by_name }) => <bdi>{invited_by_name ?? t`Operator`}</bdi> },
          { head: t`Ends`, kind: 'num', cell: ({ expires_at }) => formats.day(expires_at) },
          {
            head: t`Actions`,
            hidden: true,
            kind: 'num',
            cell: ({ id, email_address }) => (
              <span class="row row-tight">
                {act(id, 'again', t`Send again`, '', email_address)}
                {act(id, 'withdraw', t`Withdraw`, ' btn-quiet', email_address)}
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
  <Card title={t`Join this service`}>
    <div class="stack">
      <p>{t`As an operator you see the settings and counts of this service, and its team. To see messages and templates, join it: its team sees you here, and the audit log records it.`}</p>
      <Form action={`/s/${visit.service.id}/join`}>
        <Select
          label={t`My role`}
          name="role"
          width="md"
          value="viewer"
          options={ROLES.map(role => [role, say(ROLE_WORDS[role])] as const)}
        />
        <div class="row">
          <button class="btn" type="submit">{t`Join the service`}</button>
        </div>
      </Form>
    </div>
  </Card>
)

const Roles = () => (
  <Card title={t`What roles may do`} body={false}>
    <Table<(typeof TASKS)[number]>
      caption={t`Roles`}
      rows={TASKS}
      columns={[
        { head: t`Task`, cell: ([words]) => say(words) },
        ...ROLES.map(role => ({
          head: say(ROLE_WORDS[role]),
          cell: ([, permission]: (typeof TASKS)[number]) =>
            mayRole(role, permission) ? (
              <>
                <Icon name="check" />
                <Hidden>{t`yes`}</Hidden>
              </>
            ) : (
              '–'
            ),
        })),
      ]}
    />
  </Card>
)
