// How the columns of a file are used; a person can correct it.
import type { Channel } from '../../channels/index.ts'
import { namesOf } from '../../rendering/placeholders.ts'
import { targetsOf } from '../../sheets/match.ts'
import type { Encoding, Sheet, SheetColumn, Target } from '../../sheets/sheet.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Card } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import type { ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import { uploadPath } from './paths.ts'

const ENCODINGS: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Windows-1252',
}

/** "Read as CSV with semicolons, Windows-1252." */
export function formatWords({ format, delimiter, encoding, sheetName, otherSheets, origin }: Sheet) {
  if (format === 'csv') {
    const written = encoding ? ENCODINGS[encoding] : ''
    if (origin === 'pasted') return null
    if (delimiter === ';') return t`Read as CSV with semicolons, ${written}.`
    if (delimiter === '\t') return t`Read as CSV with tabs, ${written}.`
    return t`Read as CSV with commas, ${written}.`
  }
  const name = <bdi>{sheetName ?? ''}</bdi>
  return (
    <>
      {format === 'ods'
        ? rich`Read from sheet ${name} of an .ods file.`
        : rich`Read from sheet ${name} of an .xlsx file.`}{' '}
      {otherSheets.length > 0 && (
        <>
          {plural(otherSheets.length, t`Another sheet is not read:`, t`Other sheets are not read:`)}{' '}
          <bdi>{otherSheets.slice(0, 10).join(', ')}</bdi>
        </>
      )}
    </>
  )
}

/** The field of a column. */
export const columnField = (at: number) => `column-${at}`
const NOTHING = ''

const MOST_COLUMNS = 200

function targetName(target: Target, channel: Channel): string {
  if (target === 'recipient') return channel === 'email' ? t`e-mail address` : t`phone number`
  return target === 'reference' ? t`your reference` : target.slice('value:'.length)
}

/** `first`: the cells of the first row. */
export function Columns(props: { visit: ServiceVisit; sheet: Sheet; template: TemplateRow; first: readonly string[] }) {
  const { visit, sheet, template, first } = props
  const targets = targetsOf({ channel: sheet.channel, names: namesOf(template) })
  const rows = sheet.columns.map((column, at) => ({ column, at })).slice(0, MOST_COLUMNS)
  const missing = sheet.missing.map(target => targetName(target, sheet.channel))
  return (
    <Form action={uploadPath(visit.service.id, sheet.id)} class="stack">
      <Card
        title={t`Columns`}
        id="columns"
        body={false}
        aside={
          missing.length === 0 ? (
            <Badge tone="good" icon="check">
              {t`All found`}
            </Badge>
          ) : (
            <Badge tone="bad" icon="alert">
              {plural(
                missing.length,
                t`${visit.formats.number(missing.length)} not found`,
                t`${visit.formats.number(missing.length)} not found`,
              )}
            </Badge>
          )
        }
        foot={
          <button class="btn btn-sm" name="act" value="match">
            {t`Use the columns like this`}
          </button>
        }
      >
        {missing.length > 0 && (
          <p class="card-body bad strong">
            {rich`No column has: ${<bdi>{missing.join(', ')}</bdi>}. Choose it in the list, then press “Use the columns like this”.`}
          </p>
        )}
        <Table
          caption={t`How columns fill placeholders`}
          rows={rows}
          columns={[
            {
              head: t`Column of the file`,
              cell: ({ column, at }) => (
                <code>
                  <bdi>{column.header.trim() || t`Column ${at + 1}`}</bdi>
                </code>
              ),
            },
            {
              head: t`Fills`,
              cell: ({ column, at }) => <TargetSelect {...{ column, at, targets }} channel={sheet.channel} />,
            },
            { head: t`First row`, cell: ({ at }) => <bdi>{shortened(first[at] ?? '') || '–'}</bdi> },
          ]}
        />
      </Card>
    </Form>
  )
}

function TargetSelect(props: { column: SheetColumn; at: number; targets: readonly Target[]; channel: Channel }) {
  const { column, at, targets, channel } = props
  return (
    <select
      class="input"
      name={columnField(at)}
      aria-label={t`What the column ${column.header.trim() || String(at + 1)} fills`}
    >
      <option value={NOTHING} selected={column.target === null}>
        {t`nothing`}
      </option>
      {targets.map(target => (
        <option key={target} value={target} selected={target === column.target}>
          {targetName(target, channel)}
        </option>
      ))}
    </select>
  )
}

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** What the form says of each column. */
export function columnsIn(form: URLSearchParams, columns: readonly SheetColumn[]): Map<number, Target | null> {
  const given = new Map<number, Target | null>()
  for (const at of columns.keys()) {
    const target = form.get(columnField(at))
    if (target !== null) given.set(at, target === NOTHING ? null : (target as Target))
  }
  return given
}
