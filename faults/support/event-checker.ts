// What must hold between statuses, the log of events, readers of the feed and endpoints. The changes of status are recorded
// independently, by a trigger of the test run: a row of its own in the same commit, for each change.
import type { Database, Sql } from '../../src/db/connect.ts'
import { eventId, STATUS_TYPES } from '../../src/events/event.ts'
import type { Page } from './reader.ts'
import type { Delivery } from './receiver.ts'

/** An event of the log, in the order of the log. */
export type Logged = { id: string; service: string; keyType: string; type: string; about: string; cause: string }

export type Watch = { stop(): Promise<void> }

/** Records every change of status from now on. Nothing may be running: it locks the table. */
export async function watchChanges({ script }: Pick<Database, 'script'>): Promise<Watch> {
  await script(`
    drop schema if exists faults cascade;
    create schema faults;
    create table faults.changes (n bigserial primary key, id uuid not null, service_id uuid not null, status text not null);
    create function faults.note_change() returns trigger language plpgsql as $$
    begin
      insert into faults.changes (id, service_id, status) values (new.id, new.service_id, new.status);
      return null;
    end $$;
    create trigger faults_note_change after update on states for each row
      when (old.status is distinct from new.status) execute function faults.note_change()`)
  return {
    stop: () => script('drop trigger if exists faults_note_change on states; drop schema if exists faults cascade'),
  }
}

export type Judged = { violations: string[]; changes: number; events: Logged[] }

/** The log against the changes of status, in both directions, and the events of jobs. */
export async function judgeLog(sql: Sql, services: readonly string[]): Promise<Judged> {
  const violations = createViolations()
  const changes = await sql<{ id: string; statuses: string[] }>`
    select id, array_agg('notification.' || status order by n) as statuses
    from faults.changes
    where service_id = any (${services}::uuid[])
    group by id`
  const events = await readLog(sql, services)
  const statusTypes: ReadonlySet<string> = new Set(STATUS_TYPES)
  const byMessage = grouped(events.filter(event => statusTypes.has(event.type)))
  const changed = new Set(changes.map(change => change.id))
  violations.must(
    'changes of status that are not exactly the events of the message',
    changes
      .map(({ id, statuses }) => ({ id, statuses, logged: (byMessage.get(id) ?? []).map(event => event.type) }))
      .filter(({ statuses, logged }) => statuses.join() !== logged.join()),
  )
  violations.must(
    'events without a change of status',
    [...byMessage.keys()].filter(id => !changed.has(id)),
  )
  violations.must('events with the same id', repeated(events.map(event => event.id)))
  violations.must('events that cannot be found from their message', await unmarked(sql, services))
  violations.must('events of jobs', await judgeJobs(sql, services, events))
  return { violations: violations.all, changes: changes.reduce((sum, one) => sum + one.statuses.length, 0), events }
}

async function readLog(sql: Sql, services: readonly string[]): Promise<Logged[]> {
  type Row = { id: string; service_id: string; key_type: string; type: string; subjects: string[]; cause: string }
  const rows = await sql<Row>`
    select id, service_id, key_type, type, subjects, cause
    from events
    where service_id = any (${services}::uuid[])
    order by stamp, seq`
  return rows.flatMap(({ id, service_id: service, key_type: keyType, type, subjects, cause }) =>
    subjects.map((about, n) => ({ id: eventId(id as never, n) as string, service, keyType, type, about, cause })),
  )
}

/** Events are found by the moments in `states.logged`: the id of an event begins with one of them. */
const unmarked = (sql: Sql, services: readonly string[]) => sql`
  select e.id, m.id as about, s.logged
  from events e
  cross join unnest(e.subjects) as m (id)
  join states s on s.id = m.id
  where e.service_id = any (${services}::uuid[])
    and e.channel is not null
    and not exists (select
                    from unnest(s.logged) as t (moment)
                    where left(replace(e.id::text, '-', ''), 16) = left(replace(event_floor(t.moment)::text, '-', ''), 16))`

