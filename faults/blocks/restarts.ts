// Rolling restarts, stops while a provider hangs, and migrations, all under load.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate, migrations, retryLocks } from '../../src/db/migrate.ts'
import { type Client, createClient, type Sender } from '../support/client.ts'
import type { Environment } from '../support/environment.ts'
import type { App } from '../support/herald.ts'
import { type Block, factorOf, percentile, type Verdict, verdict } from '../support/promise.ts'
import { createBalancer } from '../support/relay.ts'

const PATIENT = { HERALD_LEASE_SECONDS: '30' }
const pick = (senders: readonly Sender[], n: number) => senders[n % senders.length] as Sender

export const rollingRestart: Block = {
  name: 'rolling restart behind a load balancer',
  async run(environment) {
    const restarts = environment.isLong ? 10 : 3
    const env = { ...PATIENT, HERALD_NOTICE_SECONDS: '1' }
    const result = await environment.scenario({ apps: 2, env }, async ({ apps, client, senders }) => {
      const balancer = await createBalancer(apps.map(app => app.address))
      try {
        const mine = createClient(() => [balancer.address], { sockets: 16, scheduling: 'fifo' })
        const stops: number[] = []
        const end = goOn(mine, senders)
        for (let restart = 0; restart < restarts; restart++) {
          const app = apps[restart % apps.length] as App
          stops.push(await app.term())
          await app.start()
          await sleep(300) // until the load balancer has noticed
        }
        await end()
        client.answers.push(...mine.answers)
        return { stops, failed: mine.answers.filter(answer => answer.status !== 201) }
      } finally {
        await balancer.stop()
      }
    })
    const { counts, failed } = result
    return [
      verdict(
        'S1',
        'rolling restart under keep-alive load',
        '0 failed requests, 0 extra sends',
        `${restarts} restarts, ${counts.accepted} requests answered, ${failed.length} failed, ${counts.extra} extra, ${counts.lost} lost`,
        {
          'enough requests': counts.accepted >= 50 * restarts,
          'none failed': failed.length === 0,
          'no extra': counts.extra === 0,
          'none lost': counts.lost === 0,
        },
        [...result.violations, ...failed.slice(0, 2).map(({ status, body }) => `${status} ${body}`)],
      ),
      await stopWhileHanging(environment, result.stops),
    ]
  },
}

/** Requests at a steady rate, none of them repeated, until the end is requested. */
function goOn(client: Client, senders: readonly Sender[]): () => Promise<void> {
  let isOver = false
  const running = (async () => {
    while (!isOver) await client.load(20, 80, n => ({ sender: pick(senders, n) }))
  })()
  return async () => {
    isOver = true
    await running
  }
}

async function stopWhileHanging(environment: Environment, stops: readonly number[]): Promise<Verdict> {
  const hangs = 3
  const result = await environment.scenario(
    { apps: 1, env: PATIENT },
    async ({ apps, app, client, senders, allow }) => {
      const [leaver] = apps as [App]
      await environment.sink.set({ rules: [{ prefix: 'hang-', what: 'hang-after', times: 1 }] })
      allow.extra = hangs
      await Promise.all(
        Array.from({ length: hangs }, (_, n) =>
          client.send({ sender: pick(senders, n), to: `hang-${n}@example.org`, isUrgent: true }),
        ),
      )
      const isUnderWay = () => environment.sink.arrivals().filter(one => one.to.startsWith('hang-')).length >= hangs
      for (let tries = 0; tries < 200 && !isUnderWay(); tries++) await sleep(50)
      const seconds = await leaver.term()
      await app({}) // sends them again; only the marker distinguishes them
      return { seconds }
    },
  )
  const usual = Math.max(...stops)
  return verdict(
    'S2',
    'SIGTERM: finish, record, exit; also while a mail server says nothing',
    '≤ 10 s',
    `${usual.toFixed(1)} s under load (1 s of notice included), ${result.seconds.toFixed(1)} s with ${hangs} hanging sends, ${result.counts.extra} extra, ${result.counts.lost} lost`,
    {
      'in time': usual <= 10,
      'in time while a provider hangs': result.seconds <= 10,
      'none lost': result.counts.lost === 0,
    },
    result.violations,
  )
}

