// One uploaded file, from its check to its job.
import { readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { badRows } from '../../sheets/bad-rows.ts'
import { check } from '../../sheets/check.ts'
import { leaveOut, takeIn } from '../../sheets/leave-out.ts'
import { rematch } from '../../sheets/rematch.ts'
import { remove } from '../../sheets/remove.ts'
import { send } from '../../sheets/send.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import { Callout } from '../components/basics.tsx'
import type { FieldErrors } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { confirmFilePage, leaveOutPage } from './ask-pages.tsx'
import { type CheckPageOptions, checkPage, isSendable, PAGE } from './check-page.tsx'
import { type CheckedFile, checkedFile, jobName } from './checked.ts'
import { columnsIn } from './columns.tsx'
import { isBeingRead, sheetIn } from './file.tsx'
import { originsOf } from './one-page.tsx'
import { sendPath, uploadPath } from './paths.ts'
import { fileName, readingPage, unreadablePage } from './reading-page.tsx'
import { rowOf } from './row.tsx'
import { dueOf, isoOf, type When, whenIn } from './when.tsx'
import { problemWords } from './words-of.ts'

type GivenSend = { when: When; name: string; sender: string }

const NOW: When = { isLater: false, day: '', time: '' }

export async function showUpload(visit: ServiceVisit): Promise<Answer> {
  const sheet = await sheetIn(visit)
  return (await notReady(visit, sheet)) ?? shown(visit, sheet, { when: NOW, name: jobName(visit, sheet), sender: '' })
}

/** The page of a file that cannot be checked now; null: it can. */
async function notReady(visit: ServiceVisit, sheet: Sheet): Promise<Answer | null> {
  if (isBeingRead(sheet)) return readingPage(visit, sheet)
  if (sheet.state === 'unreadable') return unreadablePage(visit, sheet, sheet.problem ?? { kind: 'damaged' })
  if (sheet.state === 'sent') return { kind: 'redirect', to: jobPath(visit, sheet.job_id) }
  return null
}

const jobPath = ({ service }: ServiceVisit, job: string | null) => `/s/${service.id}/jobs/${job ?? ''}`

async function shown(
  visit: ServiceVisit,
  sheet: Sheet,
  given: GivenSend,
  options: CheckPageOptions = {},
  before?: CheckedFile,
): Promise<Answer> {
  const checked = before ?? (await checkedFor(visit, sheet, given))
  const asked = Number.parseInt(visit.query.get('from') ?? '', 10)
  const from = asked > 0 && asked < checked.report.error_count ? asked : 0
  const [problems, row, origins] = await Promise.all([
    checked.problems(from, PAGE),
    rowOf(visit, sheet, checked.template),
    originsOf(visit, checked.template),
  ])
  return checkPage(visit, { checked, problems, from, row, origins, ...given }, options)
}

/** A due time that cannot be read is checked as now. */
const checkedFor = (visit: ServiceVisit, sheet: Sheet, { when, name, sender }: GivenSend) =>
  checkedFile(visit, sheet, {
    scheduled_for: isoOf(dueOf(visit, when).at),
    sender_id: readId(sender),
    name: name || jobName(visit, sheet),
  })

/** The button says what is done. */
export async function changeUpload(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form } = visit
  const sheet = await sheetIn(visit)
  const other = form.get('act') === 'remove' ? null : await notReady(visit, sheet)
  if (other) return other
  const here = (done: string): Answer => ({ kind: 'redirect', to: uploadPath(service.id, sheet.id, '', { done }) })
  switch (form.get('act')) {
    case 'match':
      return matched(visit, sheet)
    case 'ask':
      return asked(visit, sheet)
    case 'leave-out':
      await leaveOut(parts, actor, service.id, sheet.id, (await checkedFor(visit, sheet, NOTHING)).badLines())
      return here('left-out')
    case 'take-in':
      await takeIn(parts, actor, service.id, sheet.id)
      return here('taken-in')
    case 'remove':
      await remove(parts, actor, service.id, sheet.id)
      return { kind: 'redirect', to: sendPath(service.id, 'file', { template: sheet.template_id }) }
    case 'send':
      return sendFile(visit, sheet)
    default:
      return confirmed(visit, sheet)
  }
}

const NOTHING: GivenSend = { when: NOW, name: '', sender: '' }

