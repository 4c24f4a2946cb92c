// Processes that end: restarts without a fault, random kills, each crash point once, crashed workers, poison messages, frozen
// processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { makePartitions } from '../../src/notifications/partitions.ts'
import { CRASH_POINTS } from '../../src/telemetry/crash.ts'
import { newKey } from '../support/client.ts'
import { type Environment, LEASE_SECONDS, RECEIPT_SECRET } from '../support/environment.ts'
import { type Block, verdict } from '../support/promise.ts'

/** The maximum of sends in progress and results not yet on disk in one process (rule R3). */
const IN_FLIGHT = 128

export const noFault: Block = {
  name: 'no fault, with graceful restarts',
  async run(environment) {
    const count = environment.isLong ? 100_000 : 5_000
    const result = await environment.scenario(
      { apps: 2, services: 3, env: { HERALD_LEASE_SECONDS: '15' } },
      async ({ apps, client, senders }) => {
        const stops: number[] = []
        const sending = client.load(count, environment.isLong ? 300 : 350, n => ({
          sender: senders[n % senders.length] as (typeof senders)[0],
          isTest: n % 20 === 7,
          isUrgent: n % 10 === 3,
          idempotencyKey: newKey(),
        }))
        for (const app of apps) {
          await sleep(3_000)
          stops.push(await app.term())
          await app.start()
        }
        const answers = await sending
        return { stops, answers }
      },
    )
    const tests = result.answers.filter(answer => answer.isTest).map(answer => answer.id ?? '')
    const [ended] = await environment.store.db.sql<{ delivered: number }>`
      select count(*)::integer as delivered from states where id = any (${tests}::uuid[]) and status = 'delivered'`
    const arrivals = new Set(environment.sink.arrivals().map(arrival => arrival.id))
    const { counts, violations } = result
    return [
      verdict(
        'U2',
        'no fault, no duplicate',
        `0 extra in ${count}`,
        `${counts.accepted} accepted, ${counts.arrived} arrived, ${counts.extra} extra, 2 restarts`,
        { 'all accepted': counts.accepted === count, 'no extra': counts.extra === 0, 'none lost': counts.lost === 0 },
        violations,
      ),
      verdict('S2', 'SIGTERM: drain and exit', '≤ 10 s', `${Math.max(...result.stops).toFixed(1)} s`, {
        'in time': Math.max(...result.stops) <= 10,
      }),
      verdict(
        'O7',
        'test keys: delivered, never at the sink',
        '0 arrivals',
        `${tests.length} sent, ${ended?.delivered} delivered, ${tests.filter(id => arrivals.has(id)).length} arrived`,
        {
          'all delivered': ended?.delivered === tests.length,
          'none arrived': !tests.some(id => arrivals.has(id)),
        },
      ),
    ]
  },
}

export const killed: Block = {
  name: 'kill -9 of processes under load',
  async run(environment) {
    const count = environment.isLong ? 20_000 : 5_000
    const kills = environment.isLong ? 60 : 5
    const result = await environment.scenario({ apps: 2, services: 3 }, async ({ apps, client, senders, allow }) => {
      Object.assign(allow, { extra: kills * IN_FLIGHT, killed: true })
      const some = (n: number) => ({
        sender: senders[n % senders.length] as (typeof senders)[0],
        isUrgent: n % 10 === 3,
        idempotencyKey: n % 2 === 0 ? newKey() : null,
      })
      const sending = client.load(count, 300, some)
      const pause = (count / 300) * (1000 / kills)
      for (let kill = 0; kill < kills; kill++) {
        await sleep(environment.random.between(Math.floor(pause * 0.3), Math.floor(pause * 0.9)))
        const app = environment.random.pick(apps)
        await app.up()
        await sleep(environment.random.between(0, 200))
        await app.kill()
      }
      await sending
      // A request without an idempotency key that gets no answer is not repeated: further requests are sent until the promised
      // number is accepted.
      const missing = () => count - client.answers.filter(answer => answer.id !== null).length
      for (let rounds = 0; missing() > 0 && rounds < 10; rounds++) await client.load(missing(), 300, some)
      return {}
    })
    const { counts, violations } = result
    const of = (...beginnings: string[]) => violations.filter(one => beginnings.some(begin => one.startsWith(begin)))
    return [
      verdict(
        'D1',
        'kill -9 of processes loses nothing accepted',
        'lost 0',
        `${counts.accepted} accepted, ${kills} kills, ${counts.lost} lost, ${counts.unanswered} stored unanswered`,
        { 'none lost': counts.lost === 0, 'as many accepted': counts.accepted >= count },
        violations.filter(one => !/^[56] /.test(one)),
      ),
      verdict(
        'U1',
        'extra sends only for uncertain ids',
        `≤ ${IN_FLIGHT} per kill`,
        `${counts.extra} extra (${(counts.extra / kills).toFixed(1)} per kill), ${counts.uncertain} uncertain`,
        {},
        of('5 '),
      ),
      verdict(
        'U3',
        'one Message-ID on all attempts',
        '100 %',
        `${counts.arrived} ids, ${counts.extra} repeats`,
        {},
        of('6 '),
      ),
    ]
  },
}

