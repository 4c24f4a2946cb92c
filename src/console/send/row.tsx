// One row of a file as the message that it becomes.

import type { ShownDraft } from '../../channels/channel.ts'
import { rowAt, rows } from '../../sheets/rows.ts'
import type { Sheet, SheetRow } from '../../sheets/sheet.ts'
import { draftDocument, examine } from '../../templates/draft.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Card, Icon } from '../components/basics.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { sheetIn } from './file.tsx'
import { isEmail, templateCalled } from './given.ts'
import { uploadPath } from './paths.ts'
import { Bubble } from './preview.tsx'

export type ShownRow = {
  /** The line that was asked for. */
  line: number
  /** Null: the file has no such row. */
  row: { to: string; shown: ShownDraft } | null
}

/** The first row unless another one is asked for. */
export async function rowOf(visit: ServiceVisit, sheet: Sheet, template: TemplateRow): Promise<ShownRow> {
  const { parts, actor, service, query } = visit
  const asked = Number.parseInt(query.get('row') ?? '', 10)
  const [first] = asked > 0 ? [] : await rows(parts, actor, service.id, sheet.id, 0, 1)
  const found = asked > 0 ? await rowAt(parts, actor, service.id, sheet.id, Math.min(asked, 10_000_000)) : first
  if (!found) return { line: asked > 0 ? asked : 2, row: null }
  const { to, values } = messageIn(sheet, found)
  const prefix = service.sms_prefix ? service.name : null
  const draft = { subject: template.subject, content: template.content }
  const { shown } = await examine(parts, template, draft, values, { prefix })
  return { line: found.line, row: { to, shown } }
}

/** By the match of the columns. An empty cell is no value. */
function messageIn(sheet: Sheet, { cells }: SheetRow): { to: string; values: Record<string, string> } {
  const values: Record<string, string> = {}
  let to = ''
  for (const [at, { target }] of sheet.columns.entries()) {
    const cell = (cells[at] ?? '').trim()
    if (target === 'recipient') to = cell
    else if (target?.startsWith('value:') && cell !== '') values[target.slice('value:'.length)] = cell
  }
  return { to, values }
}

/** The e-mail of a row alone, for the frame. */
export async function renderedRow(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, query } = visit
  const sheet = await sheetIn(visit)
  const template = await templateCalled(visit, sheet.template_id)
  const line = Number.parseInt(query.get('row') ?? '', 10)
  const [first] = line > 0 ? [] : await rows(parts, actor, service.id, sheet.id, 0, 1)
  const found = line > 0 ? await rowAt(parts, actor, service.id, sheet.id, line) : first
  const draft = { subject: template.subject, content: template.content }
  const html = found && (await draftDocument(parts, template, draft, messageIn(sheet, found).values, 'light'))
  return { kind: 'frame', html: html ?? '<!DOCTYPE html><html lang="en"><title>–</title><p>–</p></html>' }
}

export function RowCard(props: { visit: ServiceVisit; sheet: Sheet; template: TemplateRow; shown: ShownRow }) {
  const { visit, sheet, template, shown } = props
  const { url, service, formats } = visit
  const here = (line: number) => url(uploadPath(service.id, sheet.id, '', { row: String(line) }))
  return (
    <Card
      title={t`Row ${formats.number(shown.line)}`}
      id="row-card"
      aside={
        <>
          {shown.line > 2 && (
            <a class="btn btn-sm btn-icon" href={`${here(shown.line - 1)}#row-card`}>
              <span aria-hidden="true">‹</span>
              <span class="vh">{t`Row before`}</span>
            </a>
          )}
          <a class="btn btn-sm btn-icon" href={`${here(shown.line + 1)}#row-card`}>
            <span aria-hidden="true">›</span>
            <span class="vh">{t`Row after`}</span>
          </a>
        </>
      }
    >
      <div class="stack">
        <RowBody visit={visit} sheet={sheet} template={template} shown={shown} />
        <form class="row row-tight" action={url(uploadPath(service.id, sheet.id))}>
          <label for="row">{t`Row`}</label>
          <input class="input w-sm" type="number" id="row" name="row" min="1" value={String(shown.line)} />
          <button class="btn btn-sm">
            <Icon name="search" />
            {t`Show this row`}
          </button>
        </form>
      </div>
    </Card>
  )
}

function RowBody({ visit, sheet, template, shown }: Parameters<typeof RowCard>[0]) {
  const { row, line } = shown
  if (!row) return <p class="muted">{t`The file has no such row, or it is blank.`}</p>
  const to = (
    <p>
      <span class="muted">{t`To`}</span> <bdi>{row.to || '–'}</bdi>
    </p>
  )
  if (!isEmail(template))
    return (
      <>
        {to}
        <div class="thread">
          <Bubble shown={row.shown} />
        </div>
      </>
    )
  const subject = row.shown?.kind === 'email' ? row.shown.subject : ''
  return (
    <>
      {to}
      <div class="mail">
        <div class="mail-head">
          <strong dir="auto">{subject || t`(no subject)`}</strong>
        </div>
        <iframe
          sandbox=""
          loading="lazy"
          src={visit.url(uploadPath(visit.service.id, sheet.id, '/rendered', { row: String(line) }))}
          title={t`Preview of the e-mail`}
        />
      </div>
    </>
  )
}
