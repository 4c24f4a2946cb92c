// Where to store the status: measured before the tables were designed (docs/decisions.md). Three ways to store 50,000 messages that
// are inserted, handed over and delivered in groups of 64, each of them able to list a rare status by index:
//   wide    status in the message row, with an index on it
//   split   the message never changes; a narrow row carries the status, with an index on it
//   open    status in the message row without an index (HOT moves); a side table holds the ids of open and failed messages
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import { startEmbedded } from '../src/db/embedded.ts'
import { sizes } from './support/options.ts'
import { cpuSeconds } from './support/process.ts'
import { figure, median, print, table } from './support/report.ts'

const GROUP = 64
const { rows, repeats } = sizes({ rows: 50_000, repeats: 3 }, { rows: 1_000, repeats: 1 })

const facts = `service_id uuid not null, key_type text not null, channel text not null, in_job boolean not null,
  template_id uuid not null, template_version integer not null, reference text, sealed bytea not null, digest bytea not null`
const moves = `status text not null, sent_at timestamptz, completed_at timestamptz, provider_ref text`

const designs: Record<string, { make: string; insert: string; move: string }> = {
  wide: {
    make: `create table m (id uuid primary key, ${facts}, ${moves}) with (fillfactor = 50);
      create index on m (service_id, key_type, channel, in_job, id);
      create index on m (service_id, key_type, channel, in_job, status, id)`,
    insert: `insert into m (id, service_id, key_type, channel, in_job, template_id, template_version, sealed, digest, status)
      select id, $2, 'normal', 'email', false, $2, 1, sealed, digest, 'created' from unnest($1::uuid[], $3::bytea[], $4::bytea[]) as r (id, sealed, digest)`,
    move: `update m set status = $2, sent_at = coalesce(sent_at, now()), completed_at = $3, provider_ref = 'ref' where id = any ($1::uuid[])`,
  },
  split: {
    make: `create table m (id uuid primary key, ${facts});
      create index on m (service_id, key_type, channel, in_job, id);
      create table s (id uuid primary key, service_id uuid not null, key_type text not null, channel text not null, in_job boolean not null, ${moves});
      create index on s (service_id, key_type, channel, in_job, status, id)`,
    insert: `with r as (insert into m (id, service_id, key_type, channel, in_job, template_id, template_version, sealed, digest)
        select id, $2, 'normal', 'email', false, $2, 1, sealed, digest from unnest($1::uuid[], $3::bytea[], $4::bytea[]) as r (id, sealed, digest)
        returning id)
      insert into s (id, service_id, key_type, channel, in_job, status) select id, $2, 'normal', 'email', false, 'created' from r`,
    move: `update s set status = $2, sent_at = coalesce(sent_at, now()), completed_at = $3, provider_ref = 'ref' where id = any ($1::uuid[])`,
  },
  open: {
    make: `create table m (id uuid primary key, ${facts}, ${moves}) with (fillfactor = 50);
      create index on m (service_id, key_type, channel, in_job, id);
      create table o (service_id uuid not null, key_type text not null, channel text not null, in_job boolean not null, status text not null, id uuid not null,
        primary key (service_id, key_type, channel, in_job, status, id))`,
    insert: `with r as (insert into m (id, service_id, key_type, channel, in_job, template_id, template_version, sealed, digest, status)
        select id, $2, 'normal', 'email', false, $2, 1, sealed, digest, 'created' from unnest($1::uuid[], $3::bytea[], $4::bytea[]) as r (id, sealed, digest)
        returning id)
      insert into o (id, service_id, key_type, channel, in_job, status) select id, $2, 'normal', 'email', false, 'created' from r`,
    move: `with before as (select id, status from m where id = any ($1::uuid[])),
      moved as (update m set status = $2, sent_at = coalesce(sent_at, now()), completed_at = $3, provider_ref = 'ref' where id = any ($1::uuid[])
        returning id, service_id, key_type, channel, in_job),
      gone as (delete from o using before b, moved m where o.service_id = m.service_id and o.key_type = m.key_type and o.channel = m.channel
        and o.in_job = m.in_job and o.status = b.status and o.id = b.id and m.id = b.id)
      insert into o (id, service_id, key_type, channel, in_job, status)
      select id, service_id, key_type, channel, in_job, $2 from moved where $2 <> 'delivered'`,
  },
}

const home = mkdtempSync(join(tmpdir(), 'herald-bench-'))
chmodSync(home, 0o711)
const server = await startEmbedded(join(home, 'postgres'))
const service = '0190a1b2-c3d4-7000-8000-0123456789ab'
const ids = createIds(createClock())
const sealed = Buffer.alloc(300, 7)
const digest = Buffer.alloc(32, 9)

try {
  const results = new Map<string, number[][]>()
  for (let round = 0; round < repeats; round++)
    for (const [name, design] of Object.entries(designs)) {
      const client = new pg.Client({ host: server.host, user: server.user, database: server.database, port: 5432 })
      await client.connect()
      await client.query(`drop table if exists m, s, o; ${design.make}; checkpoint`)
      const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid as number
      const groups = Array.from({ length: Math.ceil(rows / GROUP) }, () =>
        Array.from({ length: GROUP }, () => ids.next()),
      )
      const wal = async () => Number((await client.query("select pg_current_wal_lsn() - '0/0' as at")).rows[0].at)
      const figures: number[] = []
      const before = await wal()
      const stage = async (work: (group: string[]) => Promise<unknown>) => {
        const cpu = cpuSeconds(pid)
        const at = performance.now()
        for (const group of groups) await work(group)
        figures.push(((cpuSeconds(pid) - cpu) * 1e6) / rows, performance.now() - at)
      }
      await stage(group =>
        client.query({
          name: 'insert',
          text: design.insert,
          values: [group, service, group.map(() => sealed), group.map(() => digest)],
        }),
      )
      await stage(group => client.query({ name: 'move', text: design.move, values: [group, 'sending', null] }))
      await stage(group =>
        client.query({ name: 'move', text: design.move, values: [group, 'delivered', '2026-01-01'] }),
      )
      figures.push((await wal()) - before)
      await client.end()
      results.set(name, [...(results.get(name) ?? []), figures])
    }
  const lines = [...results].map(([name, rounds]) => {
    const at = (column: number) => median(rounds.map(round => round[column] ?? 0))
    return { name, cpu: [at(0), at(2), at(4)], millis: [at(1), at(3), at(5)], wal: at(6) / 1e6 }
  })
  const total = (line: (typeof lines)[number] | undefined) => line?.cpu.reduce((sum, one) => sum + one, 0) ?? 0
  table(
    [
      'design',
      'insert µs',
      'sending µs',
      'delivered µs',
      'total µs',
      'insert ms',
      'sending ms',
      'delivered ms',
      'WAL MB',
    ],
    lines.map(line => [line.name, ...line.cpu, total(line), ...line.millis, line.wal]),
  )
  print(lines.map(line => figure(`storage_${line.name}`, total(line), 'µs', total(lines[0]))))
} finally {
  await server.stop()
  rmSync(home, { recursive: true, force: true })
}
