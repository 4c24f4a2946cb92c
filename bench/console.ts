// Pages of the console with many messages stored: the time from the request to the whole page, for one person. The counts of the
// overview are of 30 days and many templates. npm run bench -- console [--stored 1000000] [--templates 200] [--seconds 2]
// [--repeats 3]
import { floorOf, type Id } from '../src/core/id.ts'
import { recipientDigest } from '../src/notifications/notification.ts'
import { startSession } from '../src/people/session.ts'
import { formTokenOf } from '../src/people/token.ts'
import { addUser } from '../src/services/people.ts'
import { keepDraft } from '../src/templates/samples.ts'
import { createEnvironment, type Environment, OPERATOR, type Running } from './support/environment.ts'
import { fill } from './support/fill.ts'
import { request } from './support/load.ts'
import { type Measured, measure, of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'

const DAYS = 6
const COUNTED_DAYS = 30
/** Promised for every page: milliseconds at the 95th percentile. */
const MOST_MS = 100
const RECIPIENT = 'wanted@example.org'

const { stored, templates, seconds, repeats, profile } = sizes(
  { stored: 1_000_000, templates: 200, seconds: 2, repeats: 3 },
  { stored: 10_000, templates: 20, seconds: 0.3, repeats: 1 },
)

const environment = await createEnvironment()
const running = await environment.start({ profile, env: { HERALD_CAPTURE: '1' } })
try {
  await fill(environment, { from: 0, to: stored, days: DAYS, status: 'delivered' })
  await plantCounts(environment)
  await plantRecipient(environment)
  report(await askAll(environment, running))
} finally {
  await running.stop()
  await environment.stop()
}

/** As many counts as a busy service has: every hour with all classes of delivery time up to four minutes, every day all templates. */
async function plantCounts({ store, service }: Environment) {
  const now = Math.floor(Date.now() / 3_600_000)
  const client = store.db.client() // outside the pool: no timeout
  await client.connect()
  await client.query(
    `insert into hourly_counts (service_id, hour, channel, key_type, status, took, messages)
     select $1, h.hour, c.channel, 'normal', s.status, s.took, 1000
     from generate_series($2::integer, $3::integer) as h (hour)
     cross join (values ('email'), ('sms')) as c (channel)
     cross join (select 'delivered' as status, took from generate_series(0, 30) as t (took)
                 union all
                 values ('permanent-failure', -1), ('temporary-failure', -1), ('sending', -1)) s`,
    [service, now - COUNTED_DAYS * 24, now],
  )
  await client.query(
    `insert into template_counts (service_id, day, template_id, key_type, status, messages)
     select $1, d.day, t.template_id, 'normal', s.status, 100
     from generate_series($2::integer, $3::integer) as d (day)
     cross join (select gen_random_uuid() as template_id from generate_series(1, $4::integer)) t
     cross join (values ('delivered'), ('permanent-failure'), ('temporary-failure'), ('sending')) as s (status)`,
    [service, Math.floor(now / 24) - COUNTED_DAYS, Math.floor(now / 24), templates],
  )
  // What maintenance has not added up yet.
  await client.query(
    `insert into hourly_changes (service_id, hour, channel, key_type, template_id, status, took, messages)
     select $1, $2, 'email', 'normal', gen_random_uuid(), 'delivered', 7, 1
     from generate_series(1, 2000)`,
    [service, now],
  )
  await client.query('vacuum (analyze) hourly_counts, template_counts, hourly_changes')
  await client.end()
}

/** Some twenty messages of one recipient among all. */
async function plantRecipient({ store, service }: Environment) {
  const digest = recipientDigest(store.seal, service, 'email', RECIPIENT)
  await store.db.sql`
    with newest as (select id from notifications where service_id = ${service} order by id desc limit 2000)
    update notifications set recipient_digest = ${digest}
    where id in (select id from (select id, row_number() over (order by id) as n from newest) numbered where n % 100 = 0)`
}

async function askAll(environment: Environment, running: Running): Promise<Map<string, Measured[]>> {
  const { store, service, templates } = environment
  const { sql } = store.db
  const user = await addUser(store, OPERATOR, service, { name: 'Mira Holt', email_address: 'mira@example.org' })
  const [row] = await sql<{ person_id: Id }>`
    update users set role = 'manager' where id = ${user.id} returning person_id`
  if (!row) throw new Error('the member has no person')
  const person = { id: row.person_id, name: 'Mira Holt', email_address: 'mira@example.org' }
  const { token } = await startSession(store, person, { method: 'link', device: 'bench' })
  const [middle] = await sql<{ id: Id }>`
    select id from notifications where id < ${floorOf((Date.now() - 2 * 86_400_000) * 1000)} order by id desc limit 1`
  const draft = await keepDraft(
    store,
    { kind: 'person', ...person, service_id: service, permissions: ['manage-templates'] },
    service,
    templates.email,
    { draft: { subject: '((new))', content: '((new))' }, values: {}, version: 1 },
  )
  const cookie = { cookie: `herald-console=${token}`, accept: 'text/html' }
  const page = (path: string) => [request('GET', `/console/s/${service}${path}`, cookie)]
  const found = await searched(running.address, service, token)
  const questions: [string, string[]][] = [
    ['overview', page('')],
    ['overview_counts', page('/counts')],
    ['list', page('/messages')],
    ['list_filtered', page('/messages?status=failed&kind=email&since=7')],
    ['list_of_template', page(`/messages?template=${templates.email}`)],
    ['list_failed_of_template', page(`/messages?template=${templates.email}&status=failed`)],
    ['list_in_transit_of_template', page(`/messages?template=${templates.email}&status=in-transit`)],
    ['list_of_unused_template', page(`/messages?template=${service}`)],
    ['list_scheduled', page('/messages?status=scheduled')],
    ['list_of_other_key', page('/messages?key=team&since=yesterday')],
    ['list_deep', page(`/messages?before=${middle?.id}`)],
    ['list_newer', page(`/messages?after=${middle?.id}`)],
    ['search_by_recipient', page(found)],
    ['message', page(`/messages/${middle?.id}`)],
    ['templates', page('/templates')],
    ['template', page(`/templates/${templates.email}`)],
    ['placeholder_added', page(`/templates/${templates.email}/confirm?draft=${draft}`)],
  ]
  const answers = new Map<string, Measured[]>()
  for (const [question, requests] of questions) {
    const rounds: Measured[] = []
    for (let round = 0; round < repeats; round++)
      rounds.push(await measure(environment, [running], { requests, connections: 1, seconds, warmUp: 0.5 }, 200))
    answers.set(question, rounds)
  }
  return answers
}

/** The search is a form: the answer leads to an address without the recipient. */
async function searched(address: string, service: Id, token: string): Promise<string> {
  const reply = await fetch(`${address}/console/s/${service}/messages/search`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie: `herald-console=${token}`,
      origin: address,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ form_token: formTokenOf(token), q: RECIPIENT }).toString(),
  })
  const location = reply.headers.get('location')
  if (!location) throw new Error(`the search was answered with ${reply.status}`)
  return location.slice(location.indexOf(service) + service.length)
}

function report(answers: Map<string, Measured[]>) {
  const rows = [...answers].map(([question, rounds]) => ({ question, rounds, p95: of(rounds, 'p95') }))
  table(
    [`${stored} stored, one person`, '/s', 'p50 ms', 'p95 ms', 'node µs', 'pg µs'],
    rows.map(({ question, rounds, p95 }) => [
      question.replaceAll('_', ' '),
      of(rounds, 'perSecond'),
      of(rounds, 'p50'),
      p95,
      of(rounds, 'nodeMicros'),
      of(rounds, 'databaseMicros'),
    ]),
  )
  print(rows.map(({ question, p95 }) => figure(`console_${question}_stored_${stored}_p95`, p95, 'ms', MOST_MS)))
  const slow = rows.filter(({ p95 }) => p95 > MOST_MS)
  if (slow.length > 0) console.log(`slower than ${MOST_MS} ms: ${slow.map(({ question }) => question).join(', ')}`)
}
