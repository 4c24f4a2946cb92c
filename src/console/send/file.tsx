// A file of recipients: upload, follow how it is read, see what is wrong with it, send it as a job.
import { readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { read } from '../../sheets/read.ts'
import { receive } from '../../sheets/receive.ts'
import { refuse } from '../../sheets/refusals.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { Answer, ServiceVisit, UploadVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'
import { choosePage } from './choose.tsx'
import { templateCalled } from './given.ts'
import { uploadPath } from './paths.ts'
import { tooLarge, uploadPage } from './upload-page.tsx'

export async function showFile(visit: ServiceVisit): Promise<Answer> {
  const id = visit.query.get('template')
  return id ? uploadPage(visit, await templateCalled(visit, id)) : choosePage(visit, 'file')
}

/** The script asks for JSON, to say what is wrong without leaving the page. */
export async function receiveFile(visit: UploadVisit): Promise<Answer> {
  const { parts, actor, service, form } = visit
  const isScript = form.get('by') === 'script'
  const template = await templateCalled(visit, form.get('template'))
  const given = givenRows(visit)
  const wrong = (field: 'file' | 'rows', sentence: string, status = 422): Answer | Promise<Answer> =>
    isScript
      ? { kind: 'json', status, data: { error: sentence } }
      : uploadPage(visit, template, { status, errors: { [field]: sentence } })
  if (!given) return form.get('from') === 'rows' ? wrong('rows', t`Paste some rows`) : wrong('file', t`Choose a file`)
  try {
    const id = await receive(parts, actor, service.id, { template_id: template.id, ...given })
    const to = uploadPath(service.id, id)
    return isScript ? { kind: 'json', data: { to: visit.url(to) } } : { kind: 'redirect', to }
  } catch (error) {
    if (!(error instanceof Refusal) || visit.signal.aborted) throw error
    const field = given.origin === 'pasted' ? 'rows' : 'file'
    if (error.kind === 'RequestEntityTooLarge') return wrong(field, tooLarge(), 413)
    if (error.kind === 'BadRequestError') return wrong(field, t`The file is empty. Choose one with a heading and rows`)
    throw error
  }
}

/** Null: nothing was chosen or pasted. */
const givenRows = ({ upload }: UploadVisit) =>
  upload && {
    origin: upload.field === 'rows' ? ('pasted' as const) : ('file' as const),
    name: upload.name,
    chunks: upload.chunks,
  }

export async function sheetIn(visit: ServiceVisit): Promise<Sheet> {
  const id = readId(visit.params.upload)
  if (!id) throw refuse.notFound()
  return read(visit.parts, visit.actor, visit.service.id, id)
}

/** How far the file is read, in words. */
export const readingWords = ({ formats }: ServiceVisit, { progress }: Pick<Sheet, 'progress'>): string =>
  progress === null || progress === 0
    ? t`The file is being read.`
    : plural(
        progress,
        t`The file is being read: ${formats.number(progress)} row so far.`,
        t`The file is being read: ${formats.number(progress)} rows so far.`,
      )

const EVERY_MS = 400

/** For the script, until the file is read. */
export async function followFile(visit: ServiceVisit): Promise<Answer> {
  await sheetIn(visit)
  const { parts, actor, service } = visit
  const reader = { owner: service.id, person: actor.id }
  const values = async function* () {
    while (!visit.signal.aborted) {
      const sheet = await parts.reads.visit(reader, () => sheetIn(visit))
      const isDone = !isBeingRead(sheet)
      yield { words: isDone ? '' : readingWords(visit, sheet), isDone }
      if (isDone) return
      await new Promise(resume => setTimeout(resume, EVERY_MS))
    }
  }
  return { kind: 'events', values: values() }
}

export const isBeingRead = ({ state }: Pick<Sheet, 'state'>) =>
  state === 'receiving' || state === 'received' || state === 'reading'