/** The purge runs hourly and once at the start, and webhooks need receivers: they have scenarios of their own. */
const PLACES = CRASH_POINTS.filter(point => point !== 'mid-purge' && !point.includes('webhook'))

export const crashPoints: Block = {
  name: 'each crash point',
  async run(environment) {
    const rounds = environment.isLong ? 6 : 1
    const died: string[] = []
    const result = await environment.scenario({ apps: 2, services: 2 }, async ({ apps, client, senders, allow }) => {
      Object.assign(allow, { extra: 0, killed: true })
      const [victim, other] = apps as [(typeof apps)[0], (typeof apps)[0]]
      const receipts = {
        mode: 'late' as const,
        twice: false,
        secret: RECEIPT_SECRET,
        urls: [`${victim.address}/receipts/http`, `${other.address}/receipts/http`],
      }
      await environment.sink.set({ receipts })
      for (let round = 0; round < rounds; round++)
        for (const point of PLACES) {
          allow.extra += 2 * IN_FLIGHT
          victim.set({ HERALD_CRASH_POINTS: `${point}=kill:${point === 'mid-chunk' ? 0.7 : 0.2}` }, 'once')
          victim.expect('kill')
          await victim.kill()
          await victim.up()
          const pid = victim.pid()
          const isOver = () => victim.pid() !== pid
          for (let group = 0; group < 40 && !isOver(); group++) {
            await client.load(10, 200, n => ({
              sender: senders[n % 2] as (typeof senders)[0],
              idempotencyKey: newKey(),
              ...(point === 'after-receipt-stored' && {
                channel: 'sms',
                to: `+1613555${String(2_000 + group * 10 + n)}`,
              }),
              ...(point === 'after-take' && { scheduledFor: new Date(Date.now() + 1_500).toISOString() }),
            }))
            if (point === 'after-take') await sleep(2_500)
            if (point !== 'mid-chunk') continue
            const sender = senders[0] as (typeof senders)[0]
            await client.bulk({ sender, count: 600, idempotencyKey: newKey() })
            for (let waits = 0; waits < 20 && !isOver(); waits++) await sleep(50)
          }
          if (isOver()) died.push(point)
          await victim.up()
          victim.expect('nothing')
        }
      return {}
    })
    const { counts, violations } = result
    return [
      verdict(
        'D1 crash',
        'death at each named place loses nothing',
        'lost 0, extra only if uncertain',
        `${new Set(died).size} of ${PLACES.length} places, ${died.length} deaths, ${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra`,
        { 'each place was met': new Set(died).size === PLACES.length, 'none lost': counts.lost === 0 },
        violations,
      ),
      verdict(
        'U5',
        'same key after a death between commit and answer: the same message',
        'stored = answered',
        `${counts.stored} stored, ${counts.unanswered} never answered`,
        { 'none unanswered': counts.unanswered === 0 },
      ),
    ]
  },
}

