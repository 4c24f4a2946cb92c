// Promises that must hold with concurrent requests to any number of processes: reading one's own write, limits, cancelling
// against sending, and idempotency keys while processes are killed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Id } from '../../src/core/id.ts'
import { recountDailyUsage } from '../../src/maintenance/recount.ts'
import { type Answer, type Client, newKey, type Sender } from '../support/client.ts'
import type { Environment, Scenario } from '../support/environment.ts'
import { type Block, verdict } from '../support/promise.ts'

const PROCESSES = 4

export const races: Block = {
  name: 'concurrent requests to four processes',
  async run(environment) {
    const result = await environment.scenario({ apps: PROCESSES, only: 'http', services: 1 }, async scenario => {
      await scenario.app({ only: 'engine', env: { HERALD_LEASE_SECONDS: '15' } })
      await awayFromMidnight()
      // The rate-limit window of sixty seconds cannot be shortened, so it runs in parallel with the other parts.
      const window = environment.isLong ? slidingWindow(scenario) : Promise.resolve(null)
      const read = await readYourWrite(environment, scenario)
      const daily = await dailyLimit(environment, scenario)
      const rate = await burst(scenario)
      const cancels = await cancelOrSend(environment, scenario)
      const jobs = await cancelOrSendJobs(environment, scenario)
      const keys = await idempotency(environment, scenario)
      const killed = await dailyLimitKilled(environment, scenario)
      return { read, daily, rate, cancels, jobs, keys, killed, window: await window }
    })
    const { read, daily, rate, cancels, jobs, keys, killed, window, counts, violations } = result
    return [
      verdict(
        'D6',
        'what was accepted can be read at once, through another process',
        `0 × 404 in ${read.asked}`,
        `${read.asked} read, ${read.missing} × 404, ${read.other} answered otherwise`,
        { 'all found': read.missing === 0, 'nothing else': read.other === 0 },
        violations,
      ),
      verdict(
        'A1',
        'the daily limit under concurrency: singles, bulks and cancels over 4 processes',
        'limit 1,000, 3,000 tries: exactly 1,000 stay accepted',
        `${daily.tries} tries, ${daily.accepted} accepted, ${daily.cancelled} given back, ${daily.used} used`,
        {
          'exactly the limit': daily.accepted - daily.cancelled === 1_000,
          'the counter says so': daily.used === 1_000,
          'something was given back': daily.cancelled > 0,
        },
      ),
      verdict(
        'A1 killed',
        'the daily limit while processes are killed',
        'accepted = limit; the counter never below; leak ≤ kills × 500, and repaired',
        `limit ${killed.limit}, ${killed.tries} tries, ${killed.kills} kills: ${killed.accepted} accepted, ${killed.stored} stored, ${killed.used} used; of 5 planted ${killed.repaired} repaired`,
        {
          'as many as allowed': killed.accepted === killed.limit && killed.stored === killed.limit,
          'never below': killed.used >= killed.stored,
          'a bounded leak': killed.used - killed.stored <= killed.kills * 500,
          'all repaired': killed.repaired === 5 + killed.used - killed.stored && killed.after === killed.stored,
        },
      ),
      verdict(
        'A2',
        'the rate limit over 4 processes',
        window ? 'exactly 100 of the first burst; no 60 s hold more' : 'exactly 100 of a burst of 300',
        `${rate.accepted} of ${rate.tries} passed${window ? `; in ${window.seconds} s ${window.accepted} of ${window.tries}, at most ${window.most} within 60 s` : ''}`,
        {
          exact: rate.accepted === 100,
          'the others 429': rate.refused === 200,
          ...(window && { 'no window holds more': window.most <= 100 && window.accepted > 100 }),
        },
      ),
      verdict(
        'O6',
        'cancelling against sending: exactly one wins',
        `${cancels.races} races, ${jobs.races} of bulk jobs`,
        `${cancels.cancelled} cancelled, ${cancels.sent} sent, ${cancels.wrong.length} both or neither; jobs: ${jobs.cancelled} cancelled, ${jobs.sent} sent, ${jobs.wrong.length} both or neither`,
        {
          'both sides won some': Math.min(cancels.cancelled, cancels.sent, jobs.cancelled, jobs.sent) > 0,
          'all raced': cancels.cancelled + cancels.sent === cancels.races && jobs.cancelled + jobs.sent === jobs.races,
          'allowances given back': cancels.used === cancels.sent && jobs.used === jobs.sent * JOB_ROWS,
        },
        [...cancels.wrong, ...jobs.wrong].slice(0, 5),
      ),
      verdict(
        'U5 kills',
        'one Idempotency-Key, one message, while processes are killed',
        `${keys.keys} keys × 5 callers: ${keys.keys} messages`,
        `${keys.keys} keys, ${keys.kills} kills: ${keys.stored} stored, ${keys.split} keys with two answers, ${keys.open} never answered; 50 at once: ${keys.atOnce} stored; other body: ${keys.other}`,
        {
          'one each': keys.stored === keys.keys && keys.split === 0,
          'all answered': keys.open === 0 && counts.unanswered === 0,
          'one of 50': keys.atOnce === 1,
          'another body is refused': keys.other === 422,
        },
      ),
    ]
  },
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Counters are per day: this scenario must not run across midnight. */
async function awayFromMidnight() {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < 4 * 60_000) await sleep(left + 1_000)
}

