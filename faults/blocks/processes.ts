// Processes that end: none without a fault, some killed at random, each crash point once, workers dead, poisoned or frozen.
import { setTimeout as sleep } from 'node:timers/promises'
import { makePartitions } from '../../src/db/partitions.ts'
import { CRASH_POINTS } from '../../src/telemetry/crash.ts'
import { newKey } from '../support/client.ts'
import { type House, LEASE_SECONDS, RECEIPT_SECRET } from '../support/house.ts'
import { type Block, verdict } from '../support/promise.ts'

/** Sends under way and results not yet on disk, at most, in one process (rule R3). */
const IN_FLIGHT = 128

export const noFault: Block = {
  name: 'no fault, with graceful restarts',
  async run(house) {
    const count = house.isLong ? 100_000 : 5_000
    const told = await house.story(
      { apps: 2, services: 3, env: { HERALD_LEASE_SECONDS: '15' } },
      async ({ apps, client, senders }) => {
        const stops: number[] = []
        const sending = client.load(count, house.isLong ? 300 : 350, n => ({
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
    const tests = told.answers.filter(answer => answer.isTest).map(answer => answer.id ?? '')
    const [ended] = await house.store.db.sql<{ delivered: number }>`
      select count(*)::integer as delivered from states where id = any (${tests}::uuid[]) and status = 'delivered'`
    const arrivals = new Set(house.sink.arrivals().map(arrival => arrival.id))
    const { counts, violations } = told
    return [
      verdict(
        'U2',
        'no fault, no duplicate',
        `0 extra in ${count}`,
        `${counts.accepted} accepted, ${counts.arrived} arrived, ${counts.extra} extra, 2 restarts`,
        { 'all accepted': counts.accepted === count, 'no extra': counts.extra === 0, 'none lost': counts.lost === 0 },
        violations,
      ),
      verdict('S2', 'SIGTERM: drain and exit', '≤ 10 s', `${Math.max(...told.stops).toFixed(1)} s`, {
        'in time': Math.max(...told.stops) <= 10,
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
  async run(house) {
    const count = house.isLong ? 20_000 : 5_000
    const kills = house.isLong ? 60 : 5
    const told = await house.story({ apps: 2, services: 3 }, async ({ apps, client, senders, allow }) => {
      Object.assign(allow, { extra: kills * IN_FLIGHT, killed: true })
      const some = (n: number) => ({
        sender: senders[n % senders.length] as (typeof senders)[0],
        isUrgent: n % 10 === 3,
        idempotencyKey: n % 2 === 0 ? newKey() : null,
      })
      const sending = client.load(count, 300, some)
      const pause = (count / 300) * (1000 / kills)
      for (let kill = 0; kill < kills; kill++) {
        await sleep(house.random.between(Math.floor(pause * 0.3), Math.floor(pause * 0.9)))
        const app = house.random.pick(apps)
        await app.up()
        await sleep(house.random.between(0, 200))
        await app.kill()
      }
      await sending
      // Who does not name a request and gets no answer does not ask again: others ask until there are as many as promised.
      const missing = () => count - client.answers.filter(answer => answer.id !== null).length
      for (let rounds = 0; missing() > 0 && rounds < 10; rounds++) await client.load(missing(), 300, some)
      return {}
    })
    const { counts, violations } = told
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

/** The purge comes by the hour, and once at the start: it has a story of its own. */
const PLACES = CRASH_POINTS.filter(point => point !== 'mid-purge')

export const crashPoints: Block = {
  name: 'each crash point',
  async run(house) {
    const rounds = house.isLong ? 6 : 1
    const died: string[] = []
    const told = await house.story({ apps: 2, services: 2 }, async ({ apps, client, senders, allow }) => {
      Object.assign(allow, { extra: 0, killed: true })
      const [victim, other] = apps as [(typeof apps)[0], (typeof apps)[0]]
      const receipts = {
        mode: 'late' as const,
        twice: false,
        secret: RECEIPT_SECRET,
        urls: [`${victim.address}/receipts/http`, `${other.address}/receipts/http`],
      }
      await house.sink.set({ receipts })
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
    const { counts, violations } = told
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
  name: 'an end in the middle of a purge',
  async run(house) {
    const { db, clock } = house.store
    const rounds = house.isLong ? 10 : 1
    let died = 0
    const left: string[] = []
    const told = await house.story({ apps: 0, services: 1 }, async ({ app, client, senders }) => {
      const one = await app({ start: false })
      await one.start()
      for (let round = 0; round < rounds; round++) {
        const days = 30 + house.random.between(0, 300)
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
        let old = await oldDays(house)
        for (const end = Date.now() + 20_000; old.length > 0 && Date.now() < end; old = await oldDays(house))
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
        `${died} deaths, ${left.length} days left, ${told.counts.accepted} accepted, ${told.counts.lost} lost`,
        {
          'the place was met': died === rounds,
          'nothing stays': left.length === 0,
          'none lost': told.counts.lost === 0,
        },
        [...left, ...told.violations],
      ),
    ]
  },
}

/** Tables of days long past, attached or not. */
async function oldDays({ store: { db, clock } }: House): Promise<string[]> {
  const oldest = new Date(clock.now() - 20 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
  const rows = await db.sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relname ~ '^(notifications|states)_[0-9]{8}$' and right(relname, 8) < ${oldest}`
  return rows.map(row => row.name)
}

export const killedBulk: Block = {
  name: 'kill -9 while bulks become messages',
  async run(house) {
    const kills = house.isLong ? 10 : 3
    const count = house.isLong ? 50_000 : 5_000
    const told = await house.story({ apps: 2, services: 1 }, async ({ apps, client, senders, allow, drained }) => {
      Object.assign(allow, { extra: (kills + 1) * IN_FLIGHT, killed: true })
      const job = await client.bulk({ sender: senders[0] as (typeof senders)[0], count, idempotencyKey: newKey() })
      // Over the first half of what it takes to become messages, so that something is left to be killed.
      const [seen, isSpread] = [Date.now(), () => isFinished(house, job.id)]
      for (let kill = 0; kill < kills && !(await isSpread()); kill++) {
        await sleep(house.random.between(20, house.isLong ? 700 : 250))
        const app = house.random.pick(apps)
        await app.up()
        await app.kill()
      }
      await drained(house.isLong ? 300 : 120)
      return { job, seconds: (Date.now() - seen) / 1000 }
    })
    const [row] = await house.store.db.sql<{ stored: number; rows: number; count: number }>`
      select count(*)::integer as stored, count(distinct n.job_row)::integer as rows, max(j.notification_count) as count
      from jobs j join notifications n on n.job_id = j.id
      where j.id = ${told.job.id}`
    const { counts } = told
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
        told.violations,
      ),
    ]
  },
}

async function isFinished(house: House, id: string | null): Promise<boolean> {
  return (await house.store.db.sql`select from jobs where id = ${id} and status = 'finished'`).length > 0
}

export const deadWorker: Block = {
  name: 'a dead worker',
  async run(house) {
    const told = await house.story({ apps: 1, only: 'http' }, async ({ app, client, senders, allow }) => {
      const dead = await app({ only: 'engine' })
      await house.sink.set({ delayMs: 4_000 })
      await client.load(60, 100, n => ({ sender: senders[n % 2] as (typeof senders)[0], idempotencyKey: newKey() }))
      await sleep(500)
      Object.assign(allow, { extra: IN_FLIGHT, killed: true })
      const heir = await app({ only: 'engine' })
      await house.sink.set({ delayMs: 0 })
      await dead.end()
      const since = Date.now()
      const ids = new Set(client.answers.map(answer => answer.id))
      const handedBefore = new Set(house.sink.arrivals().flatMap(arrival => (ids.has(arrival.id) ? [arrival.id] : [])))
      let seconds = 0
      for (;;) {
        const after = house.sink.arrivals().filter(arrival => ids.has(arrival.id) && arrival.at >= since)
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
        `${told.seconds.toFixed(1)} s`,
        { 'in time': told.seconds <= LEASE_SECONDS + 5 },
        told.violations,
      ),
    ]
  },
}

export const poison: Block = {
  name: 'poison',
  async run(house) {
    const told = await house.story(
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
    const states = await house.store.db.sql<{ id: string; status: string }>`
      select id, status from states where id = any (${[told.killer, told.thrower]}::uuid[])`
    const statusOf = (id: string) => states.find(state => state.id === id)?.status
    const { counts } = told
    return [
      verdict(
        'D8',
        'a poison ticket ends alone',
        '≤ 5 deaths, others delivered',
        `${counts.deaths} deaths, killer ${statusOf(told.killer)}, thrower ${statusOf(told.thrower)}, ${counts.arrived} of 58 others arrived, ${counts.extra} extra`,
        {
          'deaths ≤ 5': counts.deaths <= 5,
          'the killer is set aside': statusOf(told.killer) === 'technical-failure',
          'the thrower is set aside': statusOf(told.thrower) === 'technical-failure',
          'all others arrived': counts.arrived === 58,
        },
        told.violations,
      ),
    ]
  },
}

export const frozen: Block = {
  name: 'a frozen worker',
  async run(house) {
    const rounds = house.isLong ? 10 : 1
    const told = await house.story({ apps: 1, only: 'http' }, async ({ app, client, senders, allow }) => {
      const [first] = [await app({ only: 'engine' }), await app({ only: 'engine' })]
      for (let round = 0; round < rounds; round++) {
        const sending = client.load(600, 150, n => ({
          sender: senders[n % 2] as (typeof senders)[0],
          idempotencyKey: newKey(),
        }))
        await sleep(house.random.between(500, 2_000))
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
        `${told.counts.accepted} accepted, ${told.counts.extra} extra, ${told.counts.lost} lost`,
        { 'none lost': told.counts.lost === 0 },
        told.violations,
      ),
    ]
  },
}