export const purge: Block = {
  name: 'a crash in the middle of a purge',
  async run(environment) {
    const { db, clock } = environment.store
    const rounds = environment.isLong ? 10 : 1
    let died = 0
    const left: string[] = []
    const result = await environment.scenario({ apps: 0, services: 1 }, async ({ app, client, senders }) => {
      const one = await app({ start: false })
      await one.start()
      for (let round = 0; round < rounds; round++) {
        const days = 30 + environment.random.between(0, 300)
        await makePartitions(db, { ...clock, micros: () => clock.micros() - days * 86_400_000_000 })
        one.set({ HERALD_CRASH_POINTS: 'mid-purge=kill:1' }, 'once')
        one.expect('kill')
        await one.kill()
        await one.up()
        const pid = one.pid()
        for (const end = Date.now() + 20_000; one.pid() === pid && Date.now() < end; ) await sleep(50)
        if (one.pid() !== pid) died++
        await one.up()
        one.expect('nothing')
        let old = await oldDays(environment)
        for (const end = Date.now() + 20_000; old.length > 0 && Date.now() < end; old = await oldDays(environment))
          await sleep(100)
        left.push(...old)
        await client.send({ sender: senders[0] as (typeof senders)[0], idempotencyKey: newKey() })
      }
      return {}
    })
    return [
      verdict(
        'D1 purge',
        'death in the middle of a purge: the next one goes on, nothing of a past day stays',
        '0 days left, lost 0',
        `${died} deaths, ${left.length} days left, ${result.counts.accepted} accepted, ${result.counts.lost} lost`,
        {
          'the place was met': died === rounds,
          'nothing stays': left.length === 0,
          'none lost': result.counts.lost === 0,
        },
        [...left, ...result.violations],
      ),
    ]
  },
}

