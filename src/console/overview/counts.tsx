// The counts as files, for spreadsheets.
import { type Grouping, statisticsCsv, statisticsFor } from '../../reports/statistics.ts'
import type { Handler, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'

const GROUPINGS = ['month', 'day', 'template', 'key'] as const satisfies readonly Grouping[]

export const countsFile: Handler<ServiceVisit> = async ({ parts, actor, service, query }) => {
  const by = GROUPINGS.find(one => one === query.get('by')) ?? 'month'
  const groups = await statisticsFor(parts, actor, service.id, by)
  return {
    kind: 'download',
    name: `${service.name} counts by ${by}.csv`,
    type: 'text/csv; charset=utf-8',
    chunks: (async function* () {
      yield statisticsCsv(groups, by)
    })(),
  }
}

export function CountFiles({ service, url }: Pick<ServiceVisit, 'service' | 'url'>) {
  const link = (by: (typeof GROUPINGS)[number], words: string) => (
    <a href={url(`/s/${service.id}/statistics?by=${by}`)}>{words}</a>
  )
  return (
    <p class="hint">
      {t`Counts of the last 13 months as CSV, with the parts of text messages:`} {link('month', t`by month`)} ·{' '}
      {link('day', t`by day`)} · {link('template', t`by template`)} · {link('key', t`by API key`)}
    </p>
  )
}
