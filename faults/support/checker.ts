// The invariants of reliability 6.2 over what callers were answered (A), what the database contains (N) and what arrived (K).
import type { Sql } from '../../src/db/connect.ts'
import type { Answer, Job, Reply } from './client.ts'
import { wrongCounts } from './count-checker.ts'
import type { Death } from './herald.ts'
import type { Arrival } from './sink.ts'

export type Scope = {
  services: readonly string[]
  answers: readonly Answer[]
  jobs: readonly Job[]
  refusals: readonly Reply[]
  arrivals: readonly Arrival[]
  deaths: readonly Death[]
  /** Logs and metrics: all output besides the messages. */
  logs: readonly string[]
  /** Keys and secrets that must not appear in any log. */
  secrets: readonly string[]
  /** The most extra sends that the injected faults may have caused. */
  mostExtra: number
  /** Whether a process was killed: counters may then exceed what was accepted. */
  killed: boolean
  /** Whether messages may still be waiting. */
  drained: boolean
  /** False: the block itself has changed ids or times of messages in the database, which no count follows. */
  isCounted: boolean
  /** Sending is held, so no ticket is taken. */
  isHeld?: boolean
}

export type Counts = {
  accepted: number
  stored: number
  arrived: number
  extra: number
  uncertain: number
  unanswered: number
  lost: number
  refused: number
  deaths: number
  /** Moves of all messages, replayed against the table of moves. */
  moves: number
  /** Accepted bulk jobs, and the rows in them. */
  jobs: number
  rows: number
}

type Row = {
  id: string
  job_id: string | null
  service_id: string
  key_type: string
  channel: string
  scheduled_ms: number | null
  status: string
  sent_ms: number | null
  completed_ms: number | null
  provider: string | null
  provider_response: string | null
  attempts: number
  uncertain: boolean
  moves: string[]
  age_seconds: number
}

/**
 * Contract 6.3, with reliability 3: a receipt may arrive before our own commit. Written from the tables of the contract, not from
 * the code.
 */
const AFTER_RECEIPT = ['delivered', 'permanent-failure', 'temporary-failure', 'technical-failure']
export const MOVES: Record<'email' | 'sms', Record<string, readonly string[]>> = {
  email: {
    'pending-virus-check': ['created', 'virus-scan-failed', 'technical-failure', 'cancelled'],
    created: ['cancelled', 'sending', 'sent', 'pending', ...AFTER_RECEIPT],
    sending: ['pending', ...AFTER_RECEIPT],
    pending: AFTER_RECEIPT,
    delivered: ['permanent-failure', 'temporary-failure'],
    'temporary-failure': ['delivered', 'permanent-failure'],
  },
  sms: {
    'pending-virus-check': ['created', 'virus-scan-failed', 'technical-failure', 'cancelled'],
    created: ['cancelled', 'sending', 'sent', 'pending', ...AFTER_RECEIPT],
    sending: ['pending', ...AFTER_RECEIPT],
    pending: AFTER_RECEIPT,
  },
}
const OPEN = ['created', 'pending-virus-check']
const HANDED = ['sending', 'sent', 'pending', 'delivered']
const FINAL = [
  'sent',
  'delivered',
  'permanent-failure',
  'temporary-failure',
  'technical-failure',
  'virus-scan-failed',
  'cancelled',
]