async function matched(visit: ServiceVisit, sheet: Sheet): Promise<Answer> {
  const { parts, actor, service, form } = visit
  try {
    await rematch(parts, actor, service.id, sheet.id, columnsIn(form, sheet.columns))
    return { kind: 'redirect', to: uploadPath(service.id, sheet.id, '', { done: 'matched' }) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'BadRequestError') throw error
    return shown(visit, sheet, { ...NOTHING, name: jobName(visit, sheet) }, refused(error))
  }
}

async function asked(visit: ServiceVisit, sheet: Sheet): Promise<Answer> {
  const checked = await checkedFor(visit, sheet, NOTHING)
  return (checked.report.rows?.bad ?? 0) === 0
    ? { kind: 'redirect', to: uploadPath(visit.service.id, sheet.id) }
    : leaveOutPage(visit, checked)
}

const LONGEST_NAME = 255

function givenIn(visit: ServiceVisit, sheet: Sheet): { given: GivenSend; errors: FieldErrors } {
  const { form } = visit
  const name = (form.get('name') ?? '').trim() || jobName(visit, sheet)
  const given = { when: whenIn(form), name, sender: form.get('sender') ?? '' }
  const { error } = dueOf(visit, given.when)
  const errors = {
    ...(error && { [error.field]: error.sentence }),
    ...(name.length > LONGEST_NAME && { name: t`Enter a name of at most 255 characters` }),
  }
  return { given, errors }
}

async function confirmed(visit: ServiceVisit, sheet: Sheet): Promise<Answer> {
  const { given, errors } = givenIn(visit, sheet)
  const checked = await checkedFor(visit, sheet, given)
  if (Object.keys(errors).length > 0) return shown(visit, sheet, given, { status: 422, errors }, checked)
  if (!isSendable(checked) || !checked.report.ok)
    return shown(
      visit,
      sheet,
      given,
      {
        status: 422,
        notice: checked.report.ok ? null : notice(checked.report.problems.map(({ message }) => message)),
      },
      checked,
    )
  const origins = await originsOf(visit, checked.template)
  const from = origins.find(([id]) => id === given.sender)?.[1] ?? ''
  return confirmFilePage(visit, checked, { ...given, due: dueOf(visit, given.when), from })
}

async function sendFile(visit: ServiceVisit, sheet: Sheet): Promise<Answer> {
  const { parts, actor, service } = visit
  const { given, errors } = givenIn(visit, sheet)
  if (Object.keys(errors).length > 0) return shown(visit, sheet, given, { status: 422, errors })
  try {
    const job = await send(parts, actor, service.id, sheet.id, {
      name: given.name,
      scheduled_for: isoOf(dueOf(visit, given.when).at),
      sender_id: readId(given.sender),
    })
    return { kind: 'redirect', to: jobPath(visit, job) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'NoResultFound' || error.kind === 'NotFound') throw error
    return shown(visit, sheet, given, refused(error))
  }
}

const refused = ({ messages }: Refusal): CheckPageOptions => ({ status: 422, notice: notice(messages) })

const notice = (sentences: readonly string[]) => (
  <Callout tone="bad" role="alert" title={t`Not sent yet`}>
    {sentences.map(sentence => (
      <p key={sentence}>{known(sentence)}</p>
    ))}
  </Callout>
)

/** The rows with errors as CSV, with what is wrong beside them. */
export async function downloadBadRows(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const sheet = await sheetIn(visit)
  const other = await notReady(visit, sheet)
  if (other) return other
  const found = await check(parts, actor, service.id, sheet.id, { name: jobName(visit, sheet) })
  const recipient = found.report.columns?.recipient ?? null
  const words = {
    heading: t`Problem`,
    of: (error: { column: string | null; message: string; problem: Parameters<typeof problemWords>[0]['problem'] }) => {
      const isRecipient = error.column !== null && error.column === recipient
      const [what] = problemWords({ ...error, line: 0, value: null, isRecipient }, sheet.channel)
      return error.column === null ? what : `${error.column}: ${what}`
    },
  }
  return {
    kind: 'export',
    name: `${t`Rows to correct of ${fileName(sheet)}`.replace(/\.(csv|tsv|txt|xlsx|ods)$/i, '')}.csv`,
    chunks: badRows(parts, actor, service.id, found, words),
  }
}
