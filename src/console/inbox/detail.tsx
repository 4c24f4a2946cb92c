// One captured message: as the recipient would see it, its text, source, headers, links and attachments.
import type { ComponentChildren } from 'preact'
import type { Link, LinkProblem } from '../../inbox/links.ts'
import type { Attached, WholeCaptured } from '../../inbox/read.ts'
import type { Source } from '../../inbox/source.ts'
import type { EmailMessage, TextMessage } from '../../providers/port.ts'
import { lengthOf } from '../../rendering/sms.ts'
import { Facts, Icon, Tabs } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Dialog } from '../components/overlays.tsx'
import { Badge } from '../components/status.tsx'
import type { SignedInVisit } from '../page.ts'
import { type Marked, mark, plural, rich, say, t } from '../words/index.ts'
import { type Given, type InboxPlace, pathOf } from './place.ts'

const VIEWS = {
  html: mark('HTML'),
  phone: mark('Phone'),
  text: mark('Text'),
  source: mark('Source'),
  headers: mark('Headers'),
  links: mark('Links'),
  attachments: mark('Attachments'),
} as const
export type View = keyof typeof VIEWS
export const isView = (text: string): text is View => Object.hasOwn(VIEWS, text)

type Shown = {
  visit: SignedInVisit
  place: InboxPlace
  given: Given
  message: WholeCaptured
  view: View
  source: Source | null
}

export function Detail(props: Shown) {
  const { visit, place, message } = props
  const { content } = message
  const isEmail = content.channel === 'email'
  return (
    <article id="message" aria-labelledby="mail-subject" tabIndex={-1}>
      <div class="card-body stack">
        <div class="row row-between">
          <h2 id="mail-subject" dir="auto">
            {isEmail ? content.email.subject || t`Without a subject` : t`Text message`}
          </h2>
          <span class="row row-tight">
            {isEmail && (
              <a class="btn btn-sm" href={visit.url(`${place.base}/${message.id}/source`)} download>
                <Icon name="download" />
                {t`Download`}
              </a>
            )}
            <DeleteDialog {...props} />
          </span>
        </div>
        <About {...props} />
      </div>
      {isEmail ? (
        <EmailViews {...props} email={content.email} />
      ) : (
        <div class="card-body">
          <Bubbles text={content.text} />
          {message.links.length > 0 && <Links links={message.links} />}
        </div>
      )}
    </article>
  )
}

function About({ visit, place, message }: Shown) {
  const { content, key_type, at } = message
  const to = content.channel === 'email' ? content.email.to : content.text.to
  const from =
    content.channel === 'email' ? `${content.email.from.name} <${content.email.from.address}>` : content.text.from
  return (
    <Facts
      rows={[
        [t`From`, <bdi>{from ?? t`The provider’s own number`}</bdi>],
        [t`To`, <bdi>{to}</bdi>],
        content.channel === 'email' &&
          content.email.replyTo !== null && [t`Reply to`, <bdi>{content.email.replyTo}</bdi>],
        [t`Accepted`, visit.formats.full(at)],
        [
          t`Why nobody got it`,
          key_type === 'test' ? (
            <Badge tone="plan" icon="info">{t`Simulated (test key)`}</Badge>
          ) : (
            <Badge tone="idle" icon="inbox">{t`Captured`}</Badge>
          ),
        ],
        place.service && [
          t`Status`,
          <a href={visit.url(`/s/${place.service.id}/messages/${message.id}`)}>{t`Open the page of the message`}</a>,
        ],
      ]}
    />
  )
}

function DeleteDialog({ place, given, message }: Shown) {
  return (
    <>
      <button class="btn btn-sm btn-icon" type="button" popovertarget="delete">
        <Icon name="trash" />
        <span class="vh">{t`Delete this message`}</span>
      </button>
      <Dialog id="delete" title={t`Delete this message?`}>
        <DeleteForm dialog="delete" action={`${place.base}/${message.id}/delete`} {...{ place, given }} />
      </Dialog>
    </>
  )
}