async function judgeJobs(sql: Sql, services: readonly string[], events: readonly Logged[]) {
  const jobs = await sql<{ id: string; status: string }>`
    select id, status from jobs where service_id = any (${services}::uuid[])`
  const byJob = grouped(events.filter(event => event.type.startsWith('job.')))
  const expected: Record<string, string> = {
    finished: 'job.accepted,job.started,job.finished',
    cancelled: 'job.accepted,job.cancelled',
  }
  return jobs
    .map(job => ({ ...job, logged: (byJob.get(job.id) ?? []).map(event => event.type).join() }))
    .filter(({ status, logged }) => expected[status] !== undefined && expected[status] !== logged)
}

/** Every event of the log once, in the order of the log. */
export function judgeFeed(name: string, log: readonly Logged[], pages: readonly Page[]): string[] {
  const violations = createViolations()
  const read = pages.flatMap(page => page.events)
  const seen = new Set(read.map(event => event.id))
  const known = new Map(log.map(event => [event.id, event]))
  violations.must(
    `${name}: events that the reader missed`,
    log.filter(event => !seen.has(event.id)),
  )
  violations.must(`${name}: events that the reader saw twice`, repeated(read.map(event => event.id)))
  violations.must(
    `${name}: events that are not in the log`,
    read.filter(event => known.get(event.id)?.type !== event.type || known.get(event.id)?.about !== event.about),
  )
  const inOrder = log.filter(event => seen.has(event.id))
  violations.must(`${name}: events out of order`, read.filter((event, at) => event.id !== inOrder[at]?.id).slice(0, 3))
  return violations.all
}

export type Received = { violations: string[]; events: number; repeats: number }

/**
 * Every event of the log at least once with success, signed, with the id and content of the log; those of one message in order:
 * none succeeds for the first time before the one before it.
 */
export function judgeEndpoint(name: string, log: readonly Logged[], all: readonly Delivery[]): Received {
  const violations = createViolations()
  const deliveries = all.filter(delivery => delivery.endpoint === name)
  const taken = deliveries.filter(delivery => delivery.answer === 200).flatMap(delivery => delivery.events)
  const isCallback = taken.some(event => event.id === '')
  const keyOf = (event: { id: string; type: string; about: string }) =>
    isCallback ? `${event.about} ${event.type}` : `${event.id} ${event.type} ${event.about}`
  const first = new Map<string, number>()
  for (const [at, event] of taken.entries()) if (!first.has(keyOf(event))) first.set(keyOf(event), at)
  const known = new Set(log.map(keyOf))
  violations.must(
    `${name}: events that did not arrive`,
    log.filter(event => !first.has(keyOf(event))),
  )
  violations.must(
    `${name}: events that are not in the log`,
    taken.filter(event => !known.has(keyOf(event))),
  )
  violations.must(
    `${name}: requests without a valid signature`,
    deliveries.filter(delivery => !delivery.isSigned).map(({ webhookId, answer }) => ({ webhookId, answer })),
  )
  const last = new Map<string, number>()
  const late: Logged[] = []
  for (const event of log) {
    const at = first.get(keyOf(event)) ?? Infinity
    if (at < (last.get(event.about) ?? -1)) late.push(event)
    last.set(event.about, at)
  }
  violations.must(`${name}: events before the one before them`, late)
  return { violations: violations.all, events: first.size, repeats: taken.length - first.size }
}

function createViolations() {
  const all: string[] = []
  return {
    all,
    must(what: string, bad: readonly unknown[]) {
      if (bad.length > 0) all.push(`${what}: ${bad.length}, e.g. ${JSON.stringify(bad[0])}`)
    },
  }
}

function grouped(events: readonly Logged[]): Map<string, Logged[]> {
  const all = new Map<string, Logged[]>()
  for (const event of events) all.set(event.about, [...(all.get(event.about) ?? []), event])
  return all
}

const repeated = (ids: readonly string[]) => {
  const seen = new Set<string>()
  return ids.filter(id => seen.size === seen.add(id).size)
}
