// One message by hand: choose a template, fill in its placeholders, check, confirm, send once.
import { CHANNELS } from '../../channels/index.ts'
import type { Id } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { checkOneAs } from '../../notifications/check.ts'
import { type HandSent, sendAs, sentBefore } from '../../notifications/send-as.ts'
import { ownRecipient } from '../../notifications/send-to-self.ts'
import { dropPreviews } from '../../templates/previews.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout } from '../components/basics.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { choosePage } from './choose.tsx'
import { confirmPage } from './confirm.tsx'
import { type Given, givenIn, nothingGiven, templateCalled } from './given.ts'
import { type OnePageOptions, onePage } from './one-page.tsx'
import { sendPath } from './paths.ts'
import { PreviewParts, previewOf } from './preview.tsx'
import { problemsIn } from './problems.ts'
import { dueOf, isoOf } from './when.tsx'

export async function showSend(visit: ServiceVisit): Promise<Answer> {
  const id = visit.query.get('template')
  if (!id) return choosePage(visit, 'one')
  const template = await templateCalled(visit, id)
  const notice = visit.query.get('done') === 'simulated' && (
    <Callout tone="good" role="status">
      <p>{t`The recipient is one for smoke tests: the message was checked, and nothing is stored or sent.`}</p>
    </Callout>
  )
  return onePage(visit, template, nothingGiven(), notice ? { notice } : {})
}

/** The button says which step it is. */
export async function sendOne(visit: ServiceVisit): Promise<Answer> {
  const template = await templateCalled(visit, visit.form.get('template'))
  const given = givenIn(visit.form, template)
  switch (visit.form.get('act')) {
    case 'send':
      return sendNow(visit, template, given)
    case 'self':
      return toSelf(visit, template, given)
    case 'preview':
    case 'edit':
      return onePage(visit, template, given)
    default:
      return check(visit, template, given)
  }
}

/** For the script: what follows the fields. */
export async function liveMessage(visit: ServiceVisit): Promise<Answer> {
  const template = await templateCalled(visit, visit.form.get('template'))
  const previewed = await previewOf(visit, template, givenIn(visit.form, template))
  return {
    kind: 'fragment',
    body: (
      <div>
        <PreviewParts template={template} previewed={previewed} />
      </div>
    ),
  }
}

async function toSelf(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Answer> {
  const { parts, actor, service } = visit
  const own = await ownRecipient(parts.db.sql, actor, service.id, template.type)
  if (own !== null) return onePage(visit, template, { ...given, to: own })
  const sentence = CHANNELS[template.type].template.hasSubject
    ? t`You are not in the team of this service. Enter an address`
    : t`The team of this service knows no phone number of yours. A manager can enter it on the page “Team”`
  return onePage(visit, template, given, { status: 422, errors: { to: sentence } })
}

/** Everything that a send would refuse, before anything is sent. */
async function check(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Answer> {
  const errors = await problemsIn(visit, template, given)
  if (Object.keys(errors).length > 0) return onePage(visit, template, given, { status: 422, errors })
  const { parts, actor, service } = visit
  const report = await checkOneAs(parts, actor, service.id, handSent(visit, template, given), { base: baseOf(visit) })
  if (report.ok) return confirmPage(visit, template, given)
  const reason = report.recipient?.reason ?? null
  if (reason !== null) return onePage(visit, template, given, { status: 422, errors: { to: notAllowed(reason) } })
  return onePage(visit, template, given, refused(report.problems.map(({ message }) => message)))
}

const notAllowed = (reason: 'team-only' | 'trial' | 'international') =>
  reason === 'international'
    ? t`This service may not send to numbers of other countries. Enter another number`
    : t`In trial mode, enter somebody of the team or of the safelist`

const baseOf = ({ parts, origin }: ServiceVisit) => parts.config.baseUrl ?? origin

const handSent = (visit: ServiceVisit, template: TemplateRow, given: Given): HandSent => ({
  channel: template.type,
  to: given.to,
  template_id: template.id,
  personalisation: given.values,
  reference: given.reference || null,
  scheduled_for: isoOf(dueOf(visit, given.when).at),
  sender_id: given.sender,
})

const refused = (sentences: readonly string[]): OnePageOptions => ({
  status: 422,
  notice: (
    <Callout tone="bad" role="alert" title={t`Not sent yet`}>
      {sentences.map(sentence => (
        <p key={sentence}>{known(sentence)}</p>
      ))}
    </Callout>
  ),
})

async function sendNow(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<Answer> {
  const { parts, actor, service } = visit
  // The second submit of a confirmation, by a double click or the way back, leads to what the first has sent.
  const before = given.once === '' ? null : await sentBefore(parts, actor, service.id, given.once)
  if (before) return sentTo(visit, template, given, before.id)
  const errors = await problemsIn(visit, template, given)
  if (Object.keys(errors).length > 0) return onePage(visit, template, given, { status: 422, errors })
  // A confirmation that no page of ours has made.
  if (given.once === '') return confirmPage(visit, template, given)
  try {
    const id = await sendAs(parts, actor, service.id, handSent(visit, template, given), {
      base: baseOf(visit),
      once: { replays: parts.replays, key: given.once },
    })
    await dropPreviews(parts, actor, service.id, template.id)
    return sentTo(visit, template, given, id)
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'NoResultFound') throw error
    return onePage(visit, template, given, refused(error.messages))
  }
}

/** `id` null: to a recipient for smoke tests. */
function sentTo(visit: ServiceVisit, template: TemplateRow, { when }: Given, id: Id | null): Answer {
  const { service } = visit
  if (id === null)
    return { kind: 'redirect', to: sendPath(service.id, 'one', { template: template.id, done: 'simulated' }) }
  const done = dueOf(visit, when).at === null ? 'accepted' : 'scheduled'
  return { kind: 'redirect', to: `/s/${service.id}/messages/${id}?done=${done}` }
}