/** What the dialog `dialog` says and asks. */
export const DeleteForm = (props: { dialog: string; action: string; place: InboxPlace; given: Given }) => (
  <>
    <p>
      {props.place.service
        ? t`It goes from the inbox, for everybody. Its page in the list of messages stays.`
        : t`It goes from the inbox, for everybody.`}
    </p>
    <Form action={props.action} class="row">
      {Object.entries(props.given).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button class="btn" type="button" popovertarget={props.dialog} popovertargetaction="hide" autofocus>
        {t`Keep it`}
      </button>
      <button class="btn btn-danger" type="submit">
        {t`Delete the message`}
      </button>
    </Form>
  </>
)

function EmailViews(props: Shown & { email: EmailMessage }) {
  const { visit, place, given, message, source, email } = props
  const view = props.view
  const counts: Partial<Record<View, number>> = {
    headers: source?.headers.length ?? 0,
    links: message.links.length,
    attachments: message.attachments.length,
  }
  const shown = (Object.keys(VIEWS) as View[]).filter(name => name !== 'attachments' || message.attachments.length > 0)
  return (
    <>
      <Tabs
        label={t`Views of the message`}
        tabs={shown.map(name => ({
          words: say(VIEWS[name]),
          href: `${visit.url(pathOf(place, message.id, given, name === 'html' ? {} : { view: name }))}#message`,
          ...(counts[name] !== undefined && { count: counts[name] }),
          current: name === view,
        }))}
      />
      <div class="card-body">
        <EmailView {...props} email={email} />
      </div>
      {message.attachments.length > 0 && view !== 'attachments' && (
        <div class="card-foot">
          <Attachments {...{ visit, place, message }} />
        </div>
      )}
    </>
  )
}

function EmailView({ visit, place, message, view, source, email }: Shown & { email: EmailMessage }): ComponentChildren {
  switch (view) {
    case 'html':
    case 'phone':
      if (email.html === '') return <p class="muted">{t`This e-mail has no HTML. Its text is under Text.`}</p>
      return (
        <div class={view === 'phone' ? 'mail mail-phone' : 'mail'}>
          <iframe
            sandbox=""
            src={visit.url(`${place.base}/${message.id}/rendered`)}
            title={t`The captured e-mail ${message.id}`}
            loading="lazy"
          />
        </div>
      )
    case 'text':
      return <Plain text={email.text} />
    case 'source':
      return source ? (
        <div class="stack">
          <Plain text={source.source} isCode />
          {!source.isWhole && (
            <p class="hint">{t`Attachments are left out, because they are large or already deleted.`}</p>
          )}
        </div>
      ) : (
        <p class="muted">{t`This e-mail could not be composed: an address in it is not valid for e-mail programs.`}</p>
      )
    case 'headers':
      return (
        <Facts
          top
          rows={(source?.headers ?? []).map(
            ({ name, value }) => [<bdi>{name}</bdi>, <bdi class="id">{value}</bdi>] as const,
          )}
        />
      )
    case 'links':
      return message.links.length > 0 ? (
        <Links links={message.links} />
      ) : (
        <p class="muted">{t`This e-mail has no links.`}</p>
      )
    case 'attachments':
      return <Attachments {...{ visit, place, message }} />
  }
}

const LONGEST = 200_000

const Plain = ({ text, isCode = false }: { text: string; isCode?: boolean }) => (
  <pre class="code" dir={isCode ? 'ltr' : 'auto'}>
    {text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text}
  </pre>
)

/** Units that fit in one message, and in each part of a longer one. */
const UNITS = { 'GSM-7': [160, 153], 'UCS-2': [70, 67] } as const

function Bubbles({ text }: { text: TextMessage }) {
  const { units, encoding, fragments } = lengthOf(text.text)
  const [one, each] = UNITS[encoding]
  return (
    <div class="stack">
      <div class="thread">
        <p class="bubble" dir="auto">
          {text.text}
        </p>
      </div>
      <p class="hint">
        {plural(fragments, t`${fragments} part`, t`${fragments} parts`)},{' '}
        {t`${units} of ${fragments <= 1 ? one : each * fragments} characters`}, {encoding}
      </p>
    </div>
  )
}

const PROBLEMS: Readonly<Record<LinkProblem, Marked>> = {
  scheme: mark('It begins with neither https nor mailto nor tel: e-mail programs do not open it.'),
  unreadable: mark('It is not a whole address. Begin it with https://.'),
  spaces: mark('It has a space in it. Write %20, or check the value that was put in.'),
  placeholder: mark('A placeholder is left over: give its value.'),
  local: mark('It leads to this machine or a private network. Recipients cannot open it.'),
  'not-encrypted': mark('It is not encrypted. Use https.'),
  'other-address': mark('Its words name another site than it leads to. E-mail programs warn of such links.'),
}

const Links = ({ links }: { links: readonly Link[] }) => (
  <div class="stack">
    <ul class="stack">
      {links.map(({ url, text, problems }) => (
        <li key={`${url} ${text}`}>
          <strong dir="auto">{text || t`Without words`}</strong>
          <br />
          <bdi class="id">{url}</bdi>
          {problems.length === 0 ? (
            <p class="hint">
              <Badge tone="good" icon="check">{t`Form is right`}</Badge>
            </p>
          ) : (
            problems.map(problem => (
              <p key={problem} class="hint">
                <Badge tone="warn" icon="alert">{t`Check it`}</Badge> {say(PROBLEMS[problem])}
              </p>
            ))
          )}
        </li>
      ))}
    </ul>
    <p class="hint">{t`Only the form of links is checked. Herald does not open them.`}</p>
  </div>
)

function Attachments({ visit, place, message }: Pick<Shown, 'visit' | 'place' | 'message'>) {
  return (
    <ul class="stack">
      {message.attachments.map((file, at) => (
        <li key={file.filename}>
          <Icon name="clip" />{' '}
          {file.isGone ? (
            rich`${<bdi>{file.filename}</bdi>}, not stored any more`
          ) : (
            <>
              <a href={visit.url(`${place.base}/${message.id}/files/${at}`)} download>
                <bdi>{file.filename}</bdi>
              </a>
              , {sizeOf(visit, file)}
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

function sizeOf({ formats }: SignedInVisit, { bytes }: Attached): string {
  if (bytes < 1_000) return plural(bytes, t`${bytes} byte`, t`${formats.number(bytes)} bytes`)
  return bytes < 1_000_000
    ? t`${formats.number(Math.round(bytes / 1_000))} KB`
    : t`${formats.number(Math.round(bytes / 100_000) / 10)} MB`
}
