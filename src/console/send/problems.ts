// What is wrong with one message before it is sent, by field, in words for people.
import { CHANNELS } from '../../channels/index.ts'
import { homePlan } from '../../recipients/plans.ts'
import { keyed, keyOf, unsendable } from '../../rendering/placeholders.ts'
import { placeholdersOf } from '../../templates/draft.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import type { ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { type Given, isEmail, valueField } from './given.ts'
import { dueOf } from './when.tsx'

export type FieldProblems = Record<string, string>

const LONGEST_REFERENCE = 1_000

/** What the form itself shows to be wrong; the rest is found when it is checked as a send. */
export async function problemsIn(visit: ServiceVisit, template: TemplateRow, given: Given): Promise<FieldProblems> {
  const problems: FieldProblems = {}
  const to = await recipientProblem(visit, template, given)
  if (to) problems.to = to
  Object.assign(problems, valueProblems(template, given))
  const { error } = dueOf(visit, given.when)
  if (error) problems[error.field] = error.sentence
  if (given.reference.length > LONGEST_REFERENCE)
    problems.reference = t`Enter a reference of at most 1,000 characters. This one has ${visit.formats.number(given.reference.length)}`
  return problems
}

async function recipientProblem(visit: ServiceVisit, template: TemplateRow, { to }: Given): Promise<string | null> {
  const ofEmail = isEmail(template)
  if (to === '') return ofEmail ? t`Enter the e-mail address` : t`Enter the phone number`
  const service = await visit.parts.services.get(visit.service.id)
  const plan = homePlan(service?.home_country ?? '')
  const reading = CHANNELS[template.type].recipient.read(to, { international: true, plan })
  if (reading.ok) return null
  return ofEmail
    ? t`Enter an e-mail address like name@example.org`
    : t`Enter a phone number with its country code, like +44 7911 123456`
}

function valueProblems(template: TemplateRow, { values }: Given): FieldProblems {
  const all = placeholdersOf(template)
  const missing = new Set(
    unsendable(
      all.map(({ name }) => name),
      keyed(values),
    ).map(keyOf),
  )
  return Object.fromEntries(
    all.flatMap(({ name, isCondition }, at) =>
      missing.has(keyOf(name))
        ? [[valueField(at), isCondition ? t`Choose yes or no for ${name}` : t`Enter a value for ${name}`]]
        : [],
    ),
  )
}