/** Violations as sentences with an example each, and the counts. */
export async function check(sql: Sql, scope: Scope): Promise<{ violations: string[]; counts: Counts }> {
  const rows = await stored(sql, scope.services)
  const byId = new Map(rows.map(row => [row.id, row]))
  const accepted = scope.answers.filter(answer => answer.id !== null)
  const acceptedIds = new Set(accepted.map(answer => answer.id ?? ''))
  const arrived = new Map<string, Arrival[]>()
  for (const arrival of scope.arrivals) {
    if (!byId.has(arrival.id)) continue
    const list = arrived.get(arrival.id)
    if (list) list.push(arrival)
    else arrived.set(arrival.id, [arrival])
  }
  const asked = new Map<string, { id: string | null; to: string }>(scope.answers.map(answer => [answer.token, answer]))
  for (const { rows } of scope.jobs) for (const { token, to } of rows) asked.set(token, { id: null, to })
  const acceptedJobs = new Set(scope.jobs.map(job => job.id))
  const tickets = await sql<{ id: string; lane: string; subjects: string[]; overdue: boolean }>`
    select id, lane, subjects, leased_until is not null and leased_until < clock_timestamp() - interval '10 seconds' as overdue
    from tickets
    where service_id = any (${scope.services}::uuid[])`
  const waiting = new Set(tickets.flatMap(ticket => ticket.subjects))
  const strangers = await unknown(sql, scope.arrivals, byId)
  const violations: string[] = []
  const must = (promise: string, bad: readonly unknown[]) => {
    if (bad.length > 0) violations.push(`${promise}: ${bad.length}, e.g. ${JSON.stringify(bad[0])}`)
  }
  const times = (id: string) => arrived.get(id)?.length ?? 0
  const lost = [...acceptedIds].filter(id => !byId.has(id))

  must('1 accepted but not in the database', lost)
  must('2 arrived but not in the database', strangers)
  const unanswered = rows.filter(row => !(row.job_id === null ? acceptedIds.has(row.id) : acceptedJobs.has(row.job_id)))
  if ([...scope.answers, ...scope.jobs].every(answer => answer.idempotencyKey !== null))
    must('3 stored but never answered, though every caller asked again', unanswered)
  must(
    '4 handed over but not arrived',
    rows.filter(row => row.key_type !== 'test' && HANDED.includes(row.status) && times(row.id) === 0),
  )
  must(
    '4 arrived though it must not (test key, cancelled, future)',
    rows.filter(row => mayNotArrive(row) && times(row.id) > 0),
  )
  must(
    '4 technical-failure though it arrived for certain',
    rows.filter(row => row.status === 'technical-failure' && times(row.id) > 0 && !row.uncertain),
  )
  must(
    '5 more arrivals than attempts',
    rows.filter(row => times(row.id) > row.attempts && row.status !== 'created'),
  )
  must(
    '5 more than one arrival, not marked uncertain',
    rows.filter(row => times(row.id) > 1 && !row.uncertain),
  )
  const extra = [...arrived.values()].reduce((sum, list) => sum + list.length - 1, 0)
  if (extra > scope.mostExtra) violations.push(`5 extra sends: ${extra}, allowed ${scope.mostExtra}`)
  must('6 one Message-ID, recipient and body each', [...arrived.values()].filter(isMixed))
  must(
    '6 not what was asked for',
    [...arrived.values()].flat().filter(arrival => {
      const one = asked.get(arrival.token)
      return !one || one.to !== arrival.to || (one.id !== null && one.id !== arrival.id)
    }),
  )
  const { wrong, rows: jobRows, missing } = await judgedJobs(sql, scope)
  must('7 jobs', wrong)
  must('8 counters', await miscounted(sql, scope))
  must(
    '9 moves',
    rows.filter(row => !isLegal(row)),
  )
  must(
    '10 open without a ticket',
    rows.filter(row => OPEN.includes(row.status) && !waiting.has(row.id)),
  )
  // The ticket of an endpoint waits for its next attempt.
  if (scope.drained)
    must(
      '10 tickets left',
      tickets.filter(ticket => ticket.lane !== 'webhooks'),
    )
  // A copy that is held takes no ticket: those that the original was sending keep their leases.
  if (!scope.isHeld)
    must(
      '10 leases long over',
      tickets.filter(ticket => ticket.overdue),
    )
  must(
    '11 scheduled, sent too early',
    rows.filter(row => row.scheduled_ms !== null && (arrived.get(row.id)?.[0]?.at ?? Infinity) < row.scheduled_ms - 5),
  )
  must('12 personal or secret things in a log', canaries(scope))
  must(
    '13 answers not in the shape of the interface',
    [...scope.answers, ...scope.jobs, ...scope.refusals]
      .filter(answer => !hasShape(answer))
      .map(({ status, body }) => ({ status, body: body.slice(0, 300) })),
  )
  must(
    '14 ends without a cause',
    scope.deaths.filter(death => !death.injected),
  )
  must(
    '14 unhandled in a log',
    scope.logs
      .filter(log => /unhandled|UnhandledPromise|uncaught/i.test(log))
      .map(log => /.*unhandled.*|.*uncaught.*/i.exec(log)?.[0]),
  )
  if (scope.isCounted) must('H1 hourly counts that differ from the messages', await wrongCounts(sql, scope.services))
  must(
    'O4 provider_response outside technical-failure',
    rows.filter(row => row.provider_response !== null && row.status !== 'technical-failure'),
  )
  must(
    'O4 completed_at',
    rows.filter(row => (row.completed_ms !== null) !== FINAL.includes(row.status)),
  )
  must(
    'O4 sent_at after completed_at',
    rows.filter(row => row.sent_ms !== null && row.completed_ms !== null && row.sent_ms > row.completed_ms),
  )
  must(
    'O5 stuck',
    rows.filter(
      row => row.status === 'created' && row.age_seconds > 300 && row.scheduled_ms === null && !waiting.has(row.id),
    ),
  )
  return {
    violations,
    counts: {
      accepted: acceptedIds.size,
      stored: rows.length,
      arrived: arrived.size,
      extra,
      uncertain: rows.filter(row => row.uncertain).length,
      unanswered: unanswered.length,
      lost: lost.length + missing + (scope.drained ? rows.filter(row => isOpen(row)).length : 0),
      refused: scope.answers.length - accepted.length,
      deaths: scope.deaths.length,
      moves: rows.reduce((sum, row) => sum + row.moves.length, 0),
      jobs: scope.jobs.filter(job => job.id !== null).length,
      rows: jobRows,
    },
  }
}