const laterToday = () => {
  const left = DAY_MS - (Date.now() % DAY_MS)
  return new Date(Date.now() + Math.min(2 * HOUR_MS, left - 30_000)).toISOString()
}

const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

const isAccepted = ({ status }: { status: number }) => status === 201

async function sumOf(environment: Pick<Environment, 'store'>, service: Id) {
  const [row] = await environment.store.db.sql<{ used: number; stored: number }>`
    select (select coalesce(sum(used), 0) from usage where service_id = ${service})::integer as used,
           (select count(*) from notifications where service_id = ${service})::integer as stored`
  return row ?? { used: 0, stored: 0 }
}

async function readYourWrite(environment: Environment, { client, senders }: Scenario) {
  const sender = senders[0] as Sender
  const asked = environment.isLong ? 10_000 : 1_000
  const statuses: number[] = []
  await many(20, async () => {
    for (let n = 0; n < asked / 20; n++) {
      const { id } = await client.send({ sender, idempotencyKey: newKey() })
      statuses.push((await client.ask('GET', `/v2/notifications/${id}`, { key: sender.key })).status)
    }
  })
  return {
    asked: statuses.length,
    missing: statuses.filter(status => status === 404).length,
    other: statuses.filter(status => status !== 404 && status !== 200).length,
  }
}

const cancel = async (client: Client, sender: Sender, path: string, id: string | null) =>
  (await client.ask('DELETE', `/v2/notifications/${path}${id}`, { key: sender.key })).status

async function dailyLimit(environment: Environment, scenario: Scenario) {
  const { client } = scenario
  const sender = await scenario.sender({ email_daily_limit: 1_000 })
  const send = (scheduledFor: string | null) => client.send({ sender, scheduledFor, idempotencyKey: newKey() })
  const later = laterToday()
  const waiting: { path: string; id: string | null; messages: number }[] = []
  let accepted = 0
  let cancelled = 0
  const giveBack = async (one: (typeof waiting)[0]) => {
    if ((await cancel(client, sender, one.path, one.id)) === 200) cancelled += one.messages
  }
  const schedule = async (n: number) => {
    const answer = await send(later)
    if (!isAccepted(answer)) return
    accepted++
    const one = { path: '', id: answer.id, messages: 1 }
    if (n % 2 === 0) await giveBack(one)
    else waiting.push(one)
  }
  const bulk = async (n: number) => {
    const job = await client.bulk({ sender, count: 30, scheduledFor: later, idempotencyKey: newKey() })
    if (!isAccepted(job)) return
    accepted += 30
    const one = { path: 'bulk/', id: job.id, messages: 30 }
    if (n % 2 === 0) await giveBack(one)
    else waiting.push(one)
  }
  const now = async () => {
    if (isAccepted(await send(null))) accepted++
  }
  await Promise.all([many(20, bulk), many(300, schedule), many(1_500, now)])
  await many(600, now)
  const { used } = await sumOf(environment, sender.service)
  const result = { tries: 20 * 30 + 300 + 1_500 + 600, accepted, cancelled, used }
  for (const one of waiting) await giveBack(one) // cancelled, so that nothing is sent in two hours
  return result
}

