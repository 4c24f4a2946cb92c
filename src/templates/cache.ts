// Templates in memory, as sending needs them. A head is cached until it changes; a version never changes and is compiled once.
import { CHANNELS, type Compiled } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { createCache } from '../runtime/cache.ts'
import { contents, findHead, type HeadRow } from './sql.ts'

export type Head = HeadRow

export type Templates = {
  /** Null when the service has no such template. */
  head(service: Id, id: Id): Head | null | Promise<Head | null>
  version(id: Id, version: number): Compiled | Promise<Compiled>
  /** Loads many versions with one query. */
  warm(wanted: readonly { template_id: Id; template_version: number }[]): Promise<void>
  drop(service: string): void
  clear(): void
}

const MOST_VERSIONS = 5_000

export function createTemplates(sql: Sql, clock: Clock): Templates {
  const heads = createCache(clock, (key: string) => findHead(sql, key.slice(0, 36) as Id, key.slice(37) as Id), {
    ownerOf: key => key.slice(0, 36),
  })
  const versions = new Map<string, Compiled>()
  const nameOf = (id: Id, version: number) => `${id}/${version}`

  async function warm(wanted: readonly { template_id: Id; template_version: number }[]) {
    const absent = wanted.filter(
      ({ template_id, template_version }) => !versions.has(nameOf(template_id, template_version)),
    )
    if (absent.length === 0) return
    if (versions.size > MOST_VERSIONS) versions.clear()
    const rows = await contents(
      sql,
      absent.map(row => row.template_id),
      absent.map(row => row.template_version),
    )
    for (const row of rows) versions.set(nameOf(row.template_id, row.version), CHANNELS[row.type].template.compile(row))
  }

  async function fetched(template_id: Id, template_version: number): Promise<Compiled> {
    const name = nameOf(template_id, template_version)
    await warm([{ template_id, template_version }])
    const found = versions.get(name)
    if (!found) throw new Error(`template version ${name} does not exist`)
    return found
  }

  return {
    head: (service, id) => heads.get(`${service}/${id}`),
    version: (id, version) => versions.get(nameOf(id, version)) ?? fetched(id, version),
    warm,
    drop: heads.drop,
    clear: heads.clear,
  }
}
