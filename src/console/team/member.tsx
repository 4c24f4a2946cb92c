// One member of the team: role, and leaving. And how an operator joins.
import type { Role } from '../../audit/role.ts'
import { readId } from '../../core/id.ts'
import { changeRole, joinService, removeMember } from '../../people/members.ts'
import { listUsers, type TeamMember } from '../../services/sql.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Choices, ErrorSummary, Form } from '../components/form.tsx'
import { notFound, refused } from '../errors.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { t } from '../words/index.ts'
import { readRole, roleOptions } from './roles.ts'

export async function memberPage(visit: ServiceVisit): Promise<Answer> {
  const member = await memberOf(visit)
  return member ? shown(visit, member, member.role, {}) : notFound(visit.service)
}

export async function saveRole(visit: ServiceVisit): Promise<Answer> {
  const member = await memberOf(visit)
  if (!member) return notFound(visit.service)
  const role = readRole(visit.form.get('role'))
  if (!role) return shown(visit, member, member.role, { role: t`Choose a role.` })
  try {
    await changeRole(visit.parts, visit.actor, visit.service.id, member.id, role)
    return toTeam(visit, 'role')
  } catch (error) {
    return shown(visit, member, role, { role: problemOf(error) })
  }
}

export async function removeFromTeam(visit: ServiceVisit): Promise<Answer> {
  const member = await memberOf(visit)
  if (!member) return notFound(visit.service)
  const isSelf = member.person_id === visit.signedIn.person.id
  try {
    await removeMember(visit.parts, visit.actor, visit.service.id, member.id)
    return isSelf ? { kind: 'redirect', to: '/' } : toTeam(visit, 'removed')
  } catch (error) {
    return shown(visit, member, member.role, { remove: problemOf(error) })
  }
}

export async function join(visit: ServiceVisit): Promise<Answer> {
  const role = readRole(visit.form.get('role'))
  if (!role) return refused(422, [t`Choose a role.`], visit.service)
  await joinService(visit.parts, visit.actor, visit.service.id, visit.signedIn.person, role)
  return toTeam(visit, 'joined')
}

async function memberOf({ parts, params, service }: ServiceVisit): Promise<TeamMember | undefined> {
  const id = readId(params.member)
  const members = id === null ? [] : await listUsers(parts.db.sql, service.id)
  return members.find(member => member.id === id || member.person_id === id)
}

const toTeam = (visit: ServiceVisit, done: string): Answer => ({
  kind: 'redirect',
  to: `/s/${visit.service.id}/team?done=${done}`,
})

function shown(
  { service, signedIn, url }: ServiceVisit,
  member: TeamMember,
  role: Role,
  errors: { role?: string; remove?: string },
): Answer {
  const path = `/s/${service.id}/team/${member.id}`
  const hasErrors = Object.keys(errors).length > 0
  const isSelf = member.person_id === signedIn.person.id
  return {
    kind: 'page',
    title: hasErrors ? t`Error: ${t`Change a role`}` : t`Change a role`,
    width: 'narrow',
    nav: 'team',
    ...(hasErrors && { status: 422 }),
    body: (
      <>
        <PageHead
          title={<bdi>{member.name}</bdi>}
          crumbs={[[t`Team`, `/s/${service.id}/team`]]}
          lede={<bdi>{member.email_address}</bdi>}
        />
        <ErrorSummary errors={errors} />
        <Card>
          <Form action={path}>
            <Choices legend={t`Role`} name="role" type="radio" options={roleOptions(role)} error={errors.role} />
            <div class="row">
              <button class="btn btn-primary" type="submit">{t`Save the role`}</button>
            </div>
          </Form>
        </Card>
        <Card title={isSelf ? t`Leave this service` : t`Remove from this service`}>
          <div class="stack">
            <p>
              {isSelf
                ? t`You cannot open this service any longer, until somebody invites you again.`
                : t`They cannot open this service any longer, from their next request on. What they did stays in the audit log.`}
            </p>
            <Form action={`${path}/remove`}>
              <div class="row">
                <a class="btn" href={url(`/s/${service.id}/team`)}>
                  {isSelf ? t`Stay` : t`Keep them`}
                </a>
                <button class="btn btn-danger" type="submit" id="remove">
                  {isSelf ? t`Leave the service` : t`Remove them`}
                </button>
              </div>
            </Form>
          </div>
        </Card>
        <AsCommand command={`herald user role ${service.id} ${member.id} ${role}`} />
      </>
    ),
  }
}
