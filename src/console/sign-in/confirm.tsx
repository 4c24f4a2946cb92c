// Before a sensitive act, when the last sign-in is older than ten minutes: the same person proves again who they are.
import { Refusal } from '../../core/refusal.ts'
import { askForLink } from '../../people/links.ts'
import { askForPasskey, hasPasskeys, listPasskeys, usePasskey } from '../../people/passkeys.ts'
import { FRESH_MINUTES } from '../../people/session.ts'
import { Callout, Icon } from '../components/basics.tsx'
import { capturesMails } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Form } from '../components/form.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { language, say, t } from '../words/index.ts'
import { ConfirmAtMachine } from './captured.tsx'
import { confirm, returnPath, withReturn } from './finish.ts'
import { answerOf, PASSKEY_PROBLEMS } from './passkey.ts'
import { PasskeyForm } from './passkey-form.tsx'
import { Solo } from './solo.tsx'

export const confirmPage = (visit: SignedInVisit): Promise<Answer> =>
  confirmForm(visit, { to: returnPath(visit.query.get('return')) })

export async function confirmByLink(visit: SignedInVisit): Promise<Answer> {
  const to = returnPath(visit.form.get('return'))
  const { browser, network, knownAs, device, parts } = visit
  if (!parts.config.localSignIn) return confirmForm(visit, { to, problem: say(PASSKEY_PROBLEMS.off), status: 403 })
  const address = visit.signedIn.person.email_address
  try {
    const console = visit.origin + visit.url('')
    await askForLink(parts, { address, browser, network, knownAs, device, returnTo: to, console, language: language() })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return confirmForm(visit, { to, problem: sentencesOf(error), status: 429 })
  }
  return { kind: 'redirect', to: withReturn('/sign-in/sent', to) }
}

export const confirmOptions = async (visit: SignedInVisit): Promise<Answer> => ({
  kind: 'json',
  data: await askForPasskey(visit.parts, visit.signedIn.person.id, visit),
})

export async function confirmByPasskey(visit: SignedInVisit): Promise<Answer> {
  const to = returnPath(visit.form.get('return'))
  if (!visit.parts.config.localSignIn)
    return confirmForm(visit, { to, problem: say(PASSKEY_PROBLEMS.off), status: 403 })
  const used = await usePasskey(visit.parts, visit.signedIn.person.id, visit, answerOf(visit))
  if ('refused' in used) return confirmForm(visit, { to, problem: say(PASSKEY_PROBLEMS[used.refused]), status: 422 })
  return confirm(visit, 'passkey', to)
}

type Shown = { to: string; problem?: string; status?: number }

async function confirmForm(visit: SignedInVisit, { status, ...shown }: Shown): Promise<Answer> {
  const { parts, signedIn, origin } = visit
  const passkeys = await listPasskeys(parts, signedIn.person.id)
  return {
    kind: 'page',
    title: shown.problem ? t`Error: ${t`Confirm that it is you`}` : t`Confirm that it is you`,
    width: 'solo',
    ...(status !== undefined && { status }),
    body: (
      <Confirm
        {...shown}
        hasLocal={parts.config.localSignIn}
        hasPasskeys={passkeys.length > 0 && hasPasskeys(origin)}
        hasSingleSignOn={parts.oidc !== null}
        capturedFor={parts.config.localSignIn && capturesMails(visit) ? signedIn.person.email_address : null}
      />
    ),
  }
}

type Ways = { hasLocal: boolean; hasPasskeys: boolean; hasSingleSignOn: boolean; capturedFor: string | null }

function Confirm(props: Shown & Ways) {
  const { url } = usePage()
  return (
    <Solo
      title={t`Confirm that it is you`}
      lede={t`What you opened needs a sign-in of the last ${FRESH_MINUTES} minutes.`}
      notice={
        props.problem && (
          <Callout tone="bad" role="alert">
            <p>{props.problem}</p>
          </Callout>
        )
      }
      hint={<a href={url(props.to)}>{t`Go back without confirming`}</a>}
    >
      {props.hasLocal && props.hasPasskeys && (
        <PasskeyForm
          kind="get"
          action="/sign-in/confirm/passkey"
          options="/sign-in/confirm/passkey/options"
          failed={t`No passkey was used. Try again, or ask for a link.`}
          button={{ words: t`Use a passkey`, class: 'btn btn-primary full', icon: 'passkey' }}
        >
          <input type="hidden" name="return" value={props.to} />
        </PasskeyForm>
      )}
      {props.hasLocal && (
        <Form action="/sign-in/confirm">
          <input type="hidden" name="return" value={props.to} />
          <button class={props.hasPasskeys ? 'btn full' : 'btn btn-primary full'} type="submit">
            <Icon name="email" />
            {t`E-mail me a link`}
          </button>
        </Form>
      )}
      {props.hasSingleSignOn && (
        <a class="btn full" href={url(withReturn('/sign-in/confirm/single-sign-on', props.to))} rel="nofollow">
          <Icon name="shield" />
          {t`Confirm with single sign-on`}
        </a>
      )}
      {props.capturedFor !== null && <ConfirmAtMachine address={props.capturedFor} to={props.to} />}
    </Solo>
  )
}
