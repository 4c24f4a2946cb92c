import { bodyAnswer, bodyHtml, subjectAnswer } from '../rendering/email.ts'
import { type Keyed, keyed, missing, namesOf, parse, prepare, type Values } from '../rendering/placeholders.ts'
import { createMergedLength, isOverLimit, renderedLimit, unitsOf } from '../rendering/size.ts'
import { compileSms } from '../rendering/sms.ts'
import { largeEmail, type RenderThread } from '../rendering/thread.ts'
import { POSTAGE } from './present.ts'
import { refuse } from './refusals.ts'
import type { VersionRow } from './sql.ts'

/** The message as the API shows it; for e-mails also the HTML of the body, without the page around it. */
export async function preview(app: { renderThread: RenderThread }, version: VersionRow, values: Values) {
  const given = keyed(values)
  const absent = missing(namesOf(version), given)
  if (absent.length > 0) throw refuse.missingPersonalisation(absent.join(', '))
  const { id, type, version: number } = version
  const lengths = [
    createMergedLength(parse(version.subject ?? ''), 'inline'),
    createMergedLength(parse(version.content), 'markdown'),
  ]
  if (lengths.some(length => isOverLimit(length, given))) throw refuse.contentTooLong(renderedLimit)
  const isLarge = lengths.some(length => length(given, unitsOf) > largeEmail)
  return type === 'sms'
    ? {
        id,
        type,
        version: number,
        ...compileSms(version.content).answer(values),
        html: null,
        subject: null,
        postage: POSTAGE,
      }
    : {
        id,
        type,
        version: number,
        body: bodyAnswer(parse(version.content), given),
        html: await (isLarge ? app.renderThread.html(templateOf(version), values) : html(version, given)),
        subject: subjectAnswer(parse(version.subject ?? ''), given),
        postage: POSTAGE,
      }
}

const templateOf = ({ content, subject, literal_values }: VersionRow) => ({
  subject: subject ?? '',
  content,
  literalValues: literal_values,
})

const html = (version: VersionRow, given: Keyed) =>
  bodyHtml(prepare(parse(version.content)), given, templateOf(version))
