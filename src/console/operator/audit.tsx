// The audit log of the installation, for operators.
import { browseChanges, exportChanges } from '../../people/changes.ts'
import { peopleOf } from '../../people/list.ts'
import { list as listServices } from '../../services/sql.ts'
import { ChangeFilters, ChangeList, type Choice, DownloadLink, filtersIn, fromIn, wantedBy } from '../changes/list.tsx'
import { GROUPS, type Group } from '../changes/words.ts'
import { PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import type { Answer, SignedInVisit } from '../page.ts'
import { t } from '../words/index.ts'

const PATH = '/operator/audit'

export async function auditPage(visit: SignedInVisit): Promise<Answer> {
  const { parts, actor, query } = visit
  const given = filtersIn(query)
  const [page, people, services] = await Promise.all([
    browseChanges(parts, actor, null, wantedBy(given, visit), fromIn(query)),
    peopleOf(parts, actor),
    listServices(parts.db.sql),
  ])
  const byName = (a: Choice, b: Choice) => a[1].localeCompare(b[1])
  return {
    kind: 'page',
    title: t`Audit log`,
    nav: 'audit',
    body: (
      <>
        <PageHead title={t`Audit log`} lede={t`Who changed what. Nobody can change or delete these lines.`}>
          <DownloadLink path={PATH} given={given} />
        </PageHead>
        <ChangeFilters
          path={PATH}
          given={given}
          groups={Object.keys(GROUPS) as Group[]}
          people={people.list.map(({ id, name }): Choice => [id, name]).sort(byName)}
          services={services.map(({ id, name }): Choice => [id, name]).sort(byName)}
        />
        <ChangeList path={PATH} given={given} page={page} withService />
        <AsCommand command="herald audit --most 50 --json" />
      </>
    ),
  }
}

export const exportAudit = (visit: SignedInVisit): Answer => ({
  kind: 'export',
  name: 'audit log.csv',
  chunks: exportChanges(visit.parts, visit.actor, null, wantedBy(filtersIn(visit.query), visit)),
})
