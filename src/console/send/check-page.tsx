// What a check of a file has found: everything that is wrong, how its columns are used, any row as a message, and what it would use.
import type { ComponentChildren } from 'preact'
import type { BulkReport } from '../../bulk/report.ts'
import { Callout, Card, Done, Icon, More, PageHead, type Tone } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, Form, Input, Select } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Formats } from '../formats.ts'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import type { CheckedFile } from './checked.ts'
import { ModeNotice } from './choose.tsx'
import { Columns, formatWords } from './columns.tsx'
import type { Origins } from './one-page.tsx'
import { sendPath, uploadPath } from './paths.ts'
import { fileName } from './reading-page.tsx'
import { RowCard, type ShownRow } from './row.tsx'
import { type When, WhenFields } from './when.tsx'
import { problemWords, type ShownProblem, timeWords } from './words-of.ts'

/** Problems of a page. */
export const PAGE = 100

export type CheckPageOptions = {
  status?: number
  errors?: FieldErrors
  notice?: ComponentChildren
}

export type CheckPageData = {
  checked: CheckedFile
  problems: readonly ShownProblem[]
  /** Of the first problem, from 0. */
  from: number
  row: ShownRow
  origins: Origins
  when: When
  name: string
  sender: string
}

export function checkPage(visit: ServiceVisit, data: CheckPageData, options: CheckPageOptions = {}): PageAnswer {
  const { service, url, formats, query } = visit
  const { checked } = data
  const { sheet, report, template } = checked
  const { errors = {} } = options
  const isWrong = Object.keys(errors).length > 0
  const title = t`Check: ${fileName(sheet)}`
  const rows = plural(
    sheet.rowCount,
    t`${formats.number(sheet.rowCount)} row`,
    t`${formats.number(sheet.rowCount)} rows`,
  )
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${title}` : title,
    nav: 'send',
    ...(options.status !== undefined && { status: options.status }),
    body: (
      <>
        <PageHead
          title={rich`Check: ${<bdi>{fileName(sheet)}</bdi>}`}
          crumbs={[
            [t`Send`, sendPath(service.id, 'file')],
            [template.name, sendPath(service.id, 'file', { template: template.id })],
          ]}
          lede={
            <>
              {rich`${rows} for ${<bdi>{template.name}</bdi>}, version ${template.version}. Nothing has been sent.`}{' '}
              {formatWords(sheet)}
            </>
          }
        />
        <Done done={query.get('done')} sentences={doneSentences()} />
        <ErrorSummary errors={errors} title={t`Not sent yet`} />
        {options.notice}
        <ModeNotice visit={visit} channel={sheet.channel} />
        <Verdict visit={visit} checked={checked} />
        <Unclear visit={visit} checked={checked} />
        <Counts visit={visit} checked={checked} />
        <div class="cols-main">
          <div class="stack">
            {report.error_count > 0 && <Problems visit={visit} data={data} />}
            <Columns visit={visit} sheet={sheet} template={template} first={checked.first} />
            <Duplicates visit={visit} checked={checked} />
          </div>
          <div class="stack">
            <Room visit={visit} report={report} />
            {isSendable(checked) && <SendForm visit={visit} data={data} errors={errors} />}
            <Form action={uploadPath(service.id, sheet.id)} class="row">
              <a class="btn full" href={url(sendPath(service.id, 'file', { template: template.id }))}>
                <Icon name="upload" />
                {t`Upload a corrected file`}
              </a>
              <button class="btn btn-quiet full" name="act" value="remove">
                {t`Delete this file`}
              </button>
            </Form>
            {sheet.missing.length === 0 && <RowCard visit={visit} sheet={sheet} template={template} shown={data.row} />}
          </div>
        </div>
        <AsCommand command={`herald check recipients.csv --template ${template.id}`} />
      </>
    ),
  }
}

const doneSentences = () => ({
  matched: t`The columns are used as you have chosen. The rows were checked again.`,
  'left-out': t`The rows with errors are left out. They are not sent.`,
  'taken-in': t`All rows are in again.`,
})

/** Every row can be sent, as far as is known now; on another day, if the rest of this one's limit is too small. */
export const isSendable = ({ sheet, report }: CheckedFile) =>
  sheet.missing.length === 0 &&
  report.rows !== null &&
  report.rows.bad === 0 &&
  report.rows.ok > 0 &&
  (report.daily === null || report.daily.needed <= report.daily.limit)

function Verdict({ visit, checked }: { visit: ServiceVisit; checked: CheckedFile }) {
  const { formats, service } = visit
  const { sheet, report } = checked
  const bad = report.rows?.bad ?? 0
  const ok = report.rows?.ok ?? 0
  const many = formats.number(bad)
  if (sheet.missing.length > 0)
    return (
      <Callout
        tone="bad"
        role="alert"
        title={plural(sheet.missing.length, t`A column is not found`, t`Some columns are not found`)}
      >
        <p>{t`Choose below which column has what the template needs, or add it to the file.`}</p>
      </Callout>
    )
  if (bad > 0)
    return (
      <Callout tone="bad" role="alert" title={plural(bad, t`${many} row has errors`, t`${many} rows have errors`)}>
        <p>
          {ok === 0
            ? t`Correct the file and upload it again. “Download these rows” gives you a file with only the rows to correct.`
            : t`Correct the file and upload it again, or go on without these rows. “Download these rows” gives you a file with only the rows to correct.`}
        </p>
        {ok > 0 && (
          <Form action={uploadPath(service.id, sheet.id)} class="row">
            <button class="btn" name="act" value="ask">
              {plural(bad, t`Go on without this row`, t`Go on without these ${many} rows`)}
            </button>
          </Form>
        )}
      </Callout>
    )
  if (report.daily && isShort(report.daily))
    return (
      <Callout tone="bad" role="alert" title={t`The daily limit does not suffice`}>
        <p>{shortWords(report.daily, formats)}</p>
      </Callout>
    )
  const other = report.ok ? [] : report.problems.map(({ message }) => message)
  if (other.length > 0)
    return (
      <Callout tone="bad" role="alert" title={t`It cannot be sent like this`}>
        {other.map(sentence => (
          <p key={sentence}>{known(sentence)}</p>
        ))}
      </Callout>
    )
  return (
    <Callout tone="good" role="status">
      <p>{t`No row has errors.`}</p>
    </Callout>
  )
}

/** What the condition of a column does with values that are neither yes nor no. */
function Unclear({
  visit: { formats, url, service },
  checked: { sheet, unclear },
}: {
  visit: ServiceVisit
  checked: CheckedFile
}) {
  if (unclear.length === 0) return null
  return (
    <Callout tone="warn" title={t`Some values are neither yes nor no`}>
      <ul>
        {unclear.map(({ header, rows, first }) => (
          <li key={header}>
            <code>
              <bdi>{header}</bdi>
            </code>
            {': '}
            {plural(rows, t`${formats.number(rows)} row`, t`${formats.number(rows)} rows`)}
            {', '}
            <a href={`${url(uploadPath(service.id, sheet.id, '', { row: String(first.line) }))}#row-card`}>
              {t`Row ${formats.number(first.line)}`}
            </a>
            {': '}
            <bdi class="id">{first.value.length > 40 ? `${first.value.slice(0, 40)}…` : first.value}</bdi>
          </li>
        ))}
      </ul>
      <p>{t`They count as no: the text of the condition is not shown. Write yes or no.`}</p>
    </Callout>
  )
}

