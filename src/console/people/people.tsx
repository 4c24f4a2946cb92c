// People of the installation, for operators: who they are, who is an operator, and removing them altogether.
import { readId } from '../../core/id.ts'
import { invite, type ListedInvitation, listInvitations, withdrawInvitation } from '../../people/invitations.ts'
import { type ListedPerson, MOST_LISTED, peopleOf } from '../../people/list.ts'
import { addOperator, removeOperator, removePerson } from '../../people/operators.ts'
import type { Person } from '../../people/person.ts'
import { personOf } from '../../people/sql/people.ts'
import { Avatar, Card, Done, Hidden, Icon, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { orCaptured } from '../components/captured.tsx'
import { ErrorSummary, Form, Input } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { language, mark, plural, t } from '../words/index.ts'

const PATH = '/operator/people'
const DONE = {
  invited: mark('The invitation is on its way. It works once, for 7 days.'),
  withdrawn: mark('The invitation is withdrawn: its link does not work any longer.'),
  operator: mark('They are an operator now.'),
  ordinary: mark('They are no longer an operator.'),
  removed: mark('They are removed, and signed out everywhere.'),
}

export async function peoplePage(visit: SignedInVisit): Promise<Answer> {
  const { parts, actor, formats, url, query } = visit
  const [{ list, people, operators }, invitations] = await Promise.all([
    peopleOf(parts, actor),
    listInvitations(parts, null),
  ])
  return {
    kind: 'page',
    title: t`People`,
    nav: 'people',
    body: (
      <>
        <PageHead
          title={t`People`}
          lede={`${plural(people, t`${formats.number(people)} person`, t`${formats.number(people)} people`)}, ${plural(
            operators,
            t`${formats.number(operators)} operator`,
            t`${formats.number(operators)} operators`,
          )}`}
        >
          <a class="btn btn-primary" href={url(`${PATH}/invite`)}>
            <Icon name="plus" />
            {t`Invite an operator`}
          </a>
        </PageHead>
        <Done done={query.get('done')} sentences={orCaptured(visit, DONE)} />
        <Card
          body={false}
          {...(people > MOST_LISTED && { foot: t`Showing ${MOST_LISTED} of ${formats.number(people)}.` })}
        >
          <Table<ListedPerson>
            caption={t`People`}
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              {
                head: t`Person`,
                cell: ({ name, email_address }) => (
                  <span class="person">
                    <Avatar name={name} />
                    <span>
                      <strong>
                        <bdi>{name}</bdi>
                      </strong>
                      <span class="sub">
                        <bdi>{email_address}</bdi>
                      </span>
                    </span>
                  </span>
                ),
              },
              { head: t`Signs in with`, kind: 'status', cell: person => <span class="tag">{methodOf(person)}</span> },
              {
                head: t`Services`,
                cell: ({ is_operator, services }) =>
                  [
                    is_operator && t`Operator`,
                    (services > 0 || !is_operator) &&
                      plural(services, t`${formats.number(services)} service`, t`${formats.number(services)} services`),
                  ]
                    .filter(Boolean)
                    .join(', '),
              },
              {
                head: t`Last here`,
                kind: 'num',
                cell: ({ id, last_seen_at }) => {
                  if (id === visit.signedIn.person.id) return t`now`
                  return last_seen_at === null ? '–' : formats.ago(last_seen_at)
                },
              },
              {
                head: t`Actions`,
                hidden: true,
                kind: 'num',
                cell: ({ id, name }) => (
                  <a class="btn btn-sm" href={url(`${PATH}/${id}`)}>
                    {t`Change`}
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
        {invitations.length > 0 && <Invitations visit={visit} invitations={invitations} />}
        <AsCommand command="herald operator list" />
      </>
    ),
  }
}

function methodOf({ passkeys, identities }: ListedPerson): string {
  if (passkeys > 0) return t`Passkey`
  return identities > 0 ? t`Single sign-on` : t`E-mail link`
}

const Invitations = (props: { visit: SignedInVisit; invitations: readonly ListedInvitation[] }) => (
  <Card title={t`Invitations of operators`} body={false}>
    <Table<ListedInvitation>
      caption={t`Invitations that wait`}
      rows={props.invitations}
      columns={[
        { head: t`Invited`, cell: ({ email_address }) => <bdi>{email_address}</bdi> },
        { head: t`By`, cell: ({ invited_by_name }) => <bdi>{invited_by_name ?? t`Operator`}</bdi> },
        { head: t`Ends`, kind: 'num', cell: ({ expires_at }) => props.visit.formats.day(expires_at) },
        {
          head: t`Actions`,
          hidden: true,
          kind: 'num',
          cell: ({ id, email_address }) => (
            <Form class="inline" action={`${PATH}/invitations/${id}/withdraw`}>
              <button class="btn btn-sm btn-quiet" type="submit">
                {t`Withdraw`}
                <Hidden>
                  {' '}
                  <bdi>{email_address}</bdi>
                </Hidden>
              </button>
            </Form>
          ),
        },
      ]}
    />
  </Card>
)

export const inviteOperatorForm = (): Answer => inviteForm('', undefined)

export async function inviteOperator(visit: SignedInVisit): Promise<Answer> {
  const address = visit.form.get('address') ?? ''
  try {
    const console = visit.origin + visit.url('')
    await invite(visit.parts, visit.actor, { service: null, role: null, address, console, language: language() })
    return toPeople('invited')
  } catch (error) {
    return inviteForm(address, problemOf(error))
  }
}

const inviteForm = (address: string, problem: string | undefined): Answer => ({
  kind: 'page',
  title: problem ? t`Error: ${t`Invite an operator`}` : t`Invite an operator`,
  width: 'narrow',
  nav: 'people',
  ...(problem && { status: 422 }),
  body: (
    <>
      <PageHead
        title={t`Invite an operator`}
        crumbs={[[t`People`, PATH]]}
        lede={t`Operators manage all services and people. They get an e-mail with a link, which works once, for 7 days.`}
      />
      <ErrorSummary errors={{ address: problem }} title={t`Not sent yet`} />
      <Card>
        <Form action={`${PATH}/invite`}>
          <Input label={t`Work e-mail address`} name="address" type="email" value={address} error={problem} required />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Send the invitation`}</button>
          </div>
        </Form>
      </Card>
      <AsCommand command="herald operator add EMAIL" />
    </>
  ),
})

export async function operatorInvitationWithdrawn(visit: SignedInVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  if (!id) return notFound()
  await withdrawInvitation(visit.parts, visit.actor, null, id)
  return toPeople('withdrawn')
}

export const personPage = (visit: SignedInVisit): Promise<Answer> =>
  withPerson(visit, async person => shown(visit, person, {}))

export const changeOperator = (visit: SignedInVisit): Promise<Answer> =>
  withPerson(visit, async person => {
    const { parts, actor } = visit
    const isOperator = visit.form.get('operator') === 'yes'
    if (isOperator === person.is_operator) return toPeople(isOperator ? 'operator' : 'ordinary')
    if (isOperator) await addOperator(parts, actor, person)
    else await removeOperator(parts, actor, person.email_address)
    return toPeople(isOperator ? 'operator' : 'ordinary')
  })

export const removeAltogether = (visit: SignedInVisit): Promise<Answer> =>
  withPerson(visit, async person => {
    await removePerson(visit.parts, visit.actor, person.id)
    const isSelf = person.id === visit.signedIn.person.id
    return isSelf ? { kind: 'redirect', to: '/sign-in', session: null } : toPeople('removed')
  })

async function withPerson(visit: SignedInVisit, work: (person: Person) => Promise<Answer>): Promise<Answer> {
  const id = readId(visit.params.id)
  const person = id && (await personOf(visit.parts.db.sql, id))
  if (!person) return notFound()
  try {
    return await work(person)
  } catch (error) {
    return shown(visit, person, { person: problemOf(error) })
  }
}

const toPeople = (done: string): Answer => ({
  kind: 'redirect',
  to: `${PATH}?done=${done}`,
})

function shown({ url }: SignedInVisit, person: Person, errors: { person?: string }): Answer {
  const path = `${PATH}/${person.id}`
  return {
    kind: 'page',
    title: errors.person ? t`Error: ${t`A person`}` : t`A person`,
    width: 'narrow',
    nav: 'people',
    ...(errors.person && { status: 422 }),
    body: (
      <>
        <PageHead
          title={<bdi>{person.name}</bdi>}
          crumbs={[[t`People`, PATH]]}
          lede={<bdi>{person.email_address}</bdi>}
        />
        <ErrorSummary errors={errors} title={t`Not changed`} />
        <Card title={t`Operator`} id="person">
          <div class="stack">
            <p>
              {person.is_operator
                ? t`Manages this installation: all services and all people.`
                : t`Has rights only in the services of which they are a member.`}
            </p>
            <Form action={path}>
              <input type="hidden" name="operator" value={person.is_operator ? 'no' : 'yes'} />
              <div class="row">
                <button class="btn" type="submit">
                  {person.is_operator ? t`Make an ordinary person` : t`Make an operator`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <Card title={t`Remove altogether`}>
          <div class="stack">
            <p>{t`They leave all services and are signed out at once. Passkeys and links are deleted. What they did stays in the audit log.`}</p>
            <Form action={`${path}/remove`}>
              <div class="row">
                <a class="btn" href={url(PATH)}>{t`Keep them`}</a>
                <button class="btn btn-danger" type="submit">{t`Remove them`}</button>
              </div>
            </Form>
          </div>
        </Card>
      </>
    ),
  }
}