const stored = (sql: Sql, services: readonly string[]) => sql<Row>`
  select n.id, n.job_id, n.service_id, n.key_type, n.channel, (extract(epoch from n.scheduled_for) * 1000)::float8 as scheduled_ms, s.status,
         (extract(epoch from s.sent_at) * 1000)::float8 as sent_ms,
         (extract(epoch from s.completed_at) * 1000)::float8 as completed_ms, s.provider, s.provider_response, s.attempts,
         s.uncertain, s.moves, extract(epoch from clock_timestamp() - uuid_time(n.id))::float8 as age_seconds
  from notifications n
  join states s on s.id = n.id
  where n.service_id = any (${services}::uuid[])`

async function unknown(sql: Sql, arrivals: readonly Arrival[], known: ReadonlyMap<string, unknown>) {
  const ids = [...new Set(arrivals.map(arrival => arrival.id))].filter(id => !known.has(id))
  const found = await sql<{
    id: string
  }>`select id from notifications where id = any (${ids.filter(id => id !== '')}::uuid[])`
  const all = new Set(found.map(row => row.id))
  return ids.filter(id => !all.has(id))
}

const isOpen = (row: Row) => row.status === 'created' && (row.scheduled_ms ?? 0) < Date.now()

const mayNotArrive = (row: Row) =>
  row.key_type === 'test' ||
  row.status === 'cancelled' ||
  row.status === 'virus-scan-failed' ||
  (row.scheduled_ms ?? 0) > Date.now()

const isMixed = (list: readonly Arrival[]) =>
  new Set(list.map(({ messageId, to, hash, token }) => `${messageId} ${to} ${hash} ${token}`)).size > 1

