// Pages that say why there is no other: what happened, what happens next, what to do.
import type { ComponentChildren } from 'preact'
import type { Permission } from '../audit/actor.ts'
import { MAY, ROLES, type Role } from '../audit/role.ts'
import { usePage } from './components/context.ts'
import { FORM_TOKEN } from './components/form.tsx'
import { SoloCard } from './components/solo.tsx'
import type { PageAnswer } from './page.ts'
import { ROLE_NAMES } from './team/roles.ts'
import { type Marked, mark, rich, say, t } from './words/index.ts'
import { fromNoun } from './words/nouns.tsx'

const page = (status: number, title: string, body: ComponentChildren): PageAnswer => ({
  kind: 'page',
  status,
  title,
  width: 'solo',
  body: (
    <SoloCard tag={String(status)} title={title}>
      {body}
    </SoloCard>
  ),
})

type Way = { words: string; path: string }
/** Where the person goes from here: the service of the page, or their services. */
const Ways = ({ ways }: { ways: readonly Way[] }) => {
  const { url } = usePage()
  return (
    <div class="row">
      {ways.map(({ words, path }, at) => (
        <a key={path} class={at === 0 ? 'btn btn-primary' : 'btn'} href={url(path)}>
          <bdi>{words}</bdi>
        </a>
      ))}
    </div>
  )
}

const home = (): Way => ({ words: t`Go to my services`, path: '/' })
const wayTo = (service: { id: string; name: string } | null): Way =>
  service ? { words: t`Go to ${service.name}`, path: `/s/${service.id}` } : home()

export const notFound = (service: { id: string; name: string } | null = null): PageAnswer =>
  page(
    404,
    t`There is nothing here`,
    <>
      <p>{t`The address may be mistyped, or what it named is gone. Contents of messages are kept for some days only.`}</p>
      <Ways ways={[wayTo(service)]} />
    </>,
  )

export const wrongMethod = (): PageAnswer =>
  page(
    405,
    t`This address does not work that way`,
    <>
      <p>{t`It takes a form that was sent, or it only shows a page. Nothing was changed.`}</p>
      <Ways ways={[home()]} />
    </>,
  )

const listed = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : t`${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`

const PLURALS: Readonly<Record<Role, Marked>> = {
  viewer: mark('viewers'),
  author: mark('authors'),
  sender: mark('senders'),
  developer: mark('developers'),
  manager: mark('managers'),
}

export type Manager = { name: string; email_address: string }

/** Names the roles that may, and who can change the person's role. */
export function notPermitted(
  permission: Permission,
  service: { id: string; name: string },
  role: Role | null,
  managers: readonly Manager[],
): PageAnswer {
  const roles = ROLES.filter(one => MAY[one].includes(permission)).map(one => say(PLURALS[one]))
  return page(
    403,
    t`You may not see this page`,
    <>
      <p>
        {rich`This page of ${<bdi>{service.name}</bdi>} is for ${listed(roles.length === 0 ? [t`operators`] : roles)}.`}{' '}
        {role
          ? /^[aeiou]/.test(role)
            ? rich`You are an ${<strong>{say(ROLE_NAMES[role])}</strong>} there.`
            : rich`You are a ${<strong>{say(ROLE_NAMES[role])}</strong>} there.`
          : t`As an operator you see its settings and counts. To see its messages and templates, join its team.`}
      </p>
      {role && roles.length > 0 && managers.length > 0 && (
        <p>{rich`Ask a manager to change your role: ${managers.map(({ name, email_address }, at) => (
          <>
            {at > 0 && '; '}
            <strong>
              <bdi>{name}</bdi>
            </strong>
            , <a href={`mailto:${email_address}`}>{email_address}</a>
          </>
        ))}.`}</p>
      )}
      <Ways ways={[wayTo(service), ...(role ? [] : [{ words: t`Open the team`, path: `/s/${service.id}/team` }])]} />
    </>,
  )
}

export const operatorsOnly = (): PageAnswer =>
  page(
    403,
    t`You may not see this page`,
    <>
      <p>{t`It is for operators of this installation.`}</p>
      <Ways ways={[home()]} />
    </>,
  )

const TITLES: Readonly<Record<number, Marked>> = {
  400: mark('That did not work'),
  403: mark('That is not allowed'),
  404: mark('There is nothing here'),
  409: mark('That was changed meanwhile'),
  413: mark('That is too large'),
  415: mark('This address takes forms only'),
  422: mark('That did not work'),
  429: mark('Too much at once'),
}

/** A verb said no; its sentences say why. */
export const refused = (
  status: number,
  sentences: readonly string[],
  service: { id: string; name: string } | null,
): PageAnswer =>
  page(
    status,
    say(TITLES[status] ?? mark('That did not work')),
    <>
      {sentences.map(sentence => (
        <p key={sentence} dir="auto">
          {fromNoun(sentence)}
        </p>
      ))}
      <Ways ways={[wayTo(service)]} />
    </>,
  )

/** How often the page of a waiting export asks again. */
const AGAIN_AFTER_SECONDS = 3

/** The person has as many exports running as they may. The browser asks again by itself, until this one is a download. */
export const exportWaits = (service: { id: string; name: string } | null): PageAnswer => {
  const title = t`Your download is waiting`
  return {
    kind: 'page',
    status: 429,
    againAfterSeconds: AGAIN_AFTER_SECONDS,
    title,
    width: 'solo',
    body: (
      <SoloCard title={title}>
        <p role="status">
          {t`Two of your downloads are still running. This one starts by itself when one of them ends: keep this page open until then. Once it has started, you can close the page.`}
        </p>
        <Ways ways={[wayTo(service)]} />
      </SoloCard>
    ),
  }
}