/** Partitions of days long past, attached or detached. */
async function oldDays({ store: { db, clock } }: Environment): Promise<string[]> {
  const oldest = new Date(clock.now() - 20 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
  const rows = await db.sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relname ~ '^(notifications|states)_[0-9]{8}$' and right(relname, 8) < ${oldest}`
  return rows.map(row => row.name)
}

export const killedBulk: Block = {
  name: 'kill -9 while bulk jobs are expanded',
  async run(environment) {
    const kills = environment.isLong ? 10 : 3
    const count = environment.isLong ? 50_000 : 5_000
    const result = await environment.scenario(
      { apps: 2, services: 1 },
      async ({ apps, client, senders, allow, drained }) => {
        Object.assign(allow, { extra: (kills + 1) * IN_FLIGHT, killed: true })
        const job = await client.bulk({ sender: senders[0] as (typeof senders)[0], count, idempotencyKey: newKey() })
        // During the first half of the expansion into messages, so that the kills meet unfinished work.
        const [seen, isSpread] = [Date.now(), () => isFinished(environment, job.id)]
        for (let kill = 0; kill < kills && !(await isSpread()); kill++) {
          await sleep(environment.random.between(20, environment.isLong ? 700 : 250))
          const app = environment.random.pick(apps)
          await app.up()
          await app.kill()
        }
        await drained(environment.isLong ? 300 : 120)
        return { job, seconds: (Date.now() - seen) / 1000 }
      },
    )
    const [row] = await environment.store.db.sql<{ stored: number; rows: number; count: number }>`
      select count(*)::integer as stored, count(distinct n.job_row)::integer as rows, max(j.notification_count) as count
      from jobs j join notifications n on n.job_id = j.id
      where j.id = ${result.job.id}`
    const { counts } = result
    return [
      verdict(
        'U4',
        'rows of a bulk become messages once, whatever is killed',
        'rows = distinct rows = count',
        `${count} rows, ${counts.deaths} kills: ${row?.stored} stored, ${row?.rows} distinct, ${counts.arrived} arrived, ${counts.extra} extra, ${counts.lost} lost`,
        {
          'once each': row?.stored === count && row.rows === count && row.count === count,
          'none lost': counts.lost === 0 && counts.arrived === count,
          'some were killed': counts.deaths > 0,
        },
        result.violations,
      ),
    ]
  },
}

async function isFinished(environment: Environment, id: string | null): Promise<boolean> {
  return (await environment.store.db.sql`select from jobs where id = ${id} and status = 'finished'`).length > 0
}

export const deadWorker: Block = {
  name: 'a crashed worker',
  async run(environment) {
    const result = await environment.scenario({ apps: 1, only: 'http' }, async ({ app, client, senders, allow }) => {
      const dead = await app({ only: 'engine' })
      await environment.sink.set({ delayMs: 4_000 })
      await client.load(60, 100, n => ({ sender: senders[n % 2] as (typeof senders)[0], idempotencyKey: newKey() }))
      await sleep(500)
      Object.assign(allow, { extra: IN_FLIGHT, killed: true })
      const heir = await app({ only: 'engine' })
      await environment.sink.set({ delayMs: 0 })
      await dead.end()
      const since = Date.now()
      const ids = new Set(client.answers.map(answer => answer.id))
      const handedBefore = new Set(
        environment.sink.arrivals().flatMap(arrival => (ids.has(arrival.id) ? [arrival.id] : [])),
      )
      let seconds = 0
      for (;;) {
        const after = environment.sink.arrivals().filter(arrival => ids.has(arrival.id) && arrival.at >= since)
        seconds = (Date.now() - since) / 1000
        if (new Set([...handedBefore, ...after.map(arrival => arrival.id)]).size === 60 || seconds > 30) break
        await sleep(50)
      }
      return { seconds, heir }
    })
    return [
      verdict(
        'D7',
        'tickets of a dead worker are picked up',
        `≤ lease + 5 s (lease ${LEASE_SECONDS} s)`,
        `${result.seconds.toFixed(1)} s`,
        { 'in time': result.seconds <= LEASE_SECONDS + 5 },
        result.violations,
      ),
    ]
  },
}

export const poison: Block = {
  name: 'poison messages',
  async run(environment) {
    const result = await environment.scenario(
      { apps: 1, only: 'http', env: { HERALD_LEASE_SECONDS: '1' } },
      async ({ app, client, senders, allow, drained }) => {
        const answers = await client.load(60, 2_000, n => ({
          sender: senders[n % 2] as (typeof senders)[0],
          idempotencyKey: newKey(),
        }))
        const [killer, thrower] = [answers[20]?.id ?? '', answers[41]?.id ?? '']
        Object.assign(allow, { extra: 5 * IN_FLIGHT, killed: true })
        const engine = await app({ only: 'engine', start: false })
        engine.set({ HERALD_CRASH_POINTS: `before-send=kill:id:${killer},before-send=throw:id:${thrower}` })
        engine.expect('kill')
        await engine.start()
        await drained(120)
        return { killer, thrower }
      },
    )
    const states = await environment.store.db.sql<{ id: string; status: string }>`
      select id, status from states where id = any (${[result.killer, result.thrower]}::uuid[])`
    const statusOf = (id: string) => states.find(state => state.id === id)?.status
    const { counts } = result
    return [
      verdict(
        'D8',
        'a poison ticket ends alone',
        '≤ 5 deaths, others delivered',
        `${counts.deaths} deaths, killer ${statusOf(result.killer)}, thrower ${statusOf(result.thrower)}, ${counts.arrived} of 58 others arrived, ${counts.extra} extra`,
        {
          'deaths ≤ 5': counts.deaths <= 5,
          'the killer is set aside': statusOf(result.killer) === 'technical-failure',
          'the thrower is set aside': statusOf(result.thrower) === 'technical-failure',
          'all others arrived': counts.arrived === 58,
        },
        result.violations,
      ),
    ]
  },
}

export const frozen: Block = {
  name: 'a frozen worker',
  async run(environment) {
    const rounds = environment.isLong ? 10 : 1
    const result = await environment.scenario({ apps: 1, only: 'http' }, async ({ app, client, senders, allow }) => {
      const [first] = [await app({ only: 'engine' }), await app({ only: 'engine' })]
      for (let round = 0; round < rounds; round++) {
        const sending = client.load(600, 150, n => ({
          sender: senders[n % 2] as (typeof senders)[0],
          idempotencyKey: newKey(),
        }))
        await sleep(environment.random.between(500, 2_000))
        allow.extra += IN_FLIGHT
        allow.killed = true
        first.freeze()
        await sleep(2 * LEASE_SECONDS * 1000)
        first.thaw()
        await sending
      }
      return {}
    })
    return [
      verdict(
        'U6',
        'a worker frozen for two leases',
        `extra ≤ ${IN_FLIGHT} each`,
        `${result.counts.accepted} accepted, ${result.counts.extra} extra, ${result.counts.lost} lost`,
        { 'none lost': result.counts.lost === 0 },
        result.violations,
      ),
    ]
  },
}
