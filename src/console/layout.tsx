// The frame of every page: navigation, search, account, footer. Navigation shows the pages that exist in the table of contents and
// that the person may open.
import type { ComponentChildren, VNode } from 'preact'
import { render } from 'preact-render-to-string'
import type { Permission } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import type { Person } from '../people/person.ts'
import { Avatar, Hidden, Icon, type IconName } from './components/basics.tsx'
import { Page, type PageContext } from './components/context.ts'
import { FormToken } from './components/form.tsx'
import { SearchField } from './components/list.tsx'
import { Dialog } from './components/overlays.tsx'
import { LANGUAGES, type Language, language, type Marked, mark, rich, say, t } from './words/index.ts'

export type Frame = {
  context: PageContext
  /** Path and query without the console's path. */
  here: string
  assets: { style: string; script: string; favicon: string }
  version: string
  /** Where the reference of the API is. */
  docs: string
  /** Whether the page exists. */
  has(method: 'GET' | 'POST', path: string): boolean
  person: Person | null
  /** Services of the switcher. */
  services: readonly { id: Id; name: string }[]
  /** The service of the page. */
  service: {
    id: Id
    name: string
    mode: 'trial' | 'live'
    isSuspended: boolean
    suspendedReason: string | null
    may(permission: Permission): boolean
  } | null
  /** Whether all sending is paused until an operator releases it. */
  isHeld: boolean
}

export type Shown = { title: string; body: VNode; width?: 'narrow' | 'wide' | 'solo'; nav?: string }

type NavItem = {
  key: string
  words: Marked
  /** Under `/s/:service`. */
  path: string
  icon: IconName
  permission: Permission
  /** After `g`. */
  letter?: string
}

const GROUPS: readonly { title?: Marked; items: readonly NavItem[] }[] = [
  {
    items: [
      { key: 'overview', words: mark('Overview'), path: '', icon: 'overview', permission: 'see-service', letter: 'o' },
      {
        key: 'messages',
        words: mark('Messages'),
        path: '/messages',
        icon: 'messages',
        permission: 'see-messages',
        letter: 'm',
      },
      {
        key: 'templates',
        words: mark('Templates'),
        path: '/templates',
        icon: 'template',
        permission: 'see-messages',
        letter: 't',
      },
      { key: 'send', words: mark('Send'), path: '/send', icon: 'send', permission: 'send-messages', letter: 's' },
      { key: 'jobs', words: mark('Jobs'), path: '/jobs', icon: 'job', permission: 'see-messages', letter: 'j' },
    ],
  },
  {
    title: mark('Developers'),
    items: [
      { key: 'keys', words: mark('API keys'), path: '/keys', icon: 'key', permission: 'manage-keys', letter: 'k' },
      {
        key: 'webhooks',
        words: mark('Webhooks'),
        path: '/webhooks',
        icon: 'webhook',
        permission: 'manage-webhooks',
        letter: 'w',
      },
      { key: 'requests', words: mark('Request log'), path: '/requests', icon: 'log', permission: 'manage-keys' },
      {
        key: 'inbox',
        words: mark('Captured inbox'),
        path: '/inbox',
        icon: 'inbox',
        permission: 'see-inbox',
        letter: 'i',
      },
    ],
  },
  {
    title: mark('Service'),
    items: [
      { key: 'team', words: mark('Team'), path: '/team', icon: 'team', permission: 'see-service' },
      { key: 'settings', words: mark('Settings'), path: '/settings', icon: 'settings', permission: 'see-service' },
      { key: 'changes', words: mark('Changes'), path: '/changes', icon: 'log', permission: 'manage-service' },
    ],
  },
]

/** Pages of no service. */
const OWN: readonly { key: string; words: Marked; path: string; icon: IconName }[] = [
  { key: 'services', words: mark('My services'), path: '/', icon: 'services' },
  { key: 'account', words: mark('My account'), path: '/account', icon: 'settings' },
]

const INSTALLATION: typeof OWN = [
  { key: 'all-services', words: mark('All services'), path: '/operator/services', icon: 'services' },
  { key: 'system', words: mark('System'), path: '/operator/system', icon: 'system' },
  { key: 'people', words: mark('People'), path: '/operator/people', icon: 'team' },
  { key: 'audit', words: mark('Audit log'), path: '/operator/audit', icon: 'log' },
  { key: 'all-inbox', words: mark('Captured inbox'), path: '/operator/inbox', icon: 'inbox' },
]

/** A whole document. */
export function renderPage(shown: Shown, frame: Frame): string {
  const page =
    shown.width === 'solo' || !frame.person ? <Solo frame={frame}>{shown.body}</Solo> : <App {...{ shown, frame }} />
  const names = [shown.title, ...(shown.width !== 'solo' && frame.service ? [frame.service.name] : []), 'Herald']
  const { url } = frame.context
  return `<!doctype html>${render(
    <Page.Provider value={frame.context}>
      <html
        lang={language()}
        {...(frame.person && frame.person.theme !== 'auto' && { 'data-theme': frame.person.theme })}
      >
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>{names.join(' – ')}</title>
          <link rel="stylesheet" href={url(frame.assets.style)} />
          <link rel="icon" href={url(frame.assets.favicon)} type="image/svg+xml" />
          <script type="module" src={url(frame.assets.script)} />
        </head>
        {page}
      </html>
    </Page.Provider>,
  )}`
}

