// What the recipient gets. The HTML of an e-mail is a document of its own in a sandboxed frame.
import type { EmailMessage, TextMessage } from '../../providers/port.ts'
import { lengthOf } from '../../rendering/sms.ts'
import type { ShownFile, WholeMessage } from '../../timeline/whole.ts'
import { Card, Code, Facts, Icon, Tabs } from '../components/basics.tsx'
import type { ServiceVisit } from '../page.ts'

const VIEWS = { sent: 'As sent', text: 'Plain text', source: 'Source', headers: 'Headers' } as const
export type View = keyof typeof VIEWS
export const isView = (text: string): text is View => Object.hasOwn(VIEWS, text)

type Shown = { visit: ServiceVisit; whole: WholeMessage; view: View; path: string }

export function Content({ whole, view, path }: Shown) {
  const { content, files, message } = whole
  const foot = <Files files={files} whole={whole} />
  const hasFoot = files.length > 0
  if (content.channel === 'sms')
    return (
      <Card title="Content">
        <Bubbles text={content.text} />
      </Card>
    )
  const { email } = content
  return (
    <section class="card" aria-labelledby="content">
      <div class="card-head">
        <h2 id="content">Content</h2>
      </div>
      <Tabs
        label="Views of the content"
        tabs={Object.entries(VIEWS).map(([name, words]) => ({
          words,
          href: name === 'sent' ? path : `${path}?view=${name}`,
          current: name === view,
        }))}
      />
      <div class="card-body">
        {email.text === '' && email.html === '' ? (
          <p class="muted">The content is too large to be shown.</p>
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
              title={`The e-mail ${message.id} as the recipient sees it`}
              loading="lazy"
            />
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
      ['From', <bdi>{`${email.from.name} <${email.from.address}>`}</bdi>],
      ['To', <bdi>{email.to}</bdi>],
      email.replyTo !== null && ['Reply-To', <bdi>{email.replyTo}</bdi>],
      ['Subject', <bdi>{email.subject}</bdi>],
      ['Message-ID', <Code>{email.messageId}</Code>],
    ]}
  />
)

/** Units that fit in one message, and in each part of a longer one. */
const UNITS = { gsm: [160, 153], ucs2: [70, 67] } as const

function Bubbles({ text }: { text: TextMessage }) {
  const { units, encoding, fragments } = lengthOf(text.text)
  const [one, each] = encoding === 'GSM-7' ? UNITS.gsm : UNITS.ucs2
  return (
    <div class="stack">
      <div class="thread">
        <p class="bubble" dir="auto">
          {text.text}
        </p>
      </div>
      <p class="hint">
        {fragments === 1 ? '1 part' : `${fragments} parts`}, {units} of {fragments <= 1 ? one : each * fragments}{' '}
        characters
        {text.from !== null && (
          <>
            , from <bdi>{text.from}</bdi>
          </>
        )}
      </p>
    </div>
  )
}

const VERDICTS: Readonly<Record<ShownFile['verdict'], string>> = {
  clean: 'scanned, no virus found',
  virus: 'a virus was found',
  pending: 'not scanned yet',
}

const sizeOf = (bytes: number) =>
  bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${Math.round(bytes / 1_000)} KB`
      : `${(bytes / 1e6).toFixed(1)} MB`

function Files({ files, whole }: { files: readonly ShownFile[]; whole: WholeMessage }) {
  return (
    <div class="stack">
      {files.map(file => (
        <span key={file.id}>
          <Icon name="clip" /> <bdi>{file.name ?? 'A file behind a link'}</bdi>, {sizeOf(file.bytes)},{' '}
          {VERDICTS[file.verdict]}
          {file.emptied && ', not stored any more'}
        </span>
      ))}
      {!whole.isCopyable && <span class="hint">A copy cannot be sent, because it would lack the files.</span>}
    </div>
  )
}
