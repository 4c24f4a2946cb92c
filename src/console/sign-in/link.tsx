// The page of a link. Opening it spends nothing, because programs that check mails open links, too: only its button does.
import { LINK_MINUTES, type LinkState, readLink, signInByLink } from '../../people/links.ts'
import { usePage } from '../components/context.ts'
import { Form } from '../components/form.tsx'
import type { Answer, Visit } from '../page.ts'
import { type Marked, mark, rich, say, t } from '../words/index.ts'
import { signedInWith } from './finish.ts'
import { Solo, TimeZoneField } from './solo.tsx'

export async function linkPage(visit: Visit): Promise<Answer> {
  const link = await readLink(visit.parts, visit.params.token, visit.browser)
  if (link.state !== 'valid') return unusable(link.state)
  return {
    kind: 'page',
    title: t`Sign in`,
    width: 'solo',
    body: <Valid name={link.person.name} address={link.person.email_address} token={visit.params.token ?? ''} />,
  }
}

export async function spendLinkPage(visit: Visit): Promise<Answer> {
  const { parts, params, browser, device, sessionToken: before } = visit
  const link = await signInByLink(parts, params.token, browser, { device, before })
  return link.state === 'valid' ? signedInWith(visit, link.person, link.session, link.returnTo) : unusable(link.state)
}

const Valid = ({ name, address, token }: { name: string; address: string; token: string }) => (
  <Solo title={t`Sign in`} hint={t`The link works once. Pressing the button uses it.`}>
    <p>{rich`You are about to sign in as ${(
      <strong>
        <bdi>{name}</bdi>
      </strong>
    )}, ${<bdi class="wrap">{address}</bdi>}.`}</p>
    <Form action={`/sign-in/link/${token}`}>
      <TimeZoneField />
      <button class="btn btn-primary full" type="submit">{t`Sign in`}</button>
    </Form>
  </Solo>
)

type Unusable = Exclude<LinkState['state'], 'valid'>

const WORDS: Readonly<Record<Unusable, { title: Marked; why: Marked; next: Marked }>> = {
  'other-browser': {
    title: mark('Open the link in the other browser'),
    why: mark('This link belongs to the browser in which it was asked for. It still works there.'),
    next: mark('Copy the link into that browser, or ask for a link here.'),
  },
  used: {
    title: mark('This link was used'),
    why: mark(
      'Every link works once. If it was not you who used it, sign in and look at your account: it lists where you are signed in.',
    ),
    next: mark('Ask for another link to sign in again.'),
  },
  over: {
    title: mark('This link is over'),
    why: mark('Links work for {1} minutes.'),
    next: mark('Ask for another link. If the address is right, it comes within a minute.'),
  },
}

const unusable = (state: Unusable): Answer => ({
  kind: 'page',
  title: say(WORDS[state].title),
  width: 'solo',
  status: state === 'other-browser' ? 403 : 410,
  body: <NotUsable state={state} />,
})

function NotUsable({ state }: { state: Unusable }) {
  const { url } = usePage()
  const { title, why, next } = WORDS[state]
  return (
    <Solo title={say(title)}>
      <p>{say(why, LINK_MINUTES)}</p>
      <p class="muted">{say(next)}</p>
      <a class="btn btn-primary full" href={url('/sign-in')}>{t`Ask for a link`}</a>
    </Solo>
  )
}
