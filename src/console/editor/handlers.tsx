// The editor of templates: read, preview, save, confirm a change that breaks sends, send a test to oneself.
import { templateUse } from '../../bulk/template-use.ts'
import { CHANNELS } from '../../channels/index.ts'
import { type Id, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { ownRecipient, sendToSelf } from '../../notifications/send-to-self.ts'
import { withBasicLetters } from '../../rendering/gsm.ts'
import { changedNames } from '../../rendering/placeholders.ts'
import { type Draft, draftDocument, type Examined, examine, placeholdersOf, samplesFor } from '../../templates/draft.ts'
import { read, readVersion } from '../../templates/read.ts'
import { refuse } from '../../templates/refusals.ts'
import { areKeepable, keepDraft, keepSamples, readDraft, readSamples } from '../../templates/samples.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { update } from '../../templates/update.ts'
import { Callout } from '../components/basics.tsx'
import type { FieldErrors } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { language, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { confirmPage } from './confirm.tsx'
import { conflictNotice } from './conflict.tsx'
import { type Given, givenIn, sampleField } from './given.ts'
import { liveParts } from './live.tsx'
import { editorPage, pathOf, prefixOf, preparePage, type Shown } from './page.tsx'

async function templateIn(visit: ServiceVisit): Promise<TemplateRow> {
  const id = readId(visit.params.id)
  if (!id) throw refuse.notFound()
  return read(visit.parts.db.sql, visit.service.id, id)
}

const saved = (template: TemplateRow): Draft => ({ subject: template.subject, content: template.content })

const givenFor = (visit: ServiceVisit, template: TemplateRow): Given =>
  givenIn(visit.form, CHANNELS[template.type].template.hasSubject)

/** The template as it is saved, or the draft that `?draft=` names. */
export async function showTemplate(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  const draftId = readId(visit.query.get('draft'))
  const kept = draftId && visit.may('manage-templates') ? await draftOf(visit, template, draftId) : null
  if (kept) return editorPage(visit, { template, ...kept, draftId })
  const notice = draftId && (
    <Callout tone="info" role="status">
      <p>{t`The draft is saved or replaced by a newer one. This is the saved version.`}</p>
    </Callout>
  )
  const values = await readSamples(visit.parts, visit.service.id, template.id)
  return editorPage(
    visit,
    { template, draft: saved(template), values, version: template.version, draftId: null },
    notice ? { notice } : {},
  )
}

const draftOf = (visit: ServiceVisit, template: TemplateRow, id: Id) =>
  readDraft(visit.parts, visit.actor, visit.service.id, template.id, id)

const namedDraft = async (visit: ServiceVisit, template: TemplateRow, name: string | null) => {
  const id = readId(name)
  return id && draftOf(visit, template, id)
}

/** The e-mail as a document of its own: a kept draft, or the saved version with its example values. */
export async function showRendered(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  const scheme = visit.query.get('scheme') === 'dark' ? 'dark' : 'light'
  const kept = visit.query.has('draft')
    ? await namedDraft(visit, template, visit.query.get('draft'))
    : { draft: saved(template), values: await readSamples(visit.parts, visit.service.id, template.id) }
  if (!kept) return { kind: 'frame', html: plainDocument(t`This preview is out of date. Update it.`) }
  const values = samplesFor(kept.draft, kept.values)
  const html = await draftDocument(visit.parts, template, kept.draft, values, scheme)
  return { kind: 'frame', html: html ?? plainDocument(t`There is nothing to show.`) }
}

/** `sentence` is one of ours. */
const plainDocument = (sentence: string) =>
  `<!DOCTYPE html><html lang="${language()}"><head><meta charset="utf-8"><title>${t`Preview`}</title></head><body style="font:16px system-ui,sans-serif;color:#444;background:#fff"><p>${sentence}</p></body></html>`

/** What is written is kept for the frames; too many example values are not. */
async function keptDraft(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Shown> {
  const isKept = areKeepable(given.values) && isStorable(template, given.draft)
  const draftId = isKept ? await keepDraft(visit.parts, visit.actor, visit.service.id, template.id, given) : 'none'
  return { template, ...given, draftId }
}

/** Far beyond what can be saved nothing is kept. */
const isStorable = ({ type }: TemplateRow, { subject, content }: Draft) =>
  content.length <= 4 * CHANNELS[type].template.longest && (subject ?? '').length <= 10_000

/** Without the script: the same page with a new preview. */
export async function previewTemplate(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  return editorPage(visit, await keptDraft(visit, template, givenFor(visit, template)))
}

/** For the script: the parts of the page that follow what somebody types. */
export async function liveTemplate(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  return liveParts(visit, await preparePage(visit, await keptDraft(visit, template, givenFor(visit, template))))
}

export async function saveTemplate(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  const given = givenFor(visit, template)
  if (visit.form.get('act') === 'basic-letters') {
    const draft = { ...given.draft, content: withBasicLetters(given.draft.content) }
    return editorPage(visit, await keptDraft(visit, template, { ...given, draft }))
  }
  const errors = errorsIn(await examined(visit, template, given), given)
  if (errors) return editorPage(visit, await keptDraft(visit, template, given), { status: 422, errors })
  if (given.version !== template.version) return conflict(visit, template, given)
  if (isSaved(template, given.draft)) {
    await keepSamples(visit.parts, visit.actor, visit.service.id, template.id, given.values)
    return { kind: 'redirect', to: `${pathOf(visit, template)}?done=samples` }
  }
  const { added, removed } = changedNames(template, given.draft)
  if (added.length + removed.length > 0) {
    const use = await templateUse(visit.parts, visit.actor, visit.service.id, template, added)
    if (use.keys.length + use.jobs.length > 0) {
      const { draftId } = await keptDraft(visit, template, given)
      return { kind: 'redirect', to: `${pathOf(visit, template)}/confirm?draft=${draftId}` }
    }
  }
  return store(visit, template, given)
}

const isSaved = (template: TemplateRow, { subject, content }: Draft) =>
  (template.subject ?? null) === subject && template.content === content

const examined = (visit: ServiceVisit, template: TemplateRow, { draft, values }: Given) =>
  examine(visit.parts, template, draft, samplesFor(draft, values), { prefix: prefixOf(visit) })

/** What keeps it from being saved, by field. */
function errorsIn({ problems }: Examined, { values }: Given): FieldErrors | null {
  const errors: Record<string, string> = {}
  for (const { tone, field, text } of problems) if (tone === 'bad') errors[field] ??= known(text)
  if (!areKeepable(values))
    errors.placeholders = t`Enter shorter example values: together they have at most 51,200 characters.`
  return Object.keys(errors).length > 0 ? errors : null
}

async function store(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Answer> {
  const { parts, actor, service } = visit
  const { subject, content } = given.draft
  try {
    await update(
      parts,
      actor,
      service.id,
      template.id,
      { content, ...(subject !== null && { subject }) },
      { expectedVersion: given.version },
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.kind === 'ChangedMeanwhile') return conflict(visit, await templateIn(visit), given)
    if (error.kind !== 'BadRequestError') throw error
    return editorPage(visit, await keptDraft(visit, template, given), {
      status: 422,
      errors: { body: sentencesOf(error) },
    })
  }
  await keepSamples(parts, actor, service.id, template.id, given.values)
  return { kind: 'redirect', to: `${pathOf(visit, template)}?done=saved` }
}

/** Somebody saved another version meanwhile: both are shown, and saving again replaces it knowingly. */
async function conflict(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Answer> {
  const current = { ...given, version: template.version }
  return editorPage(visit, await keptDraft(visit, template, current), {
    status: 409,
    notice: conflictNotice(template, given),
  })
}

/** Who is affected when placeholders change, before it is saved. */
export async function showConfirm(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  const draftId = visit.query.get('draft') ?? ''
  const kept = await namedDraft(visit, template, draftId)
  if (!kept) return { kind: 'redirect', to: pathOf(visit, template) }
  const changed = changedNames(template, kept.draft)
  const use = await templateUse(visit.parts, visit.actor, visit.service.id, template, changed.added)
  return confirmPage(visit, template, draftId, changed, use)
}

export async function confirmTemplate(visit: ServiceVisit): Promise<Answer> {
  const template = await templateIn(visit)
  const kept = await namedDraft(visit, template, visit.form.get('draft'))
  if (!kept) return { kind: 'redirect', to: pathOf(visit, template) }
  return store(visit, template, kept)
}

/** The saved version with the example values goes to the person's own address or number. */
export async function testTemplate(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const template = await templateIn(visit)
  const isWriting = visit.may('manage-templates') && visit.form.has('body')
  const given: Given = isWriting
    ? givenFor(visit, template)
    : { draft: saved(template), values: await readSamples(parts, service.id, template.id), version: template.version }
  const refused = async (sentence: string) =>
    editorPage(visit, isWriting ? await keptDraft(visit, template, given) : { template, ...given, draftId: null }, {
      status: 422,
      notice: (
        <Callout tone="bad" role="alert" title={t`The test is not sent`}>
          <p>{sentence}</p>
        </Callout>
      ),
    })
  if (!isSaved(template, given.draft)) return refused(t`Save your changes first. A test sends the saved version.`)
  const values = samplesFor(given.draft, given.values)
  if (isWriting && areKeepable(given.values)) await keepSamples(parts, actor, service.id, template.id, given.values)
  const version = await readVersion(parts.db.sql, service.id, template.id, null)
  const { missing } = await examined(visit, template, { ...given, draft: version })
  if (missing.length > 0 && isWriting)
    return editorPage(visit, await keptDraft(visit, template, given), {
      status: 422,
      errors: Object.fromEntries(
        missing.map(name => [sampleField(placeholdersOf(given.draft), name), t`Enter an example value for ${name}.`]),
      ),
      not: t`The test is not sent`,
    })
  if (missing.length > 0) return refused(t`Enter an example value for ${missing.join(', ')}.`)
  if ((await ownRecipient(parts.db.sql, actor, service.id, template.type)) === null)
    return refused(
      t`The team of this service knows no phone number of yours. A manager can enter it on the page “Team”.`,
    )
  try {
    const id = await sendToSelf(parts, actor, service.id, template, values, { base: visit.origin })
    return { kind: 'redirect', to: id ? `/s/${service.id}/messages/${id}?done=sent` : pathOf(visit, template) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'ForbiddenError') throw error
    return refused(sentencesOf(error))
  }
}