async function burst(scenario: Scenario) {
  const sender = await scenario.sender({ rate_limit: 100 })
  const answers = await many(300, () => scenario.client.send({ sender, idempotencyKey: newKey() }))
  return {
    tries: answers.length,
    accepted: answers.filter(isAccepted).length,
    refused: answers.filter(answer => answer.status === 429).length,
  }
}

/** Bursts and single requests for more than two windows: no window of sixty seconds may contain more accepts than the limit. */
async function slidingWindow(scenario: Scenario) {
  const sender = await scenario.sender({ rate_limit: 100 })
  const since = Date.now()
  const answers: Answer[] = []
  const send = async () => void answers.push(await scenario.client.send({ sender, idempotencyKey: newKey() }))
  await many(60, send)
  while (Date.now() < since + 150_000) {
    await sleep(1_000)
    await many(Math.floor((Date.now() - since) / 1_000) % 20 === 0 ? 20 : 1, send)
  }
  // A request is counted at some moment between its start and its answer: if both are within sixty seconds, it was counted within
  // them.
  const accepts = answers.filter(isAccepted)
  const within = accepts.map(
    first => accepts.filter(one => one.sentAt >= first.sentAt && one.answeredAt <= first.sentAt + 60_000).length,
  )
  return { seconds: 150, tries: answers.length, accepted: accepts.length, most: Math.max(...within) }
}

// --- cancelling against sending

/** Around the moment the engine takes the ticket: up to a second after it is due, when the engine polls again. */
const racing = (environment: Environment, due: number, from: number, to: number) =>
  sleep(Math.max(0, due + environment.random.between(from, to) - Date.now()))

async function cancelOrSend(environment: Environment, scenario: Scenario) {
  scenario.allow.otherCounts = true // messages become due earlier than they were scheduled for
  const { client } = scenario
  const sender = await scenario.sender()
  const races = environment.isLong ? 2_000 : 500
  const later = laterToday()
  const answers = await many(races, () => client.send({ sender, scheduledFor: later, idempotencyKey: newKey() }))
  const ids = answers.map(answer => answer.id)
  const due = Date.now() + 1_500
  const dues = ids.map((_, n) => new Date(due + n * 5).toISOString())
  await environment.store.db.sql`
    with moved as (select * from unnest(${ids}::uuid[], ${dues}::timestamptz[]) as m (id, at)),
    result as (update notifications n set scheduled_for = m.at from moved m where n.id = m.id)
    update tickets t set due_at = m.at from moved m where t.id = m.id`
  const statuses = await many(races, async n => {
    await racing(environment, due + n * 5, -200, 1_000)
    return cancel(client, sender, '', ids[n] ?? '')
  })
  await scenario.drained()
  const times = timesArrived(scenario)
  const wrong = ids.flatMap((id, n) => {
    const isCancelled = statuses[n] === 200
    const isRight = (isCancelled || statuses[n] === 400) && (times.get(id ?? '') ?? 0) === (isCancelled ? 0 : 1)
    return isRight ? [] : [`${id}: ${statuses[n]}, arrived ${times.get(id ?? '') ?? 0} times`]
  })
  const cancelled = statuses.filter(status => status === 200).length
  return { races, cancelled, sent: races - cancelled, wrong, used: (await sumOf(environment, sender.service)).used }
}

const timesArrived = (scenario: Scenario) => {
  const times = new Map<string, number>()
  for (const { id } of scenario.arrivals()) times.set(id, (times.get(id) ?? 0) + 1)
  return times
}

const JOB_ROWS = 20

