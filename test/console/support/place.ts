// The whole program with planted data, and people who are signed in to its console.
import { start } from '../../../src/main.ts'
import { atEnd } from '../../support/ends.ts'
import { type World, world } from '../../support/world.ts'
import { type PlantedPerson, plant, type Who } from './plant.ts'
import { request, type SignedInAs, signIn } from './session.ts'

/** With an engine, what is sent from now on is delivered to the inbox of the installation. */
export async function place(env: Record<string, string> = {}, { engine = false } = {}) {
  const here = await world(env)
  const planted = await plant(here)
  if (engine) {
    const running = await start(here.config, { only: 'engine' })
    atEnd(running.stop)
  }
  return {
    ...here,
    planted,
    /** Always a new session. */
    signIn: (who: Who | PlantedPerson) => signIn(here.parts, typeof who === 'string' ? planted.people[who] : who),
    request: (who: SignedInAs | null, path: string, options?: Parameters<typeof request>[3]) =>
      request(here.address, who, path, options),
    /** How many rows of each table have been written or deleted so far, to see whether anything has changed. */
    changes: () => changesOf(here.parts),
  }
}

export type ConsolePlace = Awaited<ReturnType<typeof place>>

/** Columns and tables that a mere visit may change, or the engine beside it. */
const VISITS: Readonly<Record<string, readonly string[]>> = {
  sessions: ['last_seen_at'],
  people: ['last_seen_at', 'time_zone'],
  webhooks: ['stamp', 'seq', 'n', 'failures', 'failing_since', 'succeeded_at', 'ticket'],
}
const UNWATCHED = [
  'sign_in_tries',
  'sign_in_challenges',
  'spent_challenges',
  'tickets',
  'event_clock',
  'hourly_counts',
  'template_counts',
  'key_counts',
  'hourly_changes',
  'requests',
  'processes',
]

const watched = new WeakSet<World['parts']>()

async function changesOf(parts: World['parts']): Promise<Record<string, number>> {
  if (!watched.has(parts)) await watch(parts)
  watched.add(parts)
  const rows = await parts.db.sql<{ name: string; changes: number }>`
    select name, count(*)::int as changes from watch.changes group by name`
  return Object.fromEntries(rows.map(({ name, changes }) => [name, changes]))
}

/** From now on, every row that is written or deleted is noted by its own transaction; one that is written unchanged is not. */
async function watch({ db }: World['parts']): Promise<void> {
  const client = db.client()
  await client.connect()
  try {
    await client.query(`
      create schema watch;
      create unlogged table watch.changes (name text not null);
      create function watch.note() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'UPDATE' or to_jsonb(old) - tg_argv::text[] is distinct from to_jsonb(new) - tg_argv::text[] then
          insert into watch.changes values (tg_argv[0]);
        end if;
        return null;
      end $$`)
    const { rows: tables } = await client.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
    for (const { name } of tables) {
      if (UNWATCHED.includes(name)) continue
      const given = [name, ...(VISITS[name] ?? [])].map(one => `'${one}'`).join(', ')
      await client.query(`
        create trigger watched after insert or update or delete on ${name} for each row execute function watch.note(${given});
        create trigger emptied after truncate on ${name} for each statement execute function watch.note(${given})`)
    }
  } finally {
    await client.end()
  }
}
