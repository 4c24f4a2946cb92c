// Who changed what in a service, for its managers.
import { list as listKeys } from '../../keys/sql.ts'
import { browseChanges, exportChanges as exported } from '../../people/changes.ts'
import { listUsers } from '../../services/sql.ts'
import { PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { ChangeFilters, ChangeList, type Choice, DownloadLink, filtersIn, fromIn, wantedBy } from './list.tsx'
import { GROUPS, type Group, OF_INSTALLATION } from './words.ts'

const OF_SERVICE = (Object.keys(GROUPS) as Group[]).filter(group => !OF_INSTALLATION.includes(group))

export async function changesPage(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, query } = visit
  const given = { ...filtersIn(query), service: '' }
  const [page, people] = await Promise.all([
    browseChanges(parts, actor, service.id, wantedBy(given, visit), fromIn(query)),
    actorsOf(visit),
  ])
  const path = `/s/${service.id}/changes`
  return {
    kind: 'page',
    title: t`Changes`,
    nav: 'changes',
    body: (
      <>
        <PageHead
          title={t`Changes`}
          lede={t`Who changed what in this service. Nobody can change or delete these lines.`}
        >
          <DownloadLink path={path} given={given} />
        </PageHead>
        <ChangeFilters path={path} given={given} groups={OF_SERVICE} people={people} />
        <ChangeList path={path} given={given} page={page} />
        <AsCommand command={`herald audit --service ${service.id} --most 50`} />
      </>
    ),
  }
}

export function exportChanges(visit: ServiceVisit): Answer {
  const { parts, actor, service, query } = visit
  const given = { ...filtersIn(query), service: '' }
  return {
    kind: 'export',
    name: `${service.name} changes.csv`,
    chunks: exported(parts, actor, service.id, wantedBy(given, visit)),
  }
}

const MOST_CHOICES = 200

/** People by name, then keys. */
async function actorsOf({ parts, service }: ServiceVisit): Promise<Choice[]> {
  const [users, keys] = await Promise.all([listUsers(parts.db.sql, service.id), listKeys(parts.db.sql, service.id)])
  return [
    ...users.map(({ person_id, name }): Choice => [person_id, name]).sort((a, b) => a[1].localeCompare(b[1])),
    ...keys.map(({ id, name }): Choice => [id, t`Key ${name}`]),
  ].slice(0, MOST_CHOICES)
}