/** A part of a page, for the script. */
export const renderFragment = (body: VNode, context: PageContext): string =>
  render(<Page.Provider value={context}>{body}</Page.Provider>)

/** Pages without navigation bring `main` with them (components/solo.tsx). */
const Solo = ({ frame, children }: { frame: Frame; children: ComponentChildren }) => (
  <body class="solo" data-copied={t`Copied`}>
    {children}
    {!frame.person && <OtherLanguages frame={frame} />}
  </body>
)

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', fr: 'Français' }

/** The same page in another language, for those who have no account yet. The browser keeps the choice. */
function OtherLanguages({ frame: { context, here } }: { frame: Frame }) {
  const [path = '/', query = ''] = here.split('?', 2)
  const href = (other: Language) => {
    const given = new URLSearchParams(query)
    given.set('language', other)
    return context.url(`${path}?${given}`)
  }
  return (
    <footer class="footer">
      {LANGUAGES.filter(one => one !== language()).map(one => (
        <a key={one} href={href(one)} lang={one} hreflang={one} rel="nofollow">
          {LANGUAGE_NAMES[one]}
        </a>
      ))}
    </footer>
  )
}

function App({ shown, frame }: { shown: Shown; frame: Frame }) {
  const { context, person } = frame
  const isOnService = frame.service !== null
  return (
    <body data-shortcuts={person?.shortcuts ? 'on' : 'off'} data-copied={t`Copied`}>
      <a class="skip" href="#main">
        {t`Skip to content`}
      </a>
      <div class="app">
        <nav class="sidebar" id="menu" popover="auto" aria-label={t`Main`}>
          <div class="sidebar-in">
            <a class="brand" href={context.url('/')}>
              <Icon name="herald" />
              Herald
            </a>
            <Switcher frame={frame} />
            {isOnService ? <ServiceNav frame={frame} nav={shown.nav} /> : <OwnNav frame={frame} nav={shown.nav} />}
          </div>
        </nav>
        <div class="main">
          <Banners frame={frame} />
          <Topbar frame={frame} />
          <main class={shown.width ? `page page-${shown.width}` : 'page'} id="main" tabIndex={-1}>
            {shown.body}
          </main>
          <footer class="footer">
            <span>Herald {frame.version}</span>
            <a href={frame.docs}>{t`Documentation`}</a>
            <button class="link-btn" type="button" popovertarget="shortcuts">{t`Keyboard shortcuts`}</button>
          </footer>
        </div>
      </div>
      <Shortcuts frame={frame} />
    </body>
  )
}

function Switcher({ frame: { context, services, service, person, has } }: { frame: Frame }) {
  const { url } = context
  return (
    <>
      <button class="btn switcher" type="button" popovertarget="services">
        <Avatar name={service?.name ?? t`All services`} square />
        <span class="switcher-name">
          <b>
            <bdi>{service?.name ?? t`All services`}</bdi>
          </b>
          <small>{service ? say(service.isSuspended ? SUSPENDED : MODES[service.mode]) : 'Herald'}</small>
        </span>
        <Icon name="updown" />
        <Hidden>{t`Change service`}</Hidden>
      </button>
      <div class="menu" id="services" popover="auto">
        {services.slice(0, MOST_SWITCHED).map(({ id, name }) => (
          <a key={id} href={url(`/s/${id}`)}>
            <Avatar name={name} square />
            <bdi>{name}</bdi>
          </a>
        ))}
        {services.length > 0 && <hr />}
        <a href={url('/')}>
          <Icon name="services" />
          {t`All my services`}
        </a>
        {person?.is_operator && has('GET', '/operator/system') && (
          <a href={url('/operator/system')}>
            <Icon name="system" />
            {t`Installation`}
          </a>
        )}
      </div>
    </>
  )
}

/** What is searched for is posted to it as `q`. */
const SEARCH = '/s/:service/messages/search'
const MODES = { live: mark('Live'), trial: mark('Trial') } as const
const SUSPENDED = mark('Suspended')
/** The menu stays short; the page of all services has a search. */
const MOST_SWITCHED = 12

const current = (isCurrent: boolean) => isCurrent && { 'aria-current': 'page' as const }

function ServiceNav({ frame: { context, service, has }, nav }: { frame: Frame; nav: string | undefined }) {
  if (!service) return null
  return (
    <>
      {GROUPS.map(({ title, items }) => {
        const open = items.filter(item => has('GET', `/s/:service${item.path}`) && service.may(item.permission))
        return (
          open.length > 0 && (
            <div class="nav" key={title ?? ''}>
              {title && <h2 class="nav-title">{say(title)}</h2>}
              {open.map(({ key, words, path, icon, letter }) => (
                <a
                  key={key}
                  href={context.url(`/s/${service.id}${path}`)}
                  {...current(key === nav)}
                  {...(letter && { 'data-go': letter })}
                >
                  <Icon name={icon} />
                  {say(words)}
                </a>
              ))}
            </div>
          )
        )
      })}
    </>
  )
}