async function cancelOrSendJobs(environment: Environment, scenario: Scenario) {
  const { client } = scenario
  const { sql } = environment.store.db
  const sender = await scenario.sender()
  const races = environment.isLong ? 200 : 50
  const later = laterToday()
  const jobs = await many(races, () =>
    client.bulk({ sender, count: JOB_ROWS, scheduledFor: later, idempotencyKey: newKey() }),
  )
  const ids = jobs.map(job => job.id)
  const due = Date.now() + 1_000
  const dues = ids.map((_, n) => new Date(due + n * 40).toISOString())
  await sql`
    with moved as (select * from unnest(${ids}::uuid[], ${dues}::timestamptz[]) as m (id, at)),
    result as (update jobs j set scheduled_for = m.at from moved m where j.id = m.id)
    update tickets t set due_at = m.at from moved m join chunks c on c.job_id = m.id where t.id = c.id`
  const statuses = await many(races, async n => {
    await racing(environment, due + n * 40, -60, 30)
    return cancel(client, sender, 'bulk/', ids[n] ?? '')
  })
  await scenario.drained()
  const rows = await sql<{ id: Id; job_id: Id }>`
    select id, job_id from notifications where job_id = any (${ids}::uuid[]) and service_id = ${sender.service}`
  const times = timesArrived(scenario)
  const wrong = ids.flatMap((id, n) => {
    const isCancelled = statuses[n] === 200
    const mine = rows.filter(row => row.job_id === id)
    const arrived = mine.filter(row => times.get(row.id) === 1).length
    const isRight = isCancelled ? mine.length === 0 : statuses[n] === 409 && arrived === JOB_ROWS
    return isRight ? [] : [`job ${id}: ${statuses[n]}, ${mine.length} rows, ${arrived} arrived`]
  })
  const cancelled = statuses.filter(status => status === 200).length
  return { races, cancelled, sent: races - cancelled, wrong, used: (await sumOf(environment, sender.service)).used }
}

// --- with kills

/** Kills HTTP processes, one after the other, while `work` runs. */
async function whileKilling<T>(
  environment: Environment,
  { apps, allow }: Scenario,
  kills: number,
  work: () => Promise<T>,
): Promise<T> {
  allow.killed = true
  const working = work()
  for (let kill = 0; kill < kills; kill++) {
    await sleep(environment.random.between(150, 500))
    const app = apps[kill % PROCESSES]
    await app?.up()
    await app?.kill()
  }
  return working
}

async function idempotency(environment: Environment, scenario: Scenario) {
  const { client } = scenario
  const sender = await scenario.sender()
  const keys = Array.from({ length: environment.isLong ? 2_000 : 200 }, newKey)
  const kills = environment.isLong ? 20 : 3
  const callers = keys.flatMap((key, n) => Array.from({ length: 5 }, () => ({ key, n })))
  const answers = await whileKilling(environment, scenario, kills, () => {
    // Shuffled and spread over the whole time of the kills, so that the five requests of a key reach different processes at
    // different moments.
    const perSecond = environment.isLong ? 500 : 400
    return client.load(callers.length, perSecond, at => {
      const { key, n } = callers[(at * 7) % callers.length] as (typeof callers)[0]
      return { sender, idempotencyKey: key, to: `key-${n}@example.org`, token: `tkkey${n.toString(36)}k` }
    })
  })
  const ids = new Map<string, Set<string | null>>()
  for (const { idempotencyKey, id } of answers) {
    const known = ids.get(idempotencyKey ?? '') ?? new Set()
    ids.set(idempotencyKey ?? '', known.add(id))
  }
  const { stored } = await sumOf(environment, sender.service)
  const one = newKey()
  const same = { sender, idempotencyKey: one, to: 'same@example.org', token: 'tksamek' }
  await many(50, () => client.send(same))
  const other = await client.send({ ...same, to: 'other@example.org', token: 'tkotherk' })
  return {
    keys: keys.length,
    kills,
    stored,
    split: [...ids.values()].filter(set => set.size !== 1).length,
    open: answers.filter(answer => answer.id === null).length,
    atOnce: (await sumOf(environment, sender.service)).stored - stored,
    other: other.status,
  }
}

async function dailyLimitKilled(environment: Environment, scenario: Scenario) {
  const limit = environment.isLong ? 1_000 : 300
  const kills = environment.isLong ? 10 : 2
  const sender = await scenario.sender({ email_daily_limit: limit })
  const answers = await whileKilling(environment, scenario, kills, () =>
    scenario.client.load(limit * 3, 400, () => ({ sender, idempotencyKey: newKey() })),
  )
  const { used, stored } = await sumOf(environment, sender.service)
  await environment.store.db.sql`
    update usage set used = used + 5 where service_id = ${sender.service}`
  let repaired = 0
  for await (const _ of recountDailyUsage(environment.store, surplus => (repaired += surplus)));
  const after = (await sumOf(environment, sender.service)).used
  return {
    limit,
    kills,
    tries: answers.length,
    accepted: answers.filter(isAccepted).length,
    used,
    stored,
    repaired,
    after,
  }
}