/** `form`: what was entered, so that it can be sent again; null: a page was opened. */
export const broken = (
  requestId: string,
  here: string,
  form: URLSearchParams | null,
  hasDatabase: boolean,
): PageAnswer =>
  page(
    500,
    t`Something broke on our side`,
    <>
      <p>
        {form && `${t`What you entered may not be saved.`} `}
        {hasDatabase
          ? t`Messages accepted before are safe.`
          : t`Herald cannot reach its database. Messages accepted before are safe, and are sent when it answers again.`}
      </p>
      <p>{t`Try again in a minute. If it stays, give your operator this number:`}</p>
      <p class="secret">
        <code>{requestId}</code>
      </p>
      {form ? <Kept form={form} here={here} /> : <Ways ways={[{ words: t`Try again`, path: here }, home()]} />}
    </>,
  )

/** A form that another site, or nobody known, has sent. */
export const foreignForm = (): PageAnswer =>
  page(
    403,
    t`This form did not come from Herald`,
    <>
      <p>{rich`Another page sent it, so nothing was changed. If you did send it from Herald, your operator has to check ${<code>HERALD_BASE_URL</code>}: it must be the address that you see in the browser.`}</p>
      <Ways ways={[home()]} />
    </>,
  )

export const needsHttps = (): PageAnswer =>
  page(
    403,
    t`The console needs https`,
    <p>{rich`Without it, everybody on the way could read your session. Put a proxy with a certificate in front of Herald and set ${<code>HERALD_BASE_URL</code>} to its https address, or open the console on the machine itself, as localhost.`}</p>,
  )

export const needsAddress = (): PageAnswer =>
  page(
    403,
    t`The console does not know its address`,
    <p>{rich`Links in mails would lead wherever a request says. Set ${<code>HERALD_BASE_URL</code>} to the address that people use, such as https://notify.example.org, and start Herald again.`}</p>,
  )

/** What was entered, as fields that nobody sees, to be sent again: by the token of the browser, because the session may change. */
const Kept = ({ form, here }: { form: URLSearchParams; here: string }) => {
  const { url, browserFormToken } = usePage()
  return (
    <form method="post" action={url(here)} class="row">
      <input type="hidden" name={FORM_TOKEN} value={browserFormToken} />
      {[...form].map(
        ([name, value], at) => name !== FORM_TOKEN && <input key={at} type="hidden" name={name} value={value} />,
      )}
      <button class="btn" type="submit">{t`Send again`}</button>
    </form>
  )
}

/** A form came when nobody was signed in, or from a page of an earlier session: nothing is lost. */
export const signInToSend = (form: URLSearchParams, here: string): PageAnswer =>
  keeping(
    403,
    t`Your session has ended`,
    <p>{t`Nothing was changed yet, and nothing you entered is lost. Sign in in another tab, then come back and send it again.`}</p>,
    { words: t`Sign in in another tab`, path: '/sign-in' },
    form,
    here,
  )

/** The token does not fit although somebody is signed in: the page is from before. */
export const oldForm = (form: URLSearchParams, here: string): PageAnswer =>
  page(
    403,
    t`This page was from an earlier session`,
    <>
      <p>{t`Nothing was changed yet, and nothing you entered is lost. Send it again if you still want it.`}</p>
      <Kept form={form} here={here} />
    </>,
  )

/** The same for a form with a file, which cannot be kept. */
export const oldUpload = (here: string): PageAnswer =>
  page(
    403,
    t`This page was from an earlier session`,
    <>
      <p>{t`Nothing was uploaded. Open the page again, and choose the file once more.`}</p>
      <Ways ways={[{ words: t`Open the page again`, path: here }]} />
    </>,
  )

/** A sensitive act, and the last sign-in is some time ago. */
export const confirmToSend = (form: URLSearchParams, here: string): PageAnswer =>
  keeping(
    403,
    t`Confirm that it is you`,
    <p>{t`This needs a sign-in of the last ten minutes. Nothing was changed yet, and nothing you entered is lost. Confirm in another tab, then come back and send it again.`}</p>,
    { words: t`Confirm in another tab`, path: '/sign-in/confirm?return=%2Faccount' },
    form,
    here,
  )

function keeping(
  status: number,
  title: string,
  text: ComponentChildren,
  way: Way,
  form: URLSearchParams,
  here: string,
) {
  return page(
    status,
    title,
    <>
      {text}
      <OtherTab way={way} />
      <Kept form={form} here={here} />
    </>,
  )
}

const OtherTab = ({ way: { words, path } }: { way: Way }) => (
  <p>
    <a class="btn btn-primary" href={usePage().url(path)} target="_blank" rel="noopener">
      {words}
    </a>
  </p>
)

/** On the way to the provider of single sign-on, when a form began it: a form may not be redirected to another site. */
export const leaving = (to: string): PageAnswer => ({
  kind: 'page',
  title: t`Leaving Herald`,
  width: 'solo',
  body: (
    <SoloCard title={t`You go on elsewhere`}>
      <p>
        <a class="btn btn-primary" href={to}>{t`Continue`}</a>
      </p>
    </SoloCard>
  ),
})