type Daily = NonNullable<BulkReport['daily']>

const isShort = ({ needed, remaining }: Daily) => needed > remaining

/** What to do when the job is larger than the rest of the daily limit. */
const shortWords = ({ needed, limit }: Daily, { number }: Formats) =>
  needed > limit
    ? t`${number(needed)} messages are more than the service may send in a day. Split the file, or ask an operator for a higher limit.`
    : t`Not enough for ${number(needed)} messages on this day. Choose another day.`

type Count = { label: string; tone: Tone; value: number; href: string | null }

function Counts({ visit, checked: { sheet, report } }: { visit: ServiceVisit; checked: CheckedFile }) {
  const { formats } = visit
  // Without a column that the template needs, no row is ready.
  if (!report.rows || sheet.missing.length > 0) return null
  const counts: Count[] = [
    { label: t`Ready`, tone: 'good', value: report.rows.ok, href: null },
    { label: t`With errors`, tone: 'bad', value: report.rows.bad, href: report.rows.bad > 0 ? '#problems' : null },
    {
      label: t`Same recipient again`,
      tone: 'warn',
      value: report.duplicates?.rows ?? 0,
      href: (report.duplicates?.rows ?? 0) > 0 ? '#same' : null,
    },
    { label: t`Left out`, tone: 'idle', value: sheet.leftOut, href: null },
    ...(report.parts === null
      ? []
      : [{ label: t`Text messages charged`, tone: 'info' as const, value: report.parts, href: null }]),
  ]
  return (
    <>
      <div class="stats">
        {counts.map(({ label, tone, value, href }) => {
          const inside = (
            <>
              <span class="stat-label">
                <span class={`dot ${tone}`} />
                {label}
              </span>
              <span class="stat-value">{formats.number(value)}</span>
            </>
          )
          return href ? (
            <a key={label} class="stat" href={href}>
              {inside}
            </a>
          ) : (
            <div key={label} class="stat">
              {inside}
            </div>
          )
        })}
      </div>
      {(sheet.leftOut > 0 || sheet.blankRows > 0) && (
        <Form action={uploadPath(visit.service.id, sheet.id)} class="row">
          {sheet.blankRows > 0 && (
            <span class="muted">
              {plural(
                sheet.blankRows,
                t`${formats.number(sheet.blankRows)} blank row is not sent.`,
                t`${formats.number(sheet.blankRows)} blank rows are not sent.`,
              )}
            </span>
          )}
          {sheet.leftOut > 0 && (
            <button class="link-btn" name="act" value="take-in">
              {t`Take the rows that are left out in again`}
            </button>
          )}
        </Form>
      )}
    </>
  )
}

