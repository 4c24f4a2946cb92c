// Events: how fast one reader follows the feed, how fast webhooks are delivered, and what an endpoint costs that is dead while a
// million events wait for it. The events are those of real deliveries. npm run bench -- events [--messages 40000] [--singles 8000]
// [--behind 1000000] [--seconds 3] [--repeats 3] [--profile FOLDER]
import { create as createKey } from '../src/keys/create.ts'
import { now } from './support/clock.ts'
import { acceptAndDeliver, type Delivered } from './support/delivering.ts'
import { createEnvironment, type Environment, OPERATOR, type Running } from './support/environment.ts'
import { readFeed, selectYardstick } from './support/feed.ts'
import { type Mail, startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { watchCpu } from './support/process.ts'
import { postYardstick, type Receiver, startReceiver } from './support/receiver.ts'
import { figure, median, print, table } from './support/report.ts'
import { ask, people } from './support/requests.ts'
import { until } from './support/wait.ts'

const PAGE = 1_000
const BATCH = 100
const AT_ONCE = 16

const { messages, singles, behind, seconds, repeats, profile } = sizes(
  { messages: 40_000, singles: 8_000, behind: 1_000_000, seconds: 3, repeats: 3 },
  { messages: 2_000, singles: 200, behind: 10_000, seconds: 0.5, repeats: 1 },
)

type Speed = { perSecond: number; nodeMicros: number; databaseMicros: number }

const receiver = await startReceiver()
const mail = await startMail()
const environment = await createEnvironment()
const running = await environment.start({
  mail: mail.port,
  profile,
  env: {
    HERALD_WEBHOOK_ALLOW: '127.0.0.1/32',
    HERALD_WEBHOOK_PORTS: String(receiver.port),
    HERALD_WEBHOOK_SCHEMES: 'http',
  },
})
try {
  await bench({ environment: await managing(environment), running, mail, receiver })
} finally {
  await running.stop()
  receiver.stop()
  mail.stop()
  await environment.stop()
}

type Place = { environment: Environment; running: Running; mail: Mail; receiver: Receiver }

async function bench(place: Place) {
  const batched = await createWebhook(place, { url: receiver.address, batch: BATCH })
  await deliver(place, messages)
  const feed = await readRounds(place)
  const inBatches = await push(place, batched, await eventsBehind(place, batched))
  await remove(place, batched)
  const single = await createWebhook(place, { url: receiver.address, batch: 1 })
  await deliver(place, singles)
  const oneByOne = await push(place, single, await eventsBehind(place, single))
  await remove(place, single)
  const dead = await besideDead(place)
  const yardsticks = await posts(place, feed.page)
  report(feed, { inBatches, oneByOne }, yardsticks, dead)
}

// --- the feed

async function readRounds({ environment, running }: Place) {
  await environment.settle()
  await readFeed(environment, running, PAGE) // not counted: the code is not optimised yet
  const rounds: (Speed & { select: number; page: string })[] = []
  for (let round = 0; round < repeats; round++) {
    const used = watchCpu(environment, [running.pid])
    const { perSecond, count, page } = await readFeed(environment, running, PAGE)
    const { node, database } = used()
    if (count < messages) throw new Error(`the feed has ${count} events of ${messages} messages`)
    const select = (await selectYardstick(environment, PAGE)).perSecond
    rounds.push({
      perSecond,
      nodeMicros: (node * 1e6) / count,
      databaseMicros: (database * 1e6) / count,
      select,
      page,
    })
  }
  return { rounds, page: rounds[0]?.page ?? '' }
}

// --- webhooks

/** The time from the moment at which an endpoint is resumed until all events are at the receiver. */
async function push(place: Place, webhook: string, count: number): Promise<Speed> {
  const { environment, running } = place
  await environment.settle()
  receiver.reset()
  const used = watchCpu(environment, [running.pid])
  const began = now()
  await setState(place, webhook, 'active')
  const seconds = ((await receiver.received(count)) - began) / 1000
  const { node, database } = used()
  return {
    perSecond: count / seconds,
    nodeMicros: (node * 1e6) / count,
    databaseMicros: (database * 1e6) / count,
  }
}

async function posts({ receiver }: Place, page: string) {
  const { events } = JSON.parse(page) as { events: unknown[] }
  const one = { address: receiver.address, atOnce: AT_ONCE }
  const batch = { ...one, body: JSON.stringify({ events: events.slice(0, BATCH) }), events: BATCH }
  const single = { ...one, body: JSON.stringify(events[0]), events: 1 }
  await postYardstick({ ...single, posts: 1_000 }) // not counted
  return {
    inBatches: await postYardstick({ ...batch, posts: Math.ceil(messages / BATCH) }),
    oneByOne: await postYardstick({ ...single, posts: singles }),
  }
}

/** Paused: what happens meanwhile waits behind its position. */
async function createWebhook(place: Place, shape: { url: string; batch: number }): Promise<string> {
  const made = await ask(place.environment, place.running, 'POST', '/herald/v1/webhooks', JSON.stringify(shape))
  const { id } = JSON.parse(made) as { id: string }
  await setState(place, id, 'paused')
  return id
}

function setState({ environment, running }: Place, id: string, state: 'active' | 'paused'): Promise<string> {
  return ask(environment, running, 'PATCH', `/herald/v1/webhooks/${id}`, JSON.stringify({ state }), 200)
}

function remove({ environment, running }: Place, id: string): Promise<string> {
  return ask(environment, running, 'DELETE', `/herald/v1/webhooks/${id}`, null, 200)
}

async function eventsBehind({ environment }: Place, webhook: string): Promise<number> {
  const [row] = await environment.store.db.sql<{ events: number }>`
    select sum(cardinality(e.subjects))::integer as events
    from webhooks w
    join events e on e.service_id = w.service_id and e.key_type = w.key_type and (e.stamp, e.seq) > (w.stamp, w.seq)
    where w.id = ${webhook}`
  return row?.events ?? 0
}

/** A job, delivered to the mail server: its events are grouped as deliveries group them. */
async function deliver({ environment, running, mail }: Place, count: number) {
  const { templates, store } = environment
  const body = JSON.stringify({ name: 'events', template_id: templates.email, rows: people(count, 'email') })
  mail.reset()
  await ask(environment, running, 'POST', '/v2/notifications/bulk', body)
  await mail.received(count)
  const isWaiting = async () =>
    (await store.db.sql`select from tickets where service_id = ${environment.service} limit 1`).length > 0
  await until('the last record', async () => !(await isWaiting()))
}

// --- a dead endpoint

/** Rounds with and without it in turn, because the speed of the machine varies from one minute to the next. */
async function besideDead(place: Place) {
  const { environment, running, mail } = place
  const webhook = await createWebhook(place, { url: receiver.dead, batch: BATCH })
  await fillLog(environment, behind)
  const waiting = await eventsBehind(place, webhook)
  if (waiting < behind) throw new Error(`only ${waiting} events wait`)
  await acceptAndDeliver(environment, mail, [running], seconds) // not counted
  receiver.reset()
  const pairs: { without: Delivered; beside: Delivered }[] = []
  const round = async (state: 'active' | 'paused') => {
    await setState(place, webhook, state)
    await environment.settle()
    return acceptAndDeliver(environment, mail, [running], seconds)
  }
  for (let pair = 0; pair < repeats; pair++) {
    if (pair % 2 === 0) pairs.push({ without: await round('paused'), beside: await round('active') })
    else {
      const beside = await round('active')
      pairs.push({ without: await round('paused'), beside })
    }
  }
  if (receiver.unanswered() === 0) throw new Error('the dead endpoint was never tried')
  await remove(place, webhook)
  return pairs
}

/** Events of the delivered messages, each message again and again, in groups of 100. */
async function fillLog({ store, service }: Environment, count: number) {
  const client = store.db.client() // outside the pool: no timeout
  await client.connect()
  await client.query(
    `with numbered as materialized (
       select id, row_number() over (order by id) as n
       from (select id from states where service_id = $1 order by id limit 10000) chosen
     ),
     groups as materialized (
       select n / 100 as g, array_agg(id) as subjects, array_agg(7) as took from numbered group by n / 100
     )
     insert into events (id, stamp, service_id, key_type, channel, type, subjects, cause, provider, took)
     select event_group(now()), event_stamp(), $1, 'normal', 'email', 'notification.delivered', subjects, 'attempt', 'smtp', took
     from groups
     cross join generate_series(1, $2::integer)
     where cardinality(subjects) >= 99`,
    [service, Math.ceil(count / Math.min(messages, 9_900)) + 1],
  )
  await client.query('vacuum (analyze) events')
  await client.query('checkpoint')
  await client.end()
}

// --- report

function report(
  feed: Awaited<ReturnType<typeof readRounds>>,
  webhooks: { inBatches: Speed; oneByOne: Speed },
  yardsticks: { inBatches: number; oneByOne: number },
  pairs: Awaited<ReturnType<typeof besideDead>>,
) {
  const read = of(feed.rounds, 'perSecond')
  const select = of(feed.rounds, 'select')
  const row = (name: string, { perSecond, nodeMicros, databaseMicros }: Speed, yardstick: number) => [
    name,
    perSecond,
    perSecond / yardstick,
    nodeMicros,
    databaseMicros,
  ]
  const speed = {
    perSecond: read,
    nodeMicros: of(feed.rounds, 'nodeMicros'),
    databaseMicros: of(feed.rounds, 'databaseMicros'),
  }
  table(
    ['events', '/s', '× yardstick', 'node µs', 'pg µs'],
    [
      row(`feed, pages of ${PAGE}, one reader`, speed, select),
      ['rows of the same messages by select', select, 1, '', ''],
      row(`webhook, batches of ${BATCH}`, webhooks.inBatches, yardsticks.inBatches),
      [`a bare client, the same bodies, ${AT_ONCE} at once`, yardsticks.inBatches, 1, '', ''],
      row('webhook, one by one', webhooks.oneByOne, yardsticks.oneByOne),
      [`a bare client, the same bodies, ${AT_ONCE} at once`, yardsticks.oneByOne, 1, '', ''],
    ],
  )
  const without = pairs.map(pair => pair.without)
  const beside = pairs.map(pair => pair.beside)
  const ratio = (what: 'accepted' | 'delivered') => median(pairs.map(pair => pair.beside[what] / pair.without[what]))
  table(
    [`${behind} events behind a dead endpoint`, 'accepted/s', 'delivered/s', 'node µs', 'pg µs'],
    [
      ['without it', ...cells(without)],
      ['with it', ...cells(beside)],
      ['with ÷ without, median of pairs', ratio('accepted'), ratio('delivered'), '', ''],
    ],
  )
  print([
    figure('events_feed', read, '/s', select),
    figure('events_webhook_batches', webhooks.inBatches.perSecond, '/s', yardsticks.inBatches),
    figure('events_webhook_one_by_one', webhooks.oneByOne.perSecond, '/s', yardsticks.oneByOne),
    figure('events_dead_accepted', of(beside, 'accepted'), '/s', of(without, 'accepted'), ratio('accepted')),
    figure('events_dead_delivered', of(beside, 'delivered'), '/s', of(without, 'delivered'), ratio('delivered')),
  ])
}

function cells(rounds: readonly Delivered[]): number[] {
  return [of(rounds, 'accepted'), of(rounds, 'delivered'), of(rounds, 'nodeMicros'), of(rounds, 'databaseMicros')]
}

/** The same environment, with a key that may manage webhooks. */
async function managing(environment: Environment): Promise<Environment> {
  const service = { id: environment.service, name: 'Bench', state: 'active' as const }
  const shape = { name: 'webhooks', key_type: 'normal' as const, manage_templates: false, manage_webhooks: true }
  return { ...environment, key: (await createKey(environment.store, OPERATOR, service, shape)).key }
}
