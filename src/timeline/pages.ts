// Pages of messages, read from the database as text, with the names that a report shows.
import { details as jobDetails } from '../bulk/sql/read.ts'
import type { Id } from '../core/id.ts'
import { examinedTo } from '../notifications/sql/browse.ts'
import { readLines } from '../notifications/sql/lines.ts'
import type { Service } from '../services/service.ts'
import { namesOf as templateNames } from '../templates/sql.ts'
import { type BrowseApp, browsingOf, type Cursor, type Filters } from './browse.ts'
import type { MessageLines } from './lines.ts'

/** Read at once: about a megabyte of text, and as much when values are large. */
export const PAGE = 2_000
export const PAGE_BYTES = 1_000_000

export type PagesApp = Pick<BrowseApp, 'db' | 'clock' | 'reads'>

/** All messages that match, newest first. */
export async function* messagePages(
  app: PagesApp,
  service: Service,
  filters: Filters,
): AsyncGenerator<Omit<MessageLines, 'format'>> {
  const names = createNames(app)
  for (let from: Cursor = null; ; ) {
    const browsing = await browsingOf(app, service, filters, from, PAGE)
    if (!browsing) return
    const page = await readLines(app.db.sql, browsing, PAGE_BYTES)
    const reached = await examinedTo(app.db.sql, browsing)
    const isCut = page.taken < page.found
    if (page.last !== null) {
      const { messages, states } = page
      yield { messages, states, from: reached, ...(await names.of(page.versions, page.jobs)) }
    }
    // A scan that was ended by its limit has not seen what is older, although others may have found a page.
    const goneTo = isCut || page.found === PAGE ? page.last : null
    const older = goneTo === null ? reached : reached !== null && reached > goneTo ? reached : goneTo
    if (older === null) return
    from = { older }
    await app.reads.giveWay()
  }
}

/** Names that one report has looked up; most pages need no new one. */
const MOST_NAMES = 1_000

function createNames({ db: { sql } }: Pick<PagesApp, 'db'>) {
  const templates = new Map<string, string>()
  const jobs = new Map<string, string>()
  return {
    async of(versions: readonly string[], ids: readonly Id[]) {
      for (const known of [templates, jobs]) if (known.size > MOST_NAMES) known.clear()
      const newVersions = versions.filter(one => !templates.has(one)).map(versionOf)
      const newJobs = ids.filter(one => !jobs.has(one))
      if (newVersions.length > 0) for (const one of await templateNames(sql, newVersions)) templates.set(...one)
      if (newJobs.length > 0) for (const { id, name } of await jobDetails(sql, newJobs)) jobs.set(id, name)
      return { templateNames: chosen(templates, versions), jobNames: chosen(jobs, ids) }
    },
  }
}

const versionOf = (text: string) => {
  const [id = '', version] = text.split('/')
  return { template_id: id as Id, template_version: Number(version) }
}

const chosen = (names: ReadonlyMap<string, string>, wanted: readonly string[]): Map<string, string> =>
  new Map(wanted.map(one => [one, names.get(one) ?? '']))
