// Inviting somebody to the team, again, and not any longer.
import type { Role } from '../../audit/role.ts'
import { readId } from '../../core/id.ts'
import { invite, inviteAgain, withdrawInvitation } from '../../people/invitations.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { Choices, ErrorSummary, Form, Input } from '../components/form.tsx'
import { notFound } from '../errors.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { language, t } from '../words/index.ts'
import { readRole, roleOptions } from './roles.ts'

export const inviteForm = (visit: ServiceVisit): Answer => form(visit, { address: '', role: 'viewer' }, {})

export async function sendInvitation(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form: fields, origin, url } = visit
  const address = fields.get('address') ?? ''
  const role = readRole(fields.get('role'))
  if (!role) return form(visit, { address, role: 'viewer' }, { role: t`Choose a role.` })
  try {
    await invite(parts, actor, { service: service.id, role, address, console: origin + url(''), language: language() })
    return toTeam(visit, 'invited')
  } catch (error) {
    return form(visit, { address, role }, { address: problemOf(error) })
  }
}

export async function invitationAgain(visit: ServiceVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  if (!id) return notFound(visit.service)
  await inviteAgain(visit.parts, visit.actor, visit.service.id, id, {
    console: visit.origin + visit.url(''),
    language: language(),
  })
  return toTeam(visit, 'again')
}

export async function invitationWithdrawn(visit: ServiceVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  if (!id) return notFound(visit.service)
  await withdrawInvitation(visit.parts, visit.actor, visit.service.id, id)
  return toTeam(visit, 'withdrawn')
}

const toTeam = (visit: ServiceVisit, done: string): Answer => ({
  kind: 'redirect',
  to: `/s/${visit.service.id}/team?done=${done}`,
})

const form = (
  { service }: ServiceVisit,
  given: { address: string; role: Role },
  errors: { address?: string; role?: string },
): Answer => ({
  kind: 'page',
  title: errors.address || errors.role ? t`Error: ${t`Invite somebody`}` : t`Invite somebody`,
  width: 'narrow',
  nav: 'team',
  ...((errors.address || errors.role) && { status: 422 }),
  body: (
    <>
      <PageHead
        title={t`Invite somebody`}
        crumbs={[[t`Team`, `/s/${service.id}/team`]]}
        lede={t`They get an e-mail with a link, which works once, for 7 days.`}
      />
      <ErrorSummary errors={errors} title={t`Not sent yet`} />
      <Card>
        <Form action={`/s/${service.id}/team/invite`}>
          <Input
            label={t`Work e-mail address`}
            name="address"
            type="email"
            value={given.address}
            error={errors.address}
            autocomplete="off"
            required
          />
          <Choices legend={t`Role`} name="role" type="radio" options={roleOptions(given.role)} error={errors.role} />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Send the invitation`}</button>
          </div>
        </Form>
      </Card>
      <AsCommand command={`herald user add ${service.id} --name NAME --email EMAIL --role ${given.role}`} />
    </>
  ),
})
