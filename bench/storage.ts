// Where the status lives: measured before the tables were made (docs/decisions.md). Three ways to keep 50,000 messages that
// are inserted, handed over and delivered in groups of 64, each of them able to list a rare status by index:
//   wide    status in the message row, with an index on it
//   split   the message never changes; a narrow row carries the status, with an index on it
//   open    status in the message row without an index (HOT moves); a side table holds the ids of open and failed messages
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createClock } from '../src/core/clock.ts'
import { createIds } from '../src/core/id.ts'
import { startEmbedded } from '../src/db/embedded.ts'

const ROWS = 50_000
const GROUP = 64
const ROUNDS = 3

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
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, design] of Object.entries(designs)) {
      const client = new pg.Client({ host: server.host, user: server.user, database: server.database, port: 5432 })
      await client.connect()
      await client.query(`drop table if exists m, s, o; ${design.make}; checkpoint`)
      const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid as number
      const groups = Array.from({ length: Math.ceil(ROWS / GROUP) }, () =>
        Array.from({ length: GROUP }, () => ids.next()),
      )
      const wal = async () => Number((await client.query("select pg_current_wal_lsn() - '0/0' as at")).rows[0].at)
      const figures: number[] = []
      const before = await wal()
      const stage = async (work: (group: string[]) => Promise<unknown>) => {
        const cpu = cpuOf(pid)
        const at = performance.now()
        for (const group of groups) await work(group)
        figures.push(((cpuOf(pid) - cpu) * 1e6) / ROWS, performance.now() - at)
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
  console.log('design   insert µs (ms)   sending µs (ms)   delivered µs (ms)   total µs   WAL MB')
  for (const [name, rounds] of results) {
    const median = (at: number) =>
      rounds.map(round => round[at] ?? 0).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
    const cell = (at: number) => `${median(at).toFixed(1)} (${median(at + 1).toFixed(0)})`
    const total = median(0) + median(2) + median(4)
    console.log(
      `${name.padEnd(8)} ${cell(0).padEnd(16)} ${cell(2).padEnd(17)} ${cell(4).padEnd(19)} ${total.toFixed(1).padEnd(10)} ${(median(6) / 1e6).toFixed(0)}`,
    )
  }
} finally {
  await server.stop()
  rmSync(home, { recursive: true, force: true })
}

/** Seconds of processor time a process has used (Linux). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