function Problems({ visit, data }: { visit: ServiceVisit; data: CheckPageData }) {
  const { url, service, formats } = visit
  const { checked, problems, from } = data
  const { sheet, report } = checked
  const page = (at: number) => url(uploadPath(service.id, sheet.id, '', { from: String(at) }))
  const last = from + problems.length
  return (
    <Card
      title={t`All errors`}
      id="problems"
      body={false}
      aside={
        <a class="btn btn-sm" href={url(uploadPath(service.id, sheet.id, '/bad-rows'))}>
          <Icon name="download" />
          {t`Download these rows`}
        </a>
      }
    >
      <Table
        caption={t`Rows with errors`}
        rows={problems}
        columns={[
          {
            head: t`Row`,
            class: 'nowrap',
            cell: one => (
              <a
                class="title"
                href={url(
                  uploadPath(service.id, sheet.id, '', { row: String(one.line), from: from ? String(from) : '' }),
                )}
              >
                {t`Row ${formats.number(one.line)}`}
              </a>
            ),
          },
          {
            head: t`Column`,
            cell: one =>
              one.column === null ? (
                '–'
              ) : (
                <code>
                  <bdi>{one.column}</bdi>
                </code>
              ),
          },
          {
            head: t`Value`,
            cell: one =>
              one.value === null ? (
                '–'
              ) : one.value.trim() === '' ? (
                <em class="muted">{t`empty`}</em>
              ) : (
                <bdi class="id">{one.value.length > 120 ? `${one.value.slice(0, 120)}…` : one.value}</bdi>
              ),
          },
          {
            head: t`Problem`,
            cell: one => {
              const [what, why] = problemWords(one, sheet.channel)
              return (
                <>
                  <strong>{what}</strong>
                  <span class="sub">{why}</span>
                </>
              )
            },
          },
        ]}
      />
      {report.error_count > PAGE && (
        <nav class="pager" aria-label={t`Pages of errors`}>
          <span>
            {t`${formats.number(from + 1)} to ${formats.number(last)} of ${formats.number(report.error_count)}`}
          </span>
          <span class="row">
            {from > 0 && (
              <a class="btn btn-sm" rel="prev" href={`${page(Math.max(0, from - PAGE))}#problems`}>{t`Previous`}</a>
            )}
            {last < report.error_count && (
              <a class="btn btn-sm" rel="next" href={`${page(last)}#problems`}>{t`Next`}</a>
            )}
          </span>
        </nav>
      )}
    </Card>
  )
}

