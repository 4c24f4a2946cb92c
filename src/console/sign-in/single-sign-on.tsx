// To the provider of single sign-on and back. Whatever it answers is a page with a sentence.
import { beginSingleSignOn, endSingleSignOn, type SignOnFault } from '../../people/single-sign-on.ts'
import { countTry } from '../../people/tries.ts'
import { Callout } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import type { Answer, SignedInVisit, Visit } from '../page.ts'
import { type Marked, mark, say, t } from '../words/index.ts'
import { confirm, returnPath, signIn, withReturn } from './finish.ts'
import { Solo } from './solo.tsx'

const RETURN = '/sign-in/single-sign-on/return'

// A GET, because the policy of the page lets no form lead elsewhere.
export const toProvider = (visit: Visit): Promise<Answer> => leave(visit, null)

/** To confirm that it is still the same person: the provider asks for a fresh proof. */
export const toProviderAgain = (visit: SignedInVisit): Promise<Answer> => leave(visit, visit)

async function leave(visit: Visit, confirming: SignedInVisit | null): Promise<Answer> {
  const begun = await beginSingleSignOn(visit.parts, confirming?.signedIn.person.id ?? null, {
    browser: visit.browser,
    redirectUri: visit.origin + visit.url(RETURN),
    returnTo: returnPath(visit.query.get('return')),
  })
  return 'fault' in begun ? failed(visit, begun) : { kind: 'leave', to: begun.to }
}

export async function fromProvider(visit: Visit): Promise<Answer> {
  const { signedIn, browser, query: returned } = visit
  const ended = await endSingleSignOn(visit.parts, { browser, returned, session: signedIn?.session.id ?? null })
  if ('fault' in ended) return failed(visit, ended)
  if (ended.confirms !== null && signedIn?.person.id === ended.confirms)
    return confirm({ ...visit, signedIn }, 'single-sign-on', ended.returnTo)
  return signIn(visit, ended.person, 'single-sign-on', ended)
}

const SENTENCES: Readonly<Record<SignOnFault['fault'], { status: number; title: Marked; why: Marked; next: Marked }>> =
  {
    down: {
      status: 503,
      title: mark('Single sign-on does not answer'),
      why: mark('The sign-in service of your organisation could not be reached, or answered with something else.'),
      next: mark('Try again in a minute. If it stays like this, tell the people who run it.'),
    },
    denied: {
      status: 403,
      title: mark('Single sign-on refused'),
      why: mark('The sign-in service of your organisation did not let you through.'),
      next: mark('Try again. If you think you should have access, ask the people who run it.'),
    },
    wrong: {
      status: 400,
      title: mark('Single sign-on failed'),
      why: mark('The answer of the sign-in service does not belong to this sign-in. Nobody was signed in.'),
      next: mark('Start again from here, not from an old tab or a bookmark.'),
    },
    over: {
      status: 400,
      title: mark('Start again'),
      why: mark('This sign-in was ended already, began in another browser, or took longer than five minutes.'),
      next: mark('Start again from here.'),
    },
    unverified: {
      status: 403,
      title: mark('Your address is not confirmed'),
      why: mark(
        'The sign-in service did not say that your e-mail address is yours, so Herald cannot tell who you are.',
      ),
      next: mark('Ask the people who run the sign-in service to confirm your address.'),
    },
    unknown: {
      status: 403,
      title: mark('You are in no team yet'),
      why: mark('You signed in, but nobody has added you to a service, and none of your groups has a role here.'),
      next: mark('Ask a manager of the service to invite you.'),
    },
    unconnected: {
      status: 403,
      title: mark('Connect your account first'),
      why: mark('There is already an account with your address, and it is not connected to single sign-on.'),
      next: mark(
        'Sign in with a link, then connect single sign-on under My account. If no link comes, ask an operator for one.',
      ),
    },
    another: {
      status: 403,
      title: mark('That was somebody else'),
      why: mark('You confirmed with another account than the one that is signed in here.'),
      next: mark('Confirm with your own account, or sign out first.'),
    },
  }

async function failed(visit: Visit, ended: SignOnFault): Promise<Answer> {
  const { fault, code } = ended
  visit.parts.log.warn({ fault, code }, 'single sign-on failed')
  await countTry(visit.parts, 'single-sign-on', { network: visit.network })
  const { status, title } = SENTENCES[fault]
  const body =
    ended.fault === 'unconnected' ? (
      <Unconnected returnTo={returnPath(ended.returnTo)} hasLocal={visit.parts.config.localSignIn} />
    ) : (
      <Failed fault={ended.fault} />
    )
  return { kind: 'page', title: say(title), status, width: 'solo', body }
}

/** The person signs in otherwise, and connects single sign-on in that session: the account page leads there. */
function Unconnected({ returnTo, hasLocal }: { returnTo: string; hasLocal: boolean }) {
  const { url } = usePage()
  const { title, why, next } = SENTENCES.unconnected
  return (
    <Solo title={say(title)}>
      <Callout tone="info">
        <p>{say(why)}</p>
      </Callout>
      <p class="muted">
        {hasLocal
          ? say(next)
          : t`Links are turned off here. Ask an operator for a sign-in link, then connect single sign-on under My account.`}
      </p>
      {hasLocal && (
        <a
          class="btn btn-primary full"
          href={url(withReturn('/sign-in', returnTo === '/' ? '/account' : returnTo))}
        >{t`Sign in with a link`}</a>
      )}
    </Solo>
  )
}

function Failed({ fault }: { fault: Exclude<SignOnFault['fault'], 'unconnected'> }) {
  const { url } = usePage()
  const { title, why, next } = SENTENCES[fault]
  return (
    <Solo title={say(title)}>
      <Callout tone="bad">
        <p>{say(why)}</p>
      </Callout>
      <p class="muted">{say(next)}</p>
      <a class="btn btn-primary full" href={url('/sign-in')}>{t`Back to signing in`}</a>
    </Solo>
  )
}
