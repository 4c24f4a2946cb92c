// The whole program with planted data, and people who are signed in to its console.
import { afterAll } from 'vitest'
import { start } from '../../../src/main.ts'
import { world } from '../../support/world.ts'
import { type PlantedPerson, plant, type Who } from './plant.ts'
import { request, type SignedInAs, signIn } from './session.ts'

// Registered when the file is loaded, and after that of the world: it runs first.
const ends: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** With an engine, what is sent from now on is delivered to the inbox of the installation. */
export async function place(env: Record<string, string> = {}, { engine = false } = {}) {
  const here = await world(env)
  const planted = await plant(here)
  if (engine) {
    const running = await start(here.config, { only: 'engine' })
    ends.push(running.stop)
  }
  return {
    ...here,
    planted,
    /** Always a new session. */
    signIn: (who: Who | PlantedPerson) => signIn(here.parts, typeof who === 'string' ? planted.people[who] : who),
    request: (who: SignedInAs | null, path: string, options?: Parameters<typeof request>[3]) =>
      request(here.address, who, path, options),
    /** A digest of every table, to see whether anything has changed. */
    contents: () => contentsOf(here.parts),
  }
}

export type ConsolePlace = Awaited<ReturnType<typeof place>>

/** Columns and tables that a mere visit may change. */
const VISITS: Readonly<Record<string, string>> = {
  sessions: "- 'last_seen_at'",
  people: "- 'last_seen_at' - 'time_zone'",
}
const UNWATCHED = [
  'sign_in_tries',
  'sign_in_challenges',
  'tickets',
  'event_clock',
  'hourly_counts',
  'template_counts',
  'hourly_changes',
  'requests',
]

async function contentsOf({ db }: Awaited<ReturnType<typeof world>>['parts']): Promise<Record<string, string>> {
  const client = db.client()
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
    const watched = tables.map(({ name }) => name).filter(name => !UNWATCHED.includes(name))
    const statement = watched
      .map(
        name =>
          `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(row, ',' order by row)), '') as digest
           from (select (to_jsonb(t) ${VISITS[name] ?? ''})::text as row from ${name} t) rows`,
      )
      .join(' union all ')
    const { rows } = await client.query<{ name: string; digest: string }>(statement)
    return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
  } finally {
    await client.end()
  }
}