function Duplicates({ visit, checked }: { visit: ServiceVisit; checked: CheckedFile }) {
  const { formats } = visit
  const { report, duplicates } = checked
  const many = report.duplicates?.recipients ?? 0
  if (many === 0) return null
  return (
    <div id="same">
      <More
        summary={plural(
          many,
          t`${formats.number(many)} recipient is in the file more than once`,
          t`${formats.number(many)} recipients are in the file more than once`,
        )}
        open
      >
        <Card body={false}>
          <Table
            caption={t`Recipients that are in the file more than once`}
            rows={duplicates}
            columns={[
              { head: t`Recipient`, cell: one => <bdi>{one.to}</bdi> },
              {
                head: t`Rows`,
                cell: one => `${one.lines.map(formats.number).join(', ')}${one.count > one.lines.length ? ', …' : ''}`,
              },
            ]}
          />
        </Card>
        <p class="hint">
          {t`Each row becomes a message of its own.`}{' '}
          {many > duplicates.length && t`The first ${formats.number(duplicates.length)} are listed.`}
        </p>
      </More>
    </div>
  )
}

function Room({ visit, report: { daily, rows } }: { visit: ServiceVisit; report: BulkReport }) {
  const { formats } = visit
  if (!daily) return null
  const { limit, used, remaining, needed } = daily
  const whole = Math.max(1, limit)
  const isTooMany = isShort(daily)
  const share = (part: number) => `${Math.round(Math.min(100, (part / whole) * 100) * 10) / 10}%`
  const taken = Math.min(needed, Math.max(0, limit - used))
  return (
    <Card title={t`Room in the daily limit`} id="room">
      <div class="stack">
        <div class="meter">
          <p class="meter-head">
            <span>{t`Messages`}</span>
            <span>{rich`${<b>{formats.number(remaining)}</b>} left of ${formats.number(limit)}`}</span>
          </p>
          <svg
            class="bar"
            role="img"
            aria-label={t`${formats.number(used)} used, ${formats.number(remaining)} left, ${formats.number(needed)} needed`}
          >
            <rect class="fill idle" x="0%" width={share(used)} height="100%" />
            <rect class={isTooMany ? 'fill warn' : 'fill info'} x={share(used)} width={share(taken)} height="100%" />
          </svg>
        </div>
        {!isTooMany && <p class="muted">{t`Enough for ${formats.number(needed)} messages.`}</p>}
        {isTooMany && (rows?.bad ?? 0) > 0 && <p class="bad strong">{shortWords(daily, formats)}</p>}
      </div>
    </Card>
  )
}

function SendForm({ visit, data, errors }: { visit: ServiceVisit; data: CheckPageData; errors: FieldErrors }) {
  const { formats, service, parts } = visit
  const { checked, when, origins, name } = data
  const { sheet, report } = checked
  const many = formats.number(sheet.rowCount)
  const time = timeWords(report.estimated_seconds, formats)
  return (
    <Form action={uploadPath(service.id, sheet.id)}>
      <Card title={t`Send`} id="send">
        <div class="form">
          <WhenFields when={when} errors={errors} now={parts.clock.now()} />
          {time && <p class="hint">{time}</p>}
          <Input
            name="name"
            label={t`Name of the job`}
            hint={t`People of the team see it in lists.`}
            value={name}
            dir="auto"
            {...(errors.name && { error: errors.name })}
          />
          {origins.length > 1 && (
            <Select
              name="sender"
              label={sheet.channel === 'email' ? t`Replies go to` : t`Sender`}
              value={data.sender}
              options={origins}
            />
          )}
          <button class="btn btn-primary full" name="act" value="confirm">
            {plural(sheet.rowCount, t`Go on with ${many} message`, t`Go on with ${many} messages`)}
          </button>
        </div>
      </Card>
    </Form>
  )
}
