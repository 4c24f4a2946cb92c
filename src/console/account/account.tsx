// A person's own account: name, time zone, look, ways to sign in, sessions, services.
import type { ComponentChildren } from 'preact'
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { changeAccount, isTimeZone, SHOWN_LANGUAGES, THEMES, timeZones } from '../../people/account.ts'
import { listPasskeys, type Passkey } from '../../people/passkeys.ts'
import type { Membership, Session, SignedIn, SignInMethod } from '../../people/person.ts'
import { endOtherSessions, endSession, listSessions } from '../../people/session.ts'
import { isConnected } from '../../people/sql/identities.ts'
import { Callout, Card, Done, Hidden, Icon, PageHead, Time } from '../components/basics.tsx'
import { orCaptured } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Choice, Choices, ErrorSummary, type FieldErrors, Form, Input, Select } from '../components/form.tsx'
import { Table, Title } from '../components/list.tsx'
import { Dialog } from '../components/overlays.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { withReturn } from '../sign-in/finish.ts'
import { ROLE_NAMES } from '../team/roles.ts'
import { type Marked, mark, rich, say, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'

export const DONE = {
  saved: mark('Your account is saved.'),
  'passkey-added': mark('The passkey is added. From now on you can sign in with it.'),
  'passkey-renamed': mark('The passkey has its new name.'),
  'passkey-removed': mark('The passkey is removed here. Delete it on your device, too.'),
  'session-ended': mark('That browser is signed out.'),
  'sessions-ended': mark('Every other browser is signed out.'),
  'address-asked': mark('If nobody has the new address, a link is on its way to it. Open it in this browser.'),
  'address-changed': mark('Your e-mail address is changed. From now on links go to the new one.'),
} as const

export const accountPage = (visit: SignedInVisit): Promise<Answer> => accountForm(visit, {})

type Wrong = { errors?: FieldErrors; values?: URLSearchParams; status?: number }

export async function accountForm(visit: SignedInVisit, { errors = {}, values, status }: Wrong): Promise<Answer> {
  const { parts, signedIn } = visit
  const { oidcIssuer } = parts.config
  const [passkeys, sessions, isConnectedHere] = await Promise.all([
    listPasskeys(parts, signedIn.person.id),
    listSessions(parts, signedIn.person.id),
    oidcIssuer !== null && isConnected(parts.db.sql, signedIn.person.id, oidcIssuer),
  ])
  return {
    kind: 'page',
    title: Object.keys(errors).length > 0 ? t`Error: ${t`My account`}` : t`My account`,
    width: 'narrow',
    nav: 'account',
    ...(status !== undefined && { status }),
    body: (
      <Account
        signedIn={signedIn}
        done={visit.query.get('done')}
        sentences={orCaptured(visit, DONE)}
        passkeys={passkeys}
        sessions={sessions}
        errors={errors}
        values={values ?? new URLSearchParams()}
        hasLocal={parts.config.localSignIn}
        singleSignOn={oidcIssuer === null ? 'none' : isConnectedHere ? 'connected' : 'unconnected'}
      />
    ),
  }
}

export async function saveAccount(visit: SignedInVisit): Promise<Answer> {
  const { form: values } = visit
  const zone = values.get('time_zone_name') ?? ''
  const theme = THEMES.find(one => one === values.get('theme'))
  const language = SHOWN_LANGUAGES.find(one => one === (values.get('language') ?? visit.signedIn.person.language))
  const errors: Record<string, string> = {}
  if (!isTimeZone(zone)) errors.time_zone_name = t`Choose a time zone of the list.`
  if (!theme) errors.theme = t`Choose one of the three.`
  const name = values.get('name') ?? ''
  if (name.trim() === '') errors.name = t`Enter your name.`
  if (!language) errors.language = t`Choose a language of the list.`
  if (Object.keys(errors).length > 0 || !theme || !language) return accountForm(visit, { errors, values, status: 422 })
  const shortcuts = values.has('shortcuts')
  try {
    await changeAccount(visit.parts, visit.actor, { name, time_zone: zone, theme, language, shortcuts })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return accountForm(visit, { errors: { name: sentencesOf(error) }, values, status: 422 })
  }
  return { kind: 'redirect', to: '/account?done=saved' }
}

export async function endOneSession(visit: SignedInVisit): Promise<Answer> {
  const id = readId(visit.params.id)
  const { session } = visit.signedIn
  if (id) await endSession(visit.parts, visit.signedIn, id)
  // Ended already: that is what was wanted.
  return id === session.id
    ? { kind: 'redirect', to: '/sign-in?done=signed-out', session: null }
    : { kind: 'redirect', to: '/account?done=session-ended' }
}

export async function endAllOthers(visit: SignedInVisit): Promise<Answer> {
  await endOtherSessions(visit.parts, visit.signedIn)
  return { kind: 'redirect', to: '/account?done=sessions-ended' }
}

type Props = {
  signedIn: SignedIn
  done: string | null
  sentences: typeof DONE
  passkeys: readonly Passkey[]
  sessions: readonly Session[]
  errors: FieldErrors
  values: URLSearchParams
  hasLocal: boolean
  singleSignOn: 'none' | 'connected' | 'unconnected'
}

function Account(props: Props) {
  const { person } = props.signedIn
  return (
    <>
      <PageHead
        title={t`My account`}
        lede={
          <>
            <bdi>{person.name}</bdi>, <bdi>{person.email_address}</bdi>
          </>
        }
      >
        <Form action="/sign-out" class="row">
          <button class="btn" type="submit">{t`Sign out`}</button>
        </Form>
      </PageHead>
      <Done done={props.done} sentences={props.sentences} />
      <ErrorSummary errors={props.errors} />
      <You {...props} />
      <WaysToSignIn {...props} />
      <Sessions {...props} />
      <Services memberships={props.signedIn.memberships} isOperator={person.is_operator} />
      <Address {...props} />
    </>
  )
}

/** Each in itself, so that each person finds their own. */
const LANGUAGE_NAMES = { en: 'English', fr: 'Français' } as const

const THEME_WORDS = { auto: mark('Like my device'), light: mark('Light'), dark: mark('Dark') } as const

function You({ signedIn: { person }, values, errors }: Props) {
  const zone = values.get('time_zone_name') ?? person.time_zone ?? 'UTC'
  const theme = values.get('theme') ?? person.theme
  const language = values.get('language') ?? person.language
  const hasShortcuts = values.has('name') ? values.has('shortcuts') : person.shortcuts
  const zones = timeZones()
  return (
    <Card title={t`You and your view`} id="you">
      <Form action="/account">
        <Input
          label={t`Name`}
          name="name"
          value={values.get('name') ?? person.name}
          error={errors.name}
          hint={t`Your team sees it beside what you do.`}
          autocomplete="name"
          dir="auto"
          required
        />
        <Select
          label={t`Time zone`}
          name="time_zone_name"
          value={zone}
          error={errors.time_zone_name}
          width="md"
          options={[...(zones.includes(zone) ? [] : [zone]), ...zones].map(
            one => [one, one.replaceAll('_', ' ')] as const,
          )}
        />
        <Select
          label={t`Language`}
          name="language"
          value={language}
          error={errors.language}
          hint={t`Also decides how dates and numbers are written.`}
          width="md"
          options={SHOWN_LANGUAGES.map(
            one => [one, one === 'auto' ? t`Like my browser` : LANGUAGE_NAMES[one]] as const,
          )}
        />
        <Choices
          legend={t`Light or dark`}
          name="theme"
          type="radio"
          error={errors.theme}
          options={THEMES.map(value => ({ value, words: say(THEME_WORDS[value]), checked: value === theme }))}
        />
        <Choice
          type="checkbox"
          name="shortcuts"
          value="on"
          checked={hasShortcuts}
          words={t`Single-letter keyboard shortcuts`}
          hint={t`Turn off if you use speech input.`}
        />
        <div class="row">
          <button class="btn btn-primary" type="submit">{t`Save`}</button>
        </div>
      </Form>
    </Card>
  )
}

type Way = { key: string; name: ComponentChildren; sub: ComponentChildren; actions: ComponentChildren }

function WaysToSignIn({ passkeys, hasLocal, singleSignOn }: Props) {
  const { url } = usePage()
  const ways: Way[] = [
    ...passkeys.map(passkey => ({
      key: passkey.id as string,
      name: <>{rich`Passkey “${<bdi>{passkey.name}</bdi>}”`}</>,
      sub: passkey.last_used_at
        ? rich`added ${<Time at={passkey.created_at} />}, last used ${<Time at={passkey.last_used_at} />}`
        : rich`added ${<Time at={passkey.created_at} />}, not used yet`,
      actions: <PasskeyActions passkey={passkey} />,
    })),
    ...(hasLocal ? [{ key: 'link', name: t`E-mail link`, sub: t`always possible`, actions: null }] : []),
    ...(singleSignOn === 'none'
      ? []
      : [
          {
            key: 'single-sign-on',
            name: t`Single sign-on`,
            sub: singleSignOn === 'connected' ? t`with your organisation` : t`not connected yet`,
            actions: singleSignOn === 'unconnected' && (
              <a
                class="btn btn-sm"
                href={url(withReturn('/sign-in/confirm/single-sign-on', '/account'))}
                rel="nofollow"
              >
                {t`Connect`}
                <Hidden> {t`Single sign-on`}</Hidden>
              </a>
            ),
          },
        ]),
  ]
  return (
    <>
      <Card
        title={t`Signing in`}
        id="signin"
        body={false}
        foot={
          hasLocal && (
            <a class="btn btn-sm" href={url('/account/passkeys/new')}>
              <Icon name="plus" />
              {t`Add a passkey`}
            </a>
          )
        }
      >
        <Table
          caption={t`Ways to sign in`}
          rows={ways}
          keyOf={way => way.key}
          columns={[
            {
              head: t`Way`,
              cell: way => (
                <>
                  <strong>{way.name}</strong>
                  <span class="sub">{way.sub}</span>
                </>
              ),
            },
            { head: t`Actions`, hidden: true, kind: 'num', cell: way => way.actions },
          ]}
        />
      </Card>
      {passkeys.map(passkey => (
        <PasskeyDialogs key={passkey.id} passkey={passkey} />
      ))}
    </>
  )
}

const PasskeyActions = ({ passkey: { id, name } }: { passkey: Passkey }) => (
  <span class="row row-end">
    <button class="btn btn-sm" type="button" popovertarget={`rename-${id}`}>
      {t`Rename`}
      <Hidden> {rich`passkey ${<bdi>{name}</bdi>}`}</Hidden>
    </button>
    <button class="btn btn-sm" type="button" popovertarget={`remove-${id}`}>
      {t`Remove`}
      <Hidden> {rich`passkey ${<bdi>{name}</bdi>}`}</Hidden>
    </button>
  </span>
)

const PasskeyDialogs = ({ passkey: { id, name } }: { passkey: Passkey }) => (
  <>
    <Dialog id={`rename-${id}`} title={t`Rename the passkey`}>
      <Form action={`/account/passkeys/${id}`}>
        <div class="field">
          <label class="label" for={`name-${id}`}>{t`Name`}</label>
          <input
            class="input"
            id={`name-${id}`}
            name="name"
            value={name}
            maxLength={60}
            dir="auto"
            autocomplete="off"
          />
        </div>
        <div class="row">
          <button
            class="btn"
            type="button"
            popovertarget={`rename-${id}`}
            popovertargetaction="hide"
          >{t`Keep the name`}</button>
          <button class="btn btn-primary" type="submit">{t`Rename`}</button>
        </div>
      </Form>
    </Dialog>
    <Dialog id={`remove-${id}`} title={t`Remove the passkey`}>
      <p>{rich`You can no longer sign in with “${<bdi>{name}</bdi>}”. A link by e-mail stays possible.`}</p>
      <Form action={`/account/passkeys/${id}/remove`} class="row">
        <button
          class="btn"
          type="button"
          popovertarget={`remove-${id}`}
          popovertargetaction="hide"
        >{t`Keep it`}</button>
        <button class="btn btn-danger" type="submit">{t`Remove the passkey`}</button>
      </Form>
    </Dialog>
  </>
)

/** Sessions keep "Firefox on Linux", in English. */
function deviceWords(device: string): string {
  const [browser = '', system] = device.split(' on ')
  return system === undefined ? known(device) : t`${browser} on ${system}`
}

const METHODS: Readonly<Record<SignInMethod, Marked>> = {
  link: mark('by e-mail link'),
  passkey: mark('by passkey'),
  'single-sign-on': mark('by single sign-on'),
}

function Sessions({ sessions, signedIn: { session: current } }: Props) {
  const isCurrent = (id: Id) => id === current.id
  return (
    <Card
      title={t`Where you are signed in`}
      id="sessions"
      body={false}
      foot={
        sessions.length > 1 && (
          <Form action="/account/sessions/end-others" class="row">
            <button class="btn btn-sm" type="submit">{t`Sign out everywhere else`}</button>
          </Form>
        )
      }
    >
      <Table
        caption={t`Sessions`}
        rows={sessions}
        keyOf={session => session.id}
        columns={[
          {
            head: t`Browser`,
            cell: ({ id, device, signed_in_at, method }) => (
              <>
                <strong>{isCurrent(id) ? t`This browser` : <bdi>{deviceWords(device)}</bdi>}</strong>
                <span class="sub">{rich`signed in ${<Time at={signed_in_at} />} ${say(METHODS[method])}`}</span>
              </>
            ),
          },
          {
            head: t`Last used`,
            kind: 'num',
            cell: ({ id, last_seen_at }) => (isCurrent(id) ? t`now` : <Time at={last_seen_at} />),
          },
          {
            head: t`Actions`,
            hidden: true,
            kind: 'num',
            cell: ({ id, device }) =>
              isCurrent(id) ? null : (
                <Form action={`/account/sessions/${id}/end`} class="row row-end">
                  <button class="btn btn-sm" type="submit">
                    {t`Sign out`}
                    <Hidden>
                      {' '}
                      <bdi>{deviceWords(device)}</bdi>
                    </Hidden>
                  </button>
                </Form>
              ),
          },
        ]}
      />
    </Card>
  )
}

function Services({ memberships, isOperator }: { memberships: readonly Membership[]; isOperator: boolean }) {
  const { url } = usePage()
  return (
    <Card title={t`Your services`} id="services-of-mine" body={memberships.length === 0}>
      {memberships.length === 0 ? (
        <p>{t`You belong to no service yet. A manager of a service can invite you.`}</p>
      ) : (
        <Table
          caption={t`Your services`}
          rows={memberships}
          keyOf={one => one.service_id}
          columns={[
            {
              head: t`Service`,
              cell: one => <Title href={url(`/s/${one.service_id}`)}>{one.service_name}</Title>,
            },
            { head: t`Role`, cell: one => <span class="tag">{say(ROLE_NAMES[one.role])}</span> },
          ]}
        />
      )}
      {isOperator && (
        <Callout tone="info">
          <p>{t`You are an operator of this installation.`}</p>
        </Callout>
      )}
    </Card>
  )
}

const Address = ({ signedIn: { person }, values, errors }: Props) => (
  <Card title={t`E-mail address`} id="address-card">
    <Form action="/account/address">
      <Input
        label={t`New e-mail address`}
        name="address"
        type="email"
        value={values.get('address') ?? ''}
        error={errors.address}
        hint={rich`Now ${<bdi>{person.email_address}</bdi>}. Herald sends a link to the new address; it changes when you open the link.`}
        autocomplete="email"
      />
      <div class="row">
        <button class="btn" type="submit">{t`Send the link`}</button>
      </div>
    </Form>
  </Card>
)
