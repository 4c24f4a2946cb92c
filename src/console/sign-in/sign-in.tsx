// Signing in: a link by e-mail, a passkey, or single sign-on. No answer tells whether an address is known.
import { Refusal } from '../../core/refusal.ts'
import { askForLink, LINK_MINUTES } from '../../people/links.ts'
import { hasPasskeys } from '../../people/passkeys.ts'
import { endSession } from '../../people/session.ts'
import { MERGE_MINUTES } from '../../people/tries.ts'
import { Callout, Icon } from '../components/basics.tsx'
import { capturesMails } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Form, Input } from '../components/form.tsx'
import type { Answer, PageAnswer, SignedInVisit, Visit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { language, rich, t } from '../words/index.ts'
import { ConfirmAtMachine } from './captured.tsx'
import { returnPath, withReturn } from './finish.ts'
import { PasskeyForm } from './passkey-form.tsx'
import { Solo, TimeZoneField } from './solo.tsx'

export function signInPage(visit: Visit): Answer {
  const to = returnPath(visit.query.get('return'))
  if (visit.signedIn) return { kind: 'redirect', to: to }
  return signInForm(visit, { to, notice: visit.query.get('done') === 'signed-out' ? t`You are signed out.` : null })
}

export async function askForLinkPage(visit: Visit): Promise<Answer> {
  const to = returnPath(visit.form.get('return'))
  const address = visit.form.get('email') ?? ''
  if (!visit.parts.config.localSignIn)
    return signInForm(visit, { to, problem: t`Links are switched off here. Use single sign-on.`, status: 403 })
  try {
    const { browser, network, knownAs, device } = visit
    const console = visit.origin + visit.url('')
    const request = { address, browser, network, knownAs, device, returnTo: to, console, language: language() }
    const { isLater } = await askForLink(visit.parts, request)
    if (!isLater) return { kind: 'redirect', to: '/sign-in/sent' }
    return {
      kind: 'later',
      async make() {
        await visit.slowDown()
        return { kind: 'redirect', to: '/sign-in/sent?later=1' }
      },
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.kind === 'ValidationError')
      return signInForm(visit, {
        to,
        address,
        error: t`Enter your whole e-mail address, like name@example.org.`,
        status: 422,
      })
    const status = error.kind === 'TooManyRequestsError' ? 429 : 422
    return signInForm(visit, { to, address, problem: sentencesOf(error), status })
  }
}

type Shown = {
  to: string
  address?: string
  notice?: string | null
  /** What is wrong with the address. */
  error?: string
  /** What went wrong otherwise. */
  problem?: string
  status?: number
}

/** Also the answer of other ways to sign in that failed. */
export const signInForm = (visit: Visit, shown: Shown): PageAnswer => ({
  kind: 'page',
  title: shown.error || shown.problem ? t`Error: ${t`Sign in`}` : t`Sign in`,
  width: 'solo',
  ...(shown.status !== undefined && { status: shown.status }),
  body: (
    <SignIn
      {...shown}
      hasLocal={visit.parts.config.localSignIn}
      hasPasskeys={hasPasskeys(visit.origin)}
      hasSingleSignOn={visit.parts.oidc !== null}
    />
  ),
})

function SignIn(props: Shown & { hasLocal: boolean; hasPasskeys: boolean; hasSingleSignOn: boolean }) {
  const { url } = usePage()
  const { to, address = '', notice, error, problem } = props
  return (
    <Solo
      title={t`Sign in`}
      lede={t`E-mails and text messages of your organisation.`}
      notice={
        problem ? (
          <Callout tone="bad" role="alert">
            <p>{problem}</p>
          </Callout>
        ) : (
          notice && (
            <Callout tone="good" role="status">
              <p>{notice}</p>
            </Callout>
          )
        )
      }
      hint={props.hasLocal && t`The link works once and for ${LINK_MINUTES} minutes. Herald has no passwords.`}
    >
      {props.hasLocal && (
        <>
          <Form action="/sign-in">
            <input type="hidden" name="return" value={to} />
            <Input
              label={t`Work e-mail address`}
              name="email"
              type="email"
              autocomplete="username webauthn"
              value={address}
              error={error}
              required
            />
            <button class="btn btn-primary full" type="submit">{t`E-mail me a link`}</button>
          </Form>
          {props.hasPasskeys && (
            <PasskeyForm
              kind="get"
              action="/sign-in/passkey"
              options="/sign-in/passkey/options"
              autofill
              failed={t`No passkey was used. Try again, or ask for a link.`}
              button={{ words: t`Use a passkey`, class: 'btn full', icon: 'passkey' }}
            >
              <input type="hidden" name="return" value={to} />
              <TimeZoneField />
            </PasskeyForm>
          )}
        </>
      )}
      {props.hasSingleSignOn && (
        <a
          class={props.hasLocal ? 'btn full' : 'btn btn-primary full'}
          href={url(withReturn('/sign-in/single-sign-on', to))}
          rel="nofollow"
        >
          <Icon name="shield" />
          {t`Continue with single sign-on`}
        </a>
      )}
    </Solo>
  )
}

/** The same for everybody: known or not. */
export function sentPage(visit: Visit): Answer {
  const isLater = visit.query.get('later') !== null
  const confirming = visit.signedIn && {
    address: visit.signedIn.person.email_address,
    to: returnPath(visit.query.get('return')),
  }
  const body = <Sent isCaptured={capturesMails(visit)} isLater={isLater} confirming={confirming} />
  return { kind: 'page', title: t`Check your e-mail`, width: 'solo', body }
}

type SentMail = {
  isCaptured: boolean
  isLater: boolean
  /** Somebody who is signed in confirms who they are. */
  confirming: { address: string; to: string } | null
}

function Sent({ isCaptured, isLater, confirming }: SentMail) {
  const { url } = usePage()
  return (
    <Solo title={t`Check your e-mail`}>
      <p>{rich`If the address belongs to somebody in a team, a link is on its way. It works once and for ${LINK_MINUTES} minutes.`}</p>
      <p class="muted">{rich`Open it in this browser. Nothing there after two minutes? Look in your spam folder, then ${<a href={url('/sign-in')}>{t`ask for another link`}</a>}.`}</p>
      {isLater && (
        <Callout tone="info">
          <p>{t`Links for this address were asked for several times, so the next e-mail follows within ${MERGE_MINUTES} minutes. Its link works in this browser.`}</p>
        </Callout>
      )}
      {isCaptured && confirming && <ConfirmAtMachine {...confirming} />}
      {isCaptured && !confirming && (
        <Callout tone="info">
          <p>{rich`This installation sends no e-mails: it captures them. The link is in its inbox, which ${<code>herald inbox</code>} opens.`}</p>
        </Callout>
      )}
    </Solo>
  )
}

export async function signOut(visit: SignedInVisit): Promise<Answer> {
  await endSession(visit.parts, visit.signedIn, visit.signedIn.session.id)
  return { kind: 'redirect', to: '/sign-in?done=signed-out', session: null }
}
