// A file that is still being read, and one that cannot be read.
import type { Sheet, Unreadable } from '../../sheets/sheet.ts'
import { Callout, Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { readingWords } from './file.tsx'
import { sendPath, uploadPath } from './paths.ts'

export const fileName = ({ name }: Pick<Sheet, 'name'>) => name || t`Pasted rows`

/** The page asks again by itself with the script; without, there is a link. */
export function readingPage(visit: ServiceVisit, sheet: Sheet): PageAnswer {
  const { service, url } = visit
  const here = url(uploadPath(service.id, sheet.id))
  return {
    kind: 'page',
    title: t`The file is being read`,
    nav: 'send',
    width: 'narrow',
    body: (
      <>
        <PageHead title={<bdi>{fileName(sheet)}</bdi>} crumbs={[[t`Send`, sendPath(service.id, 'file')]]} />
        <div data-follow={`${here}/events`} data-next={here}>
          <Card>
            <div class="stack">
              <p role="status" data-words="">
                {readingWords(visit, sheet)}
              </p>
              <progress aria-label={t`The file is being read`} />
              <p>
                <a class="btn" href={here}>{t`Refresh`}</a>
              </p>
            </div>
          </Card>
        </div>
      </>
    ),
  }
}

export function unreadablePage(visit: ServiceVisit, sheet: Sheet, problem: Unreadable): PageAnswer {
  const { service, url, formats } = visit
  const title = t`This file cannot be read`
  return {
    kind: 'page',
    title,
    nav: 'send',
    width: 'narrow',
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[[t`Send`, sendPath(service.id, 'file', { template: sheet.template_id })]]}
          lede={<bdi>{fileName(sheet)}</bdi>}
        />
        <Callout tone="bad" role="alert">
          <p>{reasonOf(problem, formats.number)}</p>
        </Callout>
        <p>
          <a class="btn btn-primary" href={url(sendPath(service.id, 'file', { template: sheet.template_id }))}>
            {t`Upload another file`}
          </a>
        </p>
        <AsCommand command={`herald check recipients.csv --template ${sheet.template_id}`} />
      </>
    ),
  }
}

/** What is wrong, and what to do. */
export function reasonOf(problem: Unreadable, number: (value: number) => string): string {
  switch (problem.kind) {
    case 'empty':
      return t`The file has no text. Choose one with a heading and rows.`
    case 'no-rows':
      return t`The file has a heading and no rows. Add one row for each recipient.`
    case 'too-many-rows':
      return t`The file has more than ${number(problem.most)} rows. Split it into several files.`
    case 'too-many-columns':
      return t`The file has more than ${number(problem.most)} columns. Keep only those that the template needs.`
    case 'long-cell':
      return t`The cell in row ${number(problem.line)}, column ${number(problem.column)} has more than ${number(problem.most)} characters. Shorten it.`
    case 'unknown-format':
      return t`The file is neither CSV nor a spreadsheet. Save it as CSV, .xlsx or .ods.`
    case 'old-excel':
      return t`The file has the format of Excel before 2007. Save it as .xlsx or CSV.`
    case 'password':
      return t`The file is protected with a password. Save it without one.`
    case 'damaged':
      return t`The file is damaged. Open it in a spreadsheet program and save it again.`
    case 'too-much':
      return t`The file takes too much memory or time to read. Save it as CSV.`
  }
}
