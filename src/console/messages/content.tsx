// What the recipient gets. The HTML of an e-mail is a document of its own in a sandboxed frame.
import type { EmailMessage, TextMessage } from '../../providers/port.ts'
import { lengthOf } from '../../rendering/sms.ts'
import type { ShownFile, WholeMessage } from '../../timeline/whole.ts'
import { Card, Code, Facts, Icon, Tabs } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import type { Formats } from '../formats.ts'
import type { ServiceVisit } from '../page.ts'
import { type Marked, mark, plural, rich, say, t } from '../words/index.ts'

const VIEWS = {
  sent: mark('As sent'),
  text: mark('Plain text'),
  source: mark('Source'),
  headers: mark('Headers'),
} as const
export type View = keyof typeof VIEWS
export const isView = (text: string): text is View => Object.hasOwn(VIEWS, text)

type Shown = { visit: ServiceVisit; whole: WholeMessage; view: View; path: string }

export function Content({ whole, view, path }: Shown) {
  const { content, files, message } = whole
  const foot = <Files files={files} whole={whole} />
  const hasFoot = files.length > 0
  if (content.channel === 'sms')
    return (
      <Card title={t`Content`}>
        <Bubbles text={content.text} />
      </Card>
    )
  const { email } = content
  return (
    <section class="card" aria-labelledby="content">
      <div class="card-head">
        <h2 id="content">{t`Content`}</h2>
      </div>
      <Tabs
        label={t`Views of the content`}
        tabs={Object.entries(VIEWS).map(([name, words]) => ({
          words: say(words),
          href: name === 'sent' ? path : `${path}?view=${name}`,
          current: name === view,
        }))}
      />
      <div class="card-body">
        {email.text === '' && email.html === '' ? (
          <p class="muted">{t`The content is too large to be shown.`}</p>
        ) : view === 'sent' ? (
          <div class="mail">
            <div class="mail-head">
              <strong>
                <bdi>{email.subject}</bdi>
              </strong>
              <span class="sm muted">
                <bdi>{`${email.from.name} <${email.from.address}>`}</bdi>
              </span>
            </div>
            <iframe
              sandbox=""
              src={`${path}/rendered`}
              title={t`The e-mail ${message.id} as the recipient sees it`}
              loading="lazy"
            />
            <p class="mail-foot sm no-print">
              <a href={`${path}/rendered`} target="_blank" rel="noopener">{t`Open alone, to print all of it`}</a>
            </p>
          </div>
        ) : view === 'headers' ? (
          <Headers email={email} />
        ) : (
          <pre class="code" dir="auto">
            {shortened(view === 'text' ? email.text : email.html)}
          </pre>
        )}
      </div>
      {hasFoot && <div class="card-foot">{foot}</div>}
    </section>
  )
}

const LONGEST = 200_000
const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text)

/** Those that Herald writes; the relay adds its own. */
const Headers = ({ email }: { email: EmailMessage }) => (
  <Facts
    top
    rows={[
      [t`From`, <bdi>{`${email.from.name} <${email.from.address}>`}</bdi>],
      [t`To`, <bdi>{email.to}</bdi>],
      email.replyTo !== null && [t`Reply-To`, <bdi>{email.replyTo}</bdi>],
      [t`Subject`, <bdi>{email.subject}</bdi>],
      [t`Message-ID`, <Code>{email.messageId}</Code>],
    ]}
  />
)

/** Units that fit in one message, and in each part of a longer one. */
const UNITS = { gsm: [160, 153], ucs2: [70, 67] } as const

export const partsWords = (count: number) => plural(count, t`${count} part`, t`${count} parts`)

function Bubbles({ text }: { text: TextMessage }) {
  const { units, encoding, fragments } = lengthOf(text.text)
  const [one, each] = encoding === 'GSM-7' ? UNITS.gsm : UNITS.ucs2
  const most = fragments <= 1 ? one : each * fragments
  const { formats } = usePage()
  return (
    <div class="stack">
      <div class="thread">
        <p class="bubble" dir="auto">
          {text.text}
        </p>
      </div>
      <p class="hint">
        {text.from === null
          ? t`${partsWords(fragments)}, ${formats.number(units)} of ${formats.number(most)} characters`
          : rich`${partsWords(fragments)}, ${formats.number(units)} of ${formats.number(most)} characters, from ${<bdi>{text.from}</bdi>}`}
      </p>
    </div>
  )
}

const VERDICTS: Readonly<Record<ShownFile['verdict'], Marked>> = {
  clean: mark('scanned, no virus found'),
  virus: mark('a virus was found'),
  pending: mark('not scanned yet'),
}

const sizeOf = (bytes: number, { number }: Pick<Formats, 'number'>) =>
  bytes < 1_000
    ? t`${bytes} B`
    : bytes < 1_000_000
      ? t`${Math.round(bytes / 1_000)} KB`
      : t`${number(Math.round(bytes / 1e5) / 10)} MB`

function Files({ files, whole }: { files: readonly ShownFile[]; whole: WholeMessage }) {
  const { formats } = usePage()
  return (
    <div class="stack">
      {files.map(file => (
        <span key={file.id}>
          <Icon name="clip" /> <bdi>{file.name ?? t`A file behind a link`}</bdi>, {sizeOf(file.bytes, formats)},{' '}
          {say(VERDICTS[file.verdict])}
          {file.emptied && t`, not stored any more`}
        </span>
      ))}
      {!whole.isCopyable && <span class="hint">{t`A copy cannot be sent, because it would lack the files.`}</span>}
    </div>
  )
}