/** Like real migrations: a column added in a transaction, and a backfill outside a transaction in repeatable steps. */
const STEPS = [
  { name: '9998_faults.sql', text: '-- A column.\nalter table notifications add column faults_note text;\n' },
  {
    name: '9999_faults.sql',
    text: `-- stepwise: a column, its values and an index.
alter table states add column if not exists faults_note text
-- next
alter table tickets add column if not exists faults_note text
-- next
do $$
begin
  loop
    update tickets set faults_note = 'x'
    where id in (select id from tickets where faults_note is null limit 50 for update skip locked);
    exit when not found;
    commit;
  end loop;
end $$
-- next
drop index concurrently if exists tickets_faults
-- next
create index concurrently tickets_faults on tickets (faults_note)
`,
  },
].map(step => ({ ...step, checksum: createHash('sha256').update(step.text).digest('hex') }))

export const migration: Block = {
  name: 'a migration under load',
  async run(environment) {
    const rounds = environment.isLong ? 30 : 3
    const result = await environment.scenario({ apps: 2, env: PATIENT }, async ({ apps, client, senders }) => {
      const mine = createClient(() => apps.map(app => app.address), { scheduling: 'fifo' })
      // Rows for the backfill: messages due in a few seconds.
      const later = new Date(Date.now() + 4_000).toISOString()
      await mine.load(200, 200, n => ({ sender: pick(senders, n), scheduledFor: n % 2 === 0 ? later : null }))
      const warm = mine.answers.length
      const end = goOn(mine, senders)
      await sleep(1_000)
      const calm = mine.answers.length
      const since = performance.now()
      let isValid = true
      for (let round = 0; round < rounds; round++)
        try {
          await migrate(environment.store.db, [...migrations(), ...STEPS])
          const [index] = await environment.store.db.sql<{ valid: boolean }>`
            select indisvalid as valid from pg_index where indexrelid = to_regclass('tickets_faults')`
          isValid &&= index?.valid === true
        } finally {
          await undo(environment)
        }
      const seconds = (performance.now() - since) / 1000
      const during = mine.answers.length
      await end()
      client.answers.push(...mine.answers)
      const took = (from: number, to?: number) =>
        percentile(
          mine.answers.slice(from, to).map(answer => answer.answeredAt - answer.sentAt),
          0.99,
        )
      return {
        seconds,
        isValid,
        base: took(warm, calm),
        beside: took(calm, during),
        failed: mine.answers.filter(answer => answer.status !== 201),
      }
    })
    const factor = factorOf(1_000, 3 * result.base)
    return [
      verdict(
        'S3',
        'a migration under load: columns, backfill in chunks, index concurrently',
        '0 failed requests, p99 ≤ 1 s (or 3 × this machine’s own)',
        `${rounds} times there and back in ${result.seconds.toFixed(1)} s, ${result.counts.accepted} requests answered, ${result.failed.length} failed, p99 ${result.base} → ${result.beside} ms`,
        {
          'the index was valid': result.isValid,
          'none failed': result.failed.length === 0,
          'nobody waited': result.beside <= 1_000 * factor,
        },
        [...result.violations, ...result.failed.slice(0, 2).map(({ status, body }) => `${status} ${body}`)],
        factor,
      ),
    ]
  },
}

/** The next block must find the schema of this version. */
async function undo(environment: Environment) {
  const { script } = environment.store.db
  for (const table of ['tickets', 'states', 'notifications'])
    await retryLocks(lockMs =>
      script(
        `begin; set local lock_timeout = ${lockMs}; alter table ${table} drop column if exists faults_note; commit`,
      ),
    )
  await script(`delete from migrations where name like '99%'`)
}