/** Count = rows = distinct rows, and statistics that add up; chunks exist only where rows are not expanded yet. */
async function judgedJobs(sql: Sql, { services, jobs: asked, drained }: Scope) {
  const jobs = await sql<{
    id: string
    status: string
    count: number
    stored: number
    distinct_rows: number
    chunks: number
    counted: number
    miscounted: number
  }>`
    select j.id, j.status, j.notification_count as count,
           count(n.id)::integer as stored, count(distinct n.job_row)::integer as distinct_rows,
           (select count(*) from chunks c where c.job_id = j.id)::integer as chunks,
           (select coalesce(sum(c.messages), 0) from job_counts c where c.job_id = j.id)::integer as counted,
           (select count(*)
            from job_counts c
            where c.job_id = j.id
              and c.messages <> (select count(*) from states s where s.job_id = j.id and s.status = c.status
                                 and s.service_id = j.service_id))::integer as miscounted
    from jobs j
    left join notifications n on n.job_id = j.id and n.service_id = j.service_id and n.in_job
    where j.service_id = any (${services}::uuid[])
    group by j.id`
  const lengths = new Map(asked.map(job => [job.id, job.rows.length]))
  const missing = jobs.filter(job => drained && job.status !== 'cancelled').map(job => job.count - job.stored)
  const wrong = [
    ...jobs.filter(job => {
      const isWhole = job.stored === job.count && job.chunks === 0
      const isRight = job.status === 'cancelled' ? job.stored === 0 && job.chunks === 0 : !drained || isWhole
      const isSame = (lengths.get(job.id) ?? job.count) === job.count
      return (
        !isRight || !isSame || job.distinct_rows !== job.stored || job.counted !== job.stored || job.miscounted !== 0
      )
    }),
    ...asked.filter(job => job.id !== null && !jobs.some(one => one.id === job.id)).map(job => ({ lost: job.id })),
  ]
  const rows = asked.filter(job => job.id !== null).reduce((sum, job) => sum + job.rows.length, 0)
  return { wrong, rows, missing: missing.reduce((sum, count) => sum + count, 0) }
}

/** Recipients and tokens of the test by pattern, keys literally. Digits inside a longer number are ignored. */
function canaries({ logs, secrets }: Scope): string[] {
  const look = /.{0,80}(?:@example\.org|(?<![\d.])\+?1613555\d{4}(?!\d)|\btk[0-9a-z]{1,8}k\b|whsec_[\w+/]{8}).{0,40}/
  return logs.flatMap(log => {
    const secret = secrets.find(one => log.includes(one))
    return secret === undefined ? (look.exec(log)?.[0] ?? []) : [`a secret: ${secret.slice(0, 12)}…`]
  })
}

/**
 * The counter of a day and the messages that are due on that day. Where the block has changed times, a message may be due on another
 * day than the one it was counted on: all days together are compared then.
 */
const miscounted = (sql: Sql, { services, killed, isCounted }: Pick<Scope, 'services' | 'killed' | 'isCounted'>) => sql`
  select u.*, coalesce(m.messages, 0) as messages
  from (select service_id, channel, case when ${isCounted} then day end as day, sum(used)::integer as used,
               bool_or(used > most) as is_exceeded
        from usage
        where service_id = any (${services}::uuid[])
        group by 1, 2, 3) u
  left join (select n.service_id, n.channel,
                    case when ${isCounted} then (coalesce(n.scheduled_for, uuid_time(n.id)) at time zone 'UTC')::date end as day,
                    count(*)::integer as messages
             from notifications n
             join states s on s.id = n.id
             where n.key_type <> 'test' and s.status <> 'cancelled' and n.service_id = any (${services}::uuid[])
             group by 1, 2, 3) m
    on m.service_id = u.service_id and m.channel = u.channel and m.day is not distinct from u.day
  where u.used < coalesce(m.messages, 0)
     or u.is_exceeded
     or (not ${killed} and u.used <> coalesce(m.messages, 0))`

function isLegal({ channel, moves, status }: Row): boolean {
  const table = MOVES[channel === 'sms' ? 'sms' : 'email']
  if (moves[0] !== 'created' && moves[0] !== 'pending-virus-check') return false
  return moves.every((to, at) => at === 0 || table[moves[at - 1] ?? '']?.includes(to)) && moves.at(-1) === status
}

function hasShape({ status, body }: { status: number; body: string }): boolean {
  if (status < 400) return true
  try {
    const { errors, status_code } = JSON.parse(body) as {
      errors: { error: string; message: string }[]
      status_code: number
    }
    return (
      status_code === status && errors.every(one => typeof one.error === 'string' && typeof one.message === 'string')
    )
  } catch {
    return false
  }
}
