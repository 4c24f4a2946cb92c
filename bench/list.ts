// Reading one message, and pages of 250, with few and with many messages stored, by one caller in a loop. The yardstick is the
// same request with few messages: the cost must not grow. npm run bench -- list [--few 100000] [--stored 5000000] [--seconds 0.8]
// [--repeats 3]
import { floorOf, type Id } from '../src/core/id.ts'
import { createEnvironment, type Environment, type Running } from './support/environment.ts'
import { fill } from './support/fill.ts'
import { request } from './support/load.ts'
import { type Measured, measure, of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, median, print, table } from './support/report.ts'

const DAYS = 6
const DAY_MS = 86_400_000

const { few, stored, seconds, repeats, profile } = sizes(
  { few: 100_000, stored: 5_000_000, seconds: 0.8, repeats: 3 },
  { few: 4_000, stored: 20_000, seconds: 0.3, repeats: 1 },
)

type Answers = Map<string, Measured[]>

const environment = await createEnvironment()
const running = await environment.start({ profile })
try {
  await fill(environment, { from: 0, to: few, days: DAYS, status: 'delivered' })
  const ofFew = await askAll(environment, running)
  await environment.store.db.sql`truncate notifications, states`
  await fill(environment, { from: 0, to: stored, days: DAYS, status: 'delivered' })
  report(ofFew, await askAll(environment, running))
} finally {
  await running.stop()
  await environment.stop()
}

async function askAll(environment: Environment, running: Running): Promise<Answers> {
  const ids = await someIds(environment)
  const asking = (path: (id: Id) => string) =>
    ids.map(id => request('GET', path(id), { authorization: `ApiKey-v1 ${environment.key}` }))
  const questions: [string, string[]][] = [
    ['one', asking(id => `/v2/notifications/${id}`)],
    ['newest_page', asking(() => '/v2/notifications')],
    ['page', asking(id => `/v2/notifications?older_than=${id}`)],
    ['rare_status_page', asking(id => `/v2/notifications?status=permanent-failure&older_than=${id}`)],
    ['reference_page', asking(() => '/v2/notifications?reference=order-7')],
  ]
  const answers: Answers = new Map()
  for (const [question, requests] of questions) {
    const rounds: Measured[] = []
    for (let round = 0; round < repeats; round++)
      rounds.push(await measure(environment, [running], { requests, connections: 1, seconds, warmUp: 0.3 }, 200))
    answers.set(question, rounds)
  }
  return answers
}

/** Ids spread over the whole time window. */
async function someIds({ store }: Environment): Promise<Id[]> {
  const moments = Array.from({ length: 200 }, (_, n) =>
    floorOf((Date.now() - ((n + 0.5) / 200) * DAYS * DAY_MS) * 1000),
  )
  const rows = await store.db.sql<{ id: Id }>`
    select found.id
    from unnest(${moments}::uuid[]) as m (moment)
    cross join lateral (select id from notifications where id < m.moment order by id desc limit 1) found`
  return rows.map(row => row.id)
}

function report(ofFew: Answers, ofMany: Answers) {
  const rows = [...ofMany].map(([question, many]) => {
    const before = ofFew.get(question) ?? []
    return {
      cells: [
        question.replaceAll('_', ' '),
        of(many, 'perSecond'),
        of(many, 'p50'),
        of(many, 'p95'),
        of(before, 'p95'),
        of(many, 'nodeMicros'),
        of(many, 'databaseMicros'),
        of(before, 'databaseMicros'),
      ],
      growth: of(many, 'databaseMicros') / of(before, 'databaseMicros'),
      figures: [
        figure(`${question}_stored_${few}_p95`, of(before, 'p95'), 'ms', of(before, 'p95')),
        figure(`${question}_stored_${stored}_p95`, of(many, 'p95'), 'ms', of(before, 'p95')),
      ],
    }
  })
  table(
    [`${stored} stored, one caller`, '/s', 'p50 ms', 'p95 ms', `p95 of ${few}`, 'node µs', 'pg µs', `pg µs of ${few}`],
    rows.map(row => row.cells),
  )
  const growth = median(rows.map(row => row.growth))
  print([...rows.flatMap(row => row.figures), figure(`stored_${stored}_database_growth`, growth, '×', 1)])
}
