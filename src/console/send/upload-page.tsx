// Upload a file of recipients for a template: choose, drop or paste.
import { CHANNELS } from '../../channels/index.ts'
import { csvRow } from '../../core/csv.ts'
import { namesOf } from '../../rendering/placeholders.ts'
import { list } from '../../sheets/read.ts'
import { LIMITS, MOST_SHEETS, type Sheet } from '../../sheets/sheet.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Card, Icon, More, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { ErrorText, type FieldErrors, FormToken, Textarea } from '../components/form.tsx'
import { Table, Title } from '../components/list.tsx'
import type { Answer, PageAnswer, ServiceVisit } from '../page.ts'
import { language, plural, rich, t } from '../words/index.ts'
import { templateCalled } from './given.ts'
import { sendPage } from './head.tsx'
import { sendPath, uploadPath } from './paths.ts'
import { Left, roomFor } from './room.tsx'

const MEGABYTES = LIMITS.bytes / 1024 / 1024

export const tooLarge = () =>
  t`The file is larger than ${MEGABYTES} MB. Save it without pictures and unused sheets, or split it`

/** The columns that a file needs: the recipient first. */
function columnsFor(template: TemplateRow): string[] {
  const { headers } = CHANNELS[template.type].recipient
  return [language() === 'fr' ? headers.fr : headers.en, ...namesOf(template)]
}

export async function uploadPage(
  visit: ServiceVisit,
  template: TemplateRow,
  { errors = {}, status }: { errors?: FieldErrors; status?: number } = {},
): Promise<PageAnswer> {
  const { service, url, parts, actor } = visit
  const [room, open] = await Promise.all([roomFor(visit, template.type), list(parts, actor, service.id)])
  return sendPage(
    visit,
    template,
    { to: 'file', title: t`Send to many`, status, errors, not: t`Not uploaded` },
    <>
      <p>
        {t`One row for each recipient, up to ${visit.formats.number(LIMITS.rows)}. Nothing is sent before you have seen the check.`}
      </p>
      <FileForm visit={visit} template={template} error={errors.file} />
      <More summary={t`Or paste rows from a spreadsheet`} open={errors.rows !== undefined}>
        <form
          method="post"
          class="form"
          encType="multipart/form-data"
          action={url(sendPath(service.id, 'file'))}
          noValidate
        >
          <FormToken />
          <input type="hidden" name="template" value={template.id} />
          <input type="hidden" name="from" value="rows" />
          <Textarea
            name="rows"
            label={t`Rows`}
            hint={t`Copy the rows with their headings in the spreadsheet, and paste them here.`}
            {...(errors.rows && { error: errors.rows })}
          />
          <div class="row">
            <button class="btn">{t`Check the rows`}</button>
          </div>
        </form>
      </More>
      <Left room={room} />
      <Unsent visit={visit} sheets={open} />
      <AsCurl
        method="POST"
        path="/v2/notifications/bulk"
        body={{ template_id: template.id, name: '…', rows: [columnsFor(template), ['…']] }}
      />
    </>,
  )
}

function FileForm(props: { visit: ServiceVisit; template: TemplateRow; error: string | undefined }) {
  const { visit, template, error } = props
  const { url, service } = visit
  return (
    <form
      method="post"
      class="form"
      encType="multipart/form-data"
      action={url(sendPath(service.id, 'file'))}
      noValidate
      data-upload=""
      data-most={String(LIMITS.bytes)}
      data-choose={t`Choose a file`}
      data-large={tooLarge()}
      data-sending={t`The file is being uploaded.`}
      data-lost={t`The connection was lost. Upload the file again`}
    >
      <FormToken />
      <input type="hidden" name="template" value={template.id} />
      <div class={error ? 'field field-bad' : 'field'}>
        <label class="label" for="file">{t`File`}</label>
        <p class="hint" id="file-hint">
          {rich`A CSV file (comma, semicolon or tab, in any encoding that a spreadsheet writes), ${<code>.xlsx</code>} or ${<code>.ods</code>}, up to ${MEGABYTES} MB. Columns that are needed:`}{' '}
          {columnsFor(template).map((name, at) => (
            <>
              {at > 0 && ', '}
              <code>
                <bdi>{name}</bdi>
              </code>
            </>
          ))}
          .
        </p>
        {error && <ErrorText id="file-error">{error}</ErrorText>}
        <div class="empty drop full">
          <Icon name="upload" />
          <input
            id="file"
            name="file"
            type="file"
            accept=".csv,.tsv,.txt,.xlsx,.ods,text/csv"
            aria-describedby={error ? 'file-hint file-error' : 'file-hint'}
            {...(error && { 'aria-invalid': 'true' as const })}
          />
          <p class="hint">
            {rich`or ${<a href={url(`/s/${service.id}/send/${template.id}/example`)}>{t`download an example file`}</a>} with these columns`}
          </p>
        </div>
        <p data-upload-state="" hidden />
      </div>
      <div class="row">
        <button class="btn btn-primary">{t`Check the file`}</button>
      </div>
    </form>
  )
}

function Unsent({ visit, sheets }: { visit: ServiceVisit; sheets: readonly Sheet[] }) {
  if (sheets.length === 0) return null
  const { url, service, formats } = visit
  return (
    <Card title={t`Files you have not sent`} id="unsent" body={false}>
      <Table
        caption={t`Files you have not sent`}
        rows={sheets}
        columns={[
          {
            head: t`File`,
            cell: sheet => (
              <Title
                href={url(uploadPath(service.id, sheet.id))}
                {...(sheet.state === 'unreadable' && { sub: t`It cannot be read` })}
              >
                {sheet.name || t`Pasted rows`}
              </Title>
            ),
          },
          {
            head: t`Rows`,
            kind: 'num',
            cell: sheet => (sheet.state === 'ready' ? formats.number(sheet.rowCount) : '–'),
          },
          { head: t`Uploaded`, kind: 'num', cell: sheet => <Time at={sheet.created_at} /> },
        ]}
      />
      <p class="card-foot">
        {plural(sheets.length, t`It is deleted after 7 days.`, t`They are deleted after 7 days.`)}{' '}
        {sheets.length >= MOST_SHEETS && t`The last ${MOST_SHEETS} are kept: a further upload replaces the oldest one.`}
      </p>
    </Card>
  )
}

/** A file with the header and one row, for the spreadsheet. */
export async function exampleFile(visit: ServiceVisit): Promise<Answer> {
  const template = await templateCalled(visit, visit.params.template ?? null)
  const columns = columnsFor(template)
  const isEmail = CHANNELS[template.type].template.hasSubject
  const first = [isEmail ? 'name@example.org' : '+447911123456', ...columns.slice(1).map(() => '')]
  const chunks = async function* () {
    // With a byte order mark, spreadsheets read it as UTF-8.
    yield `\ufeff${csvRow(columns)}\r\n${csvRow(first)}\r\n`
  }
  return { kind: 'download', name: `${template.name}.csv`, type: 'text/csv; charset=utf-8', chunks: chunks() }
}
