// What recipients would get. E-mails are shown in frames of their own; a part of the page is replaced by the script.
import type { ShownDraft } from '../../channels/channel.ts'
import type { SmsDraft } from '../../rendering/draft.ts'
import { Code } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { Segmented } from '../components/form.tsx'
import { type Marked, mark, rich, say, t } from '../words/index.ts'

export type PreviewProps = {
  shown: ShownDraft
  /** Addresses of the e-mail as a document, light and dark. */
  frames: { light: string; dark: string }
  /** Name and address, or number, of the sender. */
  sender: { name: string; detail: string }
}

export type View = 'wide' | 'phone' | 'text' | 'dark'
export const VIEWS: readonly (readonly [View, Marked])[] = [
  ['wide', mark('Desktop')],
  ['phone', mark('Phone')],
  ['text', mark('Plain text')],
  ['dark', mark('Dark')],
]

/** Radio buttons and the stylesheet switch the view, so it works without the script. */
export const Views = ({ view }: { view: View }) => (
  <Segmented
    legend={t`Show the preview as`}
    name="view"
    options={VIEWS.map(([value, words]) => ({ id: `pv-${value}`, value, words: say(words), checked: value === view }))}
  />
)

export function EmailPreview({ shown, frames, sender }: PreviewProps) {
  const email = shown?.kind === 'email' ? shown : null
  const head = (place: string, detail: string) => (
    <div class="mail-head" data-part={`head-${place}`}>
      <strong dir="auto">{email?.subject ? <bdi>{email.subject}</bdi> : t`(no subject)`}</strong>
      <span class="sm muted">
        <bdi>{detail}</bdi>
      </span>
    </div>
  )
  const frame = (place: string, src: string, title: string) => (
    <iframe sandbox="" src={src} title={title} loading="lazy" data-frame={place} />
  )
  const whole = `${sender.name} <${sender.detail}>`
  return (
    <>
      <div class="preview-wide">
        <div class="mail">
          {head('wide', whole)}
          {frame('wide', frames.light, t`Preview of the e-mail on a wide screen`)}
        </div>
      </div>
      <div class="preview-phone">
        <div class="mail mail-phone">
          {head('phone', sender.name)}
          {frame('phone', frames.light, t`Preview of the e-mail on a phone`)}
        </div>
      </div>
      <div class="preview-dark">
        <div class="mail">
          {head('dark', whole)}
          {frame('dark', frames.dark, t`Preview of the e-mail in a dark mail program`)}
        </div>
      </div>
      <div class="preview-text" data-part="text">
        <Code>{email ? <span dir="auto">{email.text}</span> : t`Nothing to show.`}</Code>
      </div>
    </>
  )
}

/** The size of the e-mail without what the mail program adds. */
export function PreviewNote({ shown }: { shown: ShownDraft }) {
  const { formats } = usePage()
  if (shown?.kind !== 'email') return <span class="muted" data-part="note" />
  const kilobytes = Math.max(1, Math.round((Buffer.byteLength(shown.html) + Buffer.byteLength(shown.text)) / 1000))
  return (
    <span
      class="muted"
      data-part="note"
    >{rich`Made by the same code that sends. ${formats.number(kilobytes)} KB.`}</span>
  )
}

export function TextPreview({ shown, sender }: Omit<PreviewProps, 'frames'>) {
  const draft = shown?.kind === 'sms' ? shown : null
  return (
    <div class="thread" data-part="thread">
      <span class="sm muted">
        <bdi>{sender.detail}</bdi>
      </span>
      {draft ? <Bubble draft={draft} /> : <p class="bubble">{t`Nothing to show.`}</p>}
      {draft && draft.fragments > 1 && <span class="sm muted">{t`Phones join the parts to one message.`}</span>}
    </div>
  )
}

const Bubble = ({ draft }: { draft: SmsDraft }) => (
  <p class="bubble" dir="auto">
    {draft.parts.map((text, at) => (
      <>
        {at > 0 && <span class="bubble-cut">{rich`part ${at + 1}`}</span>}
        {text}
      </>
    ))}
  </p>
)
