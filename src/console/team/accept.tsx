// The page of an invitation. Looking at it changes nothing, because programs that check mails open links too. Accepting signs in
// someone new; whoever has an account signs in to it first.
import { acceptInvitation, readInvitation, type ShownInvitation, wayToAccept } from '../../people/invitations.ts'
import { Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { ErrorSummary, Form, Input } from '../components/form.tsx'
import { SoloCard, SoloMain } from '../components/solo.tsx'
import type { Answer, Visit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { withReturn } from '../sign-in/finish.ts'
import { rich, say, t } from '../words/index.ts'
import { ROLE_HINTS, ROLE_WORDS } from './roles.ts'

export async function invitationPage(visit: Visit): Promise<Answer> {
  const invitation = await readInvitation(visit.parts, visit.params.token)
  return invitation ? shown(visit, invitation, {}) : over()
}

export async function invitationAccepted(visit: Visit): Promise<Answer> {
  const { parts, params, form, device, signedIn, sessionToken: before } = visit
  const name = form.get('name') ?? ''
  const invitation = await readInvitation(parts, params.token)
  if (!invitation) return over()
  if (wayToAccept(parts.config, invitation, signedIn) === 'sign-in') return shown(visit, invitation, { status: 403 })
  try {
    const { token, service_id } = await acceptInvitation(parts, params.token, { signedIn, name, device, before })
    return {
      kind: 'redirect',
      to: service_id === null ? '/' : `/s/${service_id}`,
      ...(token !== null && { session: token }),
    }
  } catch (error) {
    return shown(visit, invitation, { name, problem: problemOf(error), status: 422 })
  }
}

type State = { name?: string; problem?: string; status?: number }

function shown(visit: Visit, invitation: ShownInvitation, { name = '', problem, status }: State): Answer {
  const { email_address, role, service_name, invited_by_name } = invitation
  const inviter = invited_by_name ?? t`The operator of this Herald`
  return {
    kind: 'page',
    title: problem ? t`Error: ${t`Invitation`}` : t`Invitation`,
    width: 'solo',
    ...(status !== undefined && { status }),
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
            <Way visit={visit} invitation={invitation} name={name} problem={problem} />
          </div>
        </div>
      </SoloMain>
    ),
  }
}

type WayProps = { visit: Visit; invitation: ShownInvitation; name: string; problem: string | undefined }

function Way({ visit, invitation, name, problem }: WayProps) {
  const path = `/invitation/${visit.params.token}`
  switch (wayToAccept(visit.parts.config, invitation, visit.signedIn)) {
    case 'own':
      return (
        <Form action={path}>
          <p class="muted">{t`Accepting signs you out of your other browsers.`}</p>
          <button class="btn btn-primary" type="submit">{t`Accept invitation`}</button>
        </Form>
      )
    case 'new':
      return (
        <>
          {visit.signedIn && (
            <p class="muted">{rich`You are signed in as ${<bdi>{visit.signedIn.person.email_address}</bdi>}. Accepting signs you out there.`}</p>
          )}
          <Form action={path}>
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
            <button class="btn btn-primary" type="submit">{t`Accept and sign in`}</button>
          </Form>
        </>
      )
    case 'sign-in':
      return <SignInFirst visit={visit} path={path} />
  }
}

function SignInFirst({ visit: { signedIn, parts }, path }: { visit: Visit; path: string }) {
  const { url } = usePage()
  if (signedIn)
    return (
      <Form action="/sign-out">
        <p>{rich`You are signed in as ${<bdi>{signedIn.person.email_address}</bdi>}. Sign out, then open the link in the e-mail again.`}</p>
        <button class="btn btn-primary" type="submit">{t`Sign out`}</button>
      </Form>
    )
  if (!parts.config.localSignIn)
    return (
      <>
        <p>{t`Sign in with single sign-on first. You can then accept the invitation.`}</p>
        <a class="btn btn-primary" href={url(withReturn('/sign-in/single-sign-on', path))} rel="nofollow">
          <Icon name="shield" />
          {t`Continue with single sign-on`}
        </a>
      </>
    )
  return (
    <>
      <p>{t`There is already an account with this address. Sign in to it first. You can then accept the invitation.`}</p>
      <a class="btn btn-primary" href={url(withReturn('/sign-in', path))} rel="nofollow">
        {t`Sign in`}
      </a>
    </>
  )
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
