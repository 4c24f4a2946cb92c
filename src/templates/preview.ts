import { bodyAnswer, bodyHtml, subjectAnswer } from '../rendering/email.ts'
import { keyed, missing, namesOf, parse, prepare, type Values } from '../rendering/placeholders.ts'
import { compileSms } from '../rendering/sms.ts'
import { POSTAGE } from './present.ts'
import { refuse } from './refusals.ts'
import type { VersionRow } from './sql.ts'

/** What a message would say: as API answers show it, and for e-mails the HTML of the body without the page around it. */
export function preview(version: VersionRow, values: Values) {
  const absent = missing(namesOf(version), keyed(values))
  if (absent.length > 0) throw refuse.missingPersonalisation(absent.join(', '))
  const { id, type, version: number } = version
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
    : { id, type, version: number, ...email(version, values), postage: POSTAGE }
}

function email({ content, subject, literal_values }: VersionRow, values: Values) {
  const given = keyed(values)
  const parts = parse(content)
  return {
    body: bodyAnswer(parts, given),
    html: bodyHtml(prepare(parts, 'escape'), given, { literalValues: literal_values }),
    subject: subjectAnswer(parse(subject ?? ''), given),
  }
}
