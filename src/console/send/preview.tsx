// What the recipient would get, beside the form. The script replaces its parts while somebody types.
import type { ShownDraft } from '../../channels/channel.ts'
import { type Id, readId } from '../../core/id.ts'
import { fromNumber } from '../../services/senders.ts'
import type { LoadedService } from '../../services/sql.ts'
import { draftDocument, examine } from '../../templates/draft.ts'
import { keepPreview, readPreview } from '../../templates/previews.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { usePage } from '../components/context.ts'
import type { Answer, ServiceVisit } from '../page.ts'
import { language, plural, t } from '../words/index.ts'
import { type Given, isEmail, templateCalled } from './given.ts'

export type Previewed = {
  shown: ShownDraft
  /** Names that have no value yet. */
  missing: readonly string[]
  /** The address of the e-mail as a document. */
  frame: string | null
  /** Address, or number, of the sender. */
  from: string
}

export async function previewOf(
  visit: ServiceVisit,
  template: TemplateRow,
  given: Pick<Given, 'values' | 'sender'>,
): Promise<Previewed> {
  const { parts, service, actor } = visit
  const draft = { subject: template.subject, content: template.content }
  const [{ shown, missing }, loaded, kept] = await Promise.all([
    examine(parts, template, draft, given.values, { prefix: service.sms_prefix ? service.name : null }),
    parts.services.get(service.id),
    isEmail(template)
      ? keepPreview(parts, actor, service.id, template.id, { draft, values: given.values, version: template.version })
      : null,
  ])
  return { shown, missing, frame: kept && frameOf(visit, template, kept), from: fromOf(visit, template, given, loaded) }
}

const frameOf = ({ url, service }: ServiceVisit, template: TemplateRow, kept: Id) =>
  url(`/s/${service.id}/send/${template.id}/rendered?preview=${kept}`)

function fromOf(
  { service, parts }: ServiceVisit,
  template: TemplateRow,
  { sender }: Pick<Given, 'sender'>,
  loaded: LoadedService | null,
): string {
  if (isEmail(template)) return `${service.name} <${service.mailbox}@${parts.sendingDomain}>`
  if (!loaded) return service.name
  const chosen = loaded.senders.find(one => one.id === sender) ?? loaded.senders.find(one => one.is_default) ?? null
  return fromNumber(loaded, chosen) ?? service.name
}

/** The e-mail alone, for the frame. */
export async function renderedPreview(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, query, params } = visit
  const template = await templateCalled(visit, params.template ?? null)
  const id = readId(query.get('preview'))
  const kept = id && (await readPreview(parts, actor, service.id, template.id, id))
  if (!kept) return { kind: 'frame', html: plainDocument(t`This preview is out of date. Update it.`) }
  const html = await draftDocument(parts, template, kept.draft, kept.values, 'light')
  return { kind: 'frame', html: html ?? plainDocument(t`The message is too large to be shown.`) }
}

/** `sentence` is one of ours. */
const plainDocument = (sentence: string) =>
  `<!DOCTYPE html><html lang="${language()}"><head><meta charset="utf-8"><title>${sentence}</title></head><body style="font:16px system-ui,sans-serif;color:#444;background:#fff"><p>${sentence}</p></body></html>`

export function PreviewParts({ template, previewed }: { template: TemplateRow; previewed: Previewed }) {
  return isEmail(template) ? <EmailParts previewed={previewed} /> : <TextParts previewed={previewed} />
}

function EmailParts({ previewed: { shown, frame, from } }: { previewed: Previewed }) {
  const email = shown?.kind === 'email' ? shown : null
  return (
    <div class="mail">
      <div class="mail-head" data-part="mail-head">
        <strong dir="auto">{email?.subject ? <bdi>{email.subject}</bdi> : t`(no subject)`}</strong>
        <span class="sm muted">
          <bdi>{from}</bdi>
        </span>
      </div>
      {frame ? (
        <iframe sandbox="" src={frame} title={t`Preview of the e-mail`} data-frame="mail" />
      ) : (
        <p class="muted">{t`The values are too long to be shown.`}</p>
      )}
    </div>
  )
}

function TextParts({ previewed: { shown, from } }: { previewed: Previewed }) {
  const { formats } = usePage()
  const text = shown?.kind === 'sms' ? shown : null
  return (
    <div class="stack" data-part="thread">
      <div class="thread">
        <span class="sm muted">
          <bdi>{from}</bdi>
        </span>
        <Bubble shown={shown} />
      </div>
      {text && (
        <p class="hint">
          {plural(
            text.fragments,
            t`${formats.number(text.units)} characters, ${formats.number(text.fragments)} text message`,
            t`${formats.number(text.units)} characters, charged as ${formats.number(text.fragments)} text messages`,
          )}
        </p>
      )}
    </div>
  )
}

/** The text message in its parts. */
export const Bubble = ({ shown }: { shown: ShownDraft }) => (
  <p class="bubble" dir="auto">
    {shown?.kind === 'sms'
      ? shown.parts.map((part, at) => (
          <>
            {at > 0 && <span class="bubble-cut">{t`part ${at + 1}`}</span>}
            {part}
          </>
        ))
      : t`Nothing to show.`}
  </p>
)
