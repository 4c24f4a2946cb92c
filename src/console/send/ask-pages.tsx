// Two questions about a file: whether rows with errors are left out, and whether all messages are sent.
import type { TemplateRow } from '../../templates/sql.ts'
import { Card, Facts, Icon, PageHead } from '../components/basics.tsx'
import { AsCommand, AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import type { CheckedFile } from './checked.ts'
import { ModeNotice } from './choose.tsx'
import { Twice } from './confirm.tsx'
import { sendPath, uploadPath } from './paths.ts'
import { fileName } from './reading-page.tsx'
import type { Due, When } from './when.tsx'
import { timeWords } from './words-of.ts'

const crumbsOf = ({ service }: ServiceVisit, { sheet, template }: CheckedFile): [string, string][] => [
  [t`Send`, sendPath(service.id, 'file')],
  [template.name, sendPath(service.id, 'file', { template: template.id })],
  [fileName(sheet), uploadPath(service.id, sheet.id)],
]

export function leaveOutPage(visit: ServiceVisit, checked: CheckedFile): PageAnswer {
  const { service, url, formats } = visit
  const { sheet, report } = checked
  const [bad, ok] = [report.rows?.bad ?? 0, report.rows?.ok ?? 0]
  const [badWords, okWords] = [formats.number(bad), formats.number(ok)]
  const title = plural(bad, t`Leave out ${badWords} row?`, t`Leave out ${badWords} rows?`)
  return {
    kind: 'page',
    title,
    nav: 'send',
    width: 'narrow',
    body: (
      <>
        <PageHead title={title} crumbs={crumbsOf(visit, checked)} lede={t`Nothing has been sent.`} />
        <Card>
          <div class="stack">
            <p>
              {plural(
                bad,
                t`The person in this row gets no message.`,
                t`The people in these ${badWords} rows get no message.`,
              )}{' '}
              {plural(ok, t`${okWords} message remains.`, t`${okWords} messages remain.`)}{' '}
              {t`Download the rows first if you want to correct them and send them later.`}
            </p>
            <p>
              <a href={url(uploadPath(service.id, sheet.id, '/bad-rows'))}>
                <Icon name="download" /> {t`Download these rows`}
              </a>
            </p>
          </div>
        </Card>
        <Form action={uploadPath(service.id, sheet.id)} class="row">
          <a class="btn" href={url(uploadPath(service.id, sheet.id))}>{t`Keep them`}</a>
          <button class="btn btn-primary" name="act" value="leave-out">
            {plural(bad, t`Leave out ${badWords} row`, t`Leave out ${badWords} rows`)}
          </button>
        </Form>
        <AsCommand command={`herald check recipients.csv --template ${checked.template.id}`} />
      </>
    ),
  }
}

export function confirmFilePage(
  visit: ServiceVisit,
  checked: CheckedFile,
  { when, due, name, sender, from }: { when: When; due: Due; name: string; sender: string; from: string },
): PageAnswer {
  const { service, url, formats } = visit
  const { sheet, report, template } = checked
  const many = formats.number(sheet.rowCount)
  const daily = report.daily
  const title =
    due.at === null
      ? plural(sheet.rowCount, t`Send ${many} message?`, t`Send ${many} messages?`)
      : plural(sheet.rowCount, t`Schedule ${many} message?`, t`Schedule ${many} messages?`)
  const hidden: [string, string][] = [
    ['when', when.isLater ? 'later' : 'now'],
    ['day', when.day],
    ['time', when.time],
    ['name', name],
    ['sender', sender],
  ]
  return {
    kind: 'page',
    title,
    nav: 'send',
    width: 'narrow',
    body: (
      <>
        <PageHead title={title} crumbs={crumbsOf(visit, checked)} lede={t`Nothing has been sent.`} />
        <ModeNotice visit={visit} channel={sheet.channel} />
        {due.isTwice && due.at !== null && <Twice at={due.at} visit={visit} />}
        <Card>
          <Facts
            rows={[
              [t`Messages`, many],
              report.parts !== null && [t`Text messages charged`, formats.number(report.parts)],
              sheet.leftOut > 0 && [t`Rows left out`, formats.number(sheet.leftOut)],
              (report.duplicates?.rows ?? 0) > 0 && [
                t`Same recipient again`,
                formats.number(report.duplicates?.rows ?? 0),
              ],
              [
                t`When`,
                due.at === null
                  ? t`Now`
                  : t`${formats.full(due.at)}, ${formats.timeZone}. Until then you can cancel it.`,
              ],
              [t`Template`, <TemplateName key="template" template={template} />],
              from !== '' && [sheet.channel === 'email' ? t`Replies go to` : t`Sender`, <bdi key="from">{from}</bdi>],
              daily && [
                t`Daily limit`,
                t`${formats.number(daily.remaining)} left, ${formats.number(Math.max(0, daily.remaining - daily.needed))} after this`,
              ],
              report.estimated_seconds !== null && [t`Time`, timeWords(report.estimated_seconds, formats)],
              [t`Name of the job`, <bdi key="name">{name}</bdi>],
            ]}
          />
        </Card>
        <Form action={uploadPath(service.id, sheet.id)} class="row">
          {hidden.map(([field, value]) => (
            <input key={field} type="hidden" name={field} value={value} />
          ))}
          <a class="btn" href={url(uploadPath(service.id, sheet.id))}>{t`Back to the check`}</a>
          <button class="btn btn-primary" name="act" value="send">
            <Icon name={due.at === null ? 'send' : 'clock'} />
            {due.at === null
              ? plural(sheet.rowCount, t`Send ${many} message`, t`Send ${many} messages`)
              : plural(sheet.rowCount, t`Schedule ${many} message`, t`Schedule ${many} messages`)}
          </button>
        </Form>
        <AsCurl
          method="POST"
          path="/v2/notifications/bulk"
          body={{ template_id: template.id, name: '…', csv: '…', ...(due.at !== null && { scheduled_for: '…' }) }}
        />
      </>
    ),
  }
}

const TemplateName = ({ template }: { template: TemplateRow }) => (
  <>{rich`${<bdi>{template.name}</bdi>}, version ${template.version}`}</>
)