function OwnNav({ frame: { context, person, has }, nav }: { frame: Frame; nav: string | undefined }) {
  const group = (items: typeof OWN) =>
    items
      .filter(({ path }) => has('GET', path))
      .map(({ key, words, path, icon }) => (
        <a key={key} href={context.url(path)} {...current(key === nav)}>
          <Icon name={icon} />
          {say(words)}
        </a>
      ))
  const installation = person?.is_operator ? group(INSTALLATION) : []
  return (
    <>
      <div class="nav">{group(OWN)}</div>
      {installation.length > 0 && (
        <div class="nav">
          <h2 class="nav-title">{t`Installation`}</h2>
          {installation}
        </div>
      )}
    </>
  )
}

function Topbar({ frame: { context, service, person, has } }: { frame: Frame }) {
  const { url } = context
  if (!person) return null
  const canSearch = service?.may('see-messages') && has('POST', SEARCH)
  return (
    <header class="topbar">
      <button class="btn btn-quiet btn-icon menu-btn" type="button" popovertarget="menu">
        <Icon name="menu" />
        <Hidden>{t`Menu`}</Hidden>
      </button>
      {/* A POST: what is searched for may be an address, which must not stand in the address of a page. */}
      {service && canSearch && (
        <form class="search" role="search" method="post" action={url(`/s/${service.id}/messages/search`)}>
          <FormToken />
          <SearchField name="q" label={t`Recipient, reference or id`} hasKey />
        </form>
      )}
      <div class="topbar-end">
        <button class="btn btn-quiet btn-icon" type="button" popovertarget="account">
          <Avatar name={person.name || person.email_address} />
          <Hidden>{rich`Account of ${<bdi>{person.name || person.email_address}</bdi>}`}</Hidden>
        </button>
        <div class="menu menu-end" id="account" popover="auto">
          <a href={url('/account')}>{t`My account`}</a>
          <a href={url('/account#look')}>{t`Light or dark`}</a>
          <button type="button" popovertarget="shortcuts">{t`Keyboard shortcuts`}</button>
          <hr />
          <form method="post" action={url('/sign-out')}>
            <FormToken />
            <button type="submit">{t`Sign out`}</button>
          </form>
        </div>
      </div>
    </header>
  )
}

/** What holds for every page: sending is paused, the service is suspended. */
const Banners = ({ frame: { context, isHeld, service, person, has } }: { frame: Frame }) => (
  <>
    {isHeld && (
      <div class="banner" role="status">
        {person?.is_operator ? (
          <>
            <span>{t`Sending is held: messages are accepted and wait.`}</span>
            {has('GET', '/operator/system') && (
              <>
                {' '}
                <a href={context.url('/operator/system#sending')}>{t`Release it`}</a>
              </>
            )}
          </>
        ) : (
          <span>{t`Sending is paused by the operator. Messages are accepted and wait.`}</span>
        )}
      </div>
    )}
    {service?.isSuspended && (
      <div class="banner" role="status">
        <span>
          {t`This service is suspended and sends nothing.`}{' '}
          {service.suspendedReason && rich`The operator says: ${<bdi>{service.suspendedReason}</bdi>}`}
        </span>
      </div>
    )}
  </>
)

const Keys = ({ keys }: { keys: readonly string[] }) => (
  <dt>
    {keys.map((key, at) => (
      <>
        {at > 0 && ' '}
        <kbd>{key}</kbd>
      </>
    ))}
  </dt>
)

function Shortcuts({ frame: { service, has, person } }: { frame: Frame }) {
  const pages = GROUPS.flatMap(({ items }) => items).filter(
    ({ path, permission, letter }) => letter && has('GET', `/s/:service${path}`) && service?.may(permission),
  )
  const rows: readonly (readonly [keys: readonly string[], words: string])[] = [
    ...(has('POST', SEARCH) && service?.may('see-messages') ? [[['/'], t`Search messages`] as const] : []),
    ...pages.map(({ letter = '', words }) => [['g', letter], say(words)] as const),
    [['j', 'k'], t`Next and previous row`],
    [['[', ']'], t`Newer and older page`],
    ...(service?.may('see-inbox') || person?.is_operator ? [[[t`Del`], t`Delete the captured message`] as const] : []),
    ...(service ? [[['e'], t`Edit the template`] as const] : []),
    [[t`Ctrl`, 'S'], t`Save the template`],
    [[t`Ctrl`, t`Enter`], t`Submit the form`],
    [['?'], t`This list`],
    [[t`Esc`], t`Close what is open`],
  ]
  return (
    <Dialog id="shortcuts" title={t`Keyboard shortcuts`}>
      {!person?.shortcuts && <p>{t`Single letters are turned off in your account.`}</p>}
      <dl class="facts">
        {rows.map(([keys, words]) => (
          <>
            <Keys keys={keys} />
            <dd>{words}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  )
}
