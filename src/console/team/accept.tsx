// The page of an invitation. Looking at it changes nothing, because programs that check mails open links too; accepting signs in.
import { acceptInvitation, readInvitation, type ShownInvitation } from '../../people/invitations.ts'
import { ErrorSummary, Form, Input } from '../components/form.tsx'
import { SoloCard, SoloMain } from '../components/solo.tsx'
import type { Answer, Visit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { rich, say, t } from '../words/index.ts'
import { ROLE_HINTS, ROLE_WORDS } from './roles.ts'

export async function invitationPage(visit: Visit): Promise<Answer> {
  const invitation = await readInvitation(visit.parts, visit.params.token)
  return invitation ? shown(visit, invitation, '', undefined) : over()
}

export async function invitationAccepted(visit: Visit): Promise<Answer> {
  const { parts, params, form, device, sessionToken } = visit
  const name = form.get('name') ?? ''
  const invitation = await readInvitation(parts, params.token)
  if (!invitation) return over()
  try {
    const { token, service_id } = await acceptInvitation(parts, params.token, { name, device, before: sessionToken })
    return { kind: 'redirect', to: service_id === null ? '/' : `/s/${service_id}`, session: token }
  } catch (error) {
    return shown(visit, invitation, name, problemOf(error))
  }
}

function shown(
  { params, signedIn }: Visit,
  { email_address, role, service_name, invited_by_name, isNew }: ShownInvitation,
  name: string,
  problem: string | undefined,
): Answer {
  const isSomebodyElse = signedIn && signedIn.person.email_address.toLowerCase() !== email_address.toLowerCase()
  const inviter = invited_by_name ?? t`The operator of this Herald`
  return {
    kind: 'page',
    title: problem ? t`Error: ${t`Invitation`}` : t`Invitation`,
    width: 'solo',
    ...(problem && { status: 422 }),
    body: (
      <SoloMain title={t`You are invited`}>
        <ErrorSummary errors={{ name: problem }} title={t`Not accepted yet`} />
        <div class="card">
          <div class="card-body stack">
            <p>
              {service_name === null
                ? rich`${<bdi>{inviter}</bdi>} invites ${<bdi>{email_address}</bdi>} to manage this installation as an operator.`
                : rich`${<bdi>{inviter}</bdi>} invites ${<bdi>{email_address}</bdi>} to the service ${(
                    <strong>
                      <bdi>{service_name}</bdi>
                    </strong>
                  )}.`}
            </p>
            {role && (
              <p>
                <span class="tag">{say(ROLE_WORDS[role])}</span> {say(ROLE_HINTS[role])}.
              </p>
            )}
            {isSomebodyElse && (
              <p class="muted">{rich`You are signed in as ${<bdi>{signedIn.person.email_address}</bdi>}. Accepting signs you out there.`}</p>
            )}
            <Form action={`/invitation/${params.token}`}>
              {isNew && (
                <Input
                  label={t`Your name`}
                  name="name"
                  hint={t`Your team sees it.`}
                  value={name}
                  error={problem}
                  autocomplete="name"
                  maxLength={255}
                  dir="auto"
                  required
                />
              )}
              <button class="btn btn-primary" type="submit">{t`Accept and sign in`}</button>
            </Form>
          </div>
        </div>
      </SoloMain>
    ),
  }
}

const over = (): Answer => ({
  kind: 'page',
  status: 410,
  title: t`This invitation does not work any longer`,
  width: 'solo',
  body: (
    <SoloCard title={t`This invitation does not work any longer`}>
      <p>{t`It was accepted, withdrawn, or is older than 7 days. Ask for another one.`}</p>
    </SoloCard>
  ),
})
