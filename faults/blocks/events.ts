// Events on their way: processes, readers and the database are killed at every step of writing, reading and delivering; several
// processes share the endpoints; endpoints are paused, gone and resumed, and events are sent again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CRASH_POINTS } from '../../src/telemetry/crash.ts'
import { type Client, newKey, type Sender } from '../support/client.ts'
import { type Environment, RECEIPT_SECRET, type Scenario } from '../support/environment.ts'
import type { Env } from '../support/herald.ts'
import { type Block, type Verdict, verdict } from '../support/promise.ts'
import { createReader } from '../support/reader.ts'
import type { Receiver } from '../support/receiver.ts'
import {
  allowing,
  createEndpoint,
  type Endpoint,
  type Following,
  type Managing,
  manage,
  managing,
  type Outcome,
  settled,
  withReceiver,
} from '../support/webhooks.ts'

/** The maximum of sends in progress and results not yet on disk in one process (rule R3). */
const IN_FLIGHT = 128
const PER_SECOND = 30

export const killedFollowers: Block = {
  name: 'events: death at every step',
  run: environment => withReceiver(environment, (receiver, folder) => killedAtEveryStep(environment, receiver, folder)),
}

export const sharedEndpoints: Block = {
  name: 'events: several processes, and endpoints that are changed',
  run: environment => withReceiver(environment, (receiver, folder) => shared(environment, receiver, folder)),
}

// --- death at every step

const PLACES: readonly (typeof CRASH_POINTS)[number][] = [
  'before-record',
  'after-record',
  'after-receipt-stored',
  'mid-chunk',
  'after-webhook-post',
  'before-webhook-record',
]
const PATIENCE_MS = 10_000

/** From here on the victim does all the work: another process could do it first. */
const ALONE_FROM: (typeof PLACES)[number] = 'mid-chunk'

/** Chunks are rare: a process would often live through all that it meets in PATIENCE_MS. */
const dyingAt = (place: (typeof PLACES)[number] | undefined): Env =>
  place ? { HERALD_CRASH_POINTS: `${place}=kill:${place === 'mid-chunk' ? 0.7 : 0.3}` } : {}

async function killedAtEveryStep(environment: Environment, receiver: Receiver, folder: string): Promise<Verdict[]> {
  const rounds = environment.isLong ? 5 : 1
  const died = new Set<string>()
  let databaseDeaths = 0
  let readerDeaths = 0
  const result = await environment.scenario({ apps: 2, services: 2, env: allowing(receiver) }, async scenario => {
    const { apps, client, allow } = scenario
    const [victim, other] = apps as [(typeof apps)[0], (typeof apps)[0]]
    allow.killed = true
    const followers = await follow(environment, scenario, receiver, folder, 'deaths')
    const load = startLoad(environment, client, scenario.senders, PER_SECOND)
    const killReader = async () => {
      const { reader } = environment.random.pick(followers.readers)
      await reader.kill()
      readerDeaths++
      reader.start()
    }
    for (let round = 0; round < rounds; round++) {
      victim.expect('kill')
      victim.set(dyingAt(PLACES[0]), 'once')
      await victim.kill()
      for (const [at, place] of PLACES.entries()) {
        allow.extra += 2 * IN_FLIGHT
        if (place === ALONE_FROM) await other.term()
        await victim.up()
        const pid = victim.pid()
        victim.set(dyingAt(PLACES[at + 1]), 'once') // after this death
        const isOver = () => victim.pid() !== pid
        for (const end = Date.now() + PATIENCE_MS; !isOver() && Date.now() < end; ) await sleep(20)
        if (isOver()) died.add(place)
        else await victim.kill()
        await killReader()
      }
      await Promise.all([victim.up(), other.start()])
      victim.expect('nothing')
      for (const end of [environment.database.kill, environment.database.abort]) {
        for (const app of apps) app.expect('any')
        allow.extra += 2 * IN_FLIGHT
        await end()
        databaseDeaths++
        await environment.database.start()
        await Promise.all([victim.up(), other.up()])
        for (const app of apps) app.expect('nothing')
        await sleep(environment.random.between(500, 1_500))
      }
    }
    await load.stop()
    await scenario.drained()
    return ending(environment, followers, receiver)
  })
  return [
    verdict(
      'E1',
      'kill -9 of processes and database at every step: statuses and events are the same',
      'each change of status one event, no other',
      `${died.size} of ${PLACES.length} places${PLACES.filter(place => !died.has(place)).map(place => ` (not ${place})`)}, ${databaseDeaths} deaths of the database, ${result.counts.deaths} of processes: ${result.changes} changes, ${result.events} events`,
      { 'each place was met': died.size === PLACES.length, 'none lost': result.counts.lost === 0 },
      [...result.log, ...result.violations],
    ),
    verdict(
      'E2',
      'a reader that follows the feed, killed as well',
      'every event once, in order',
      `${readerDeaths} deaths of readers, ${result.read} events read`,
      { 'something was read': result.read > 0 },
      result.feed,
    ),
    verdict(
      'E3',
      'every live endpoint',
      'every event at least once, with its id, signed, in order per message',
      `${result.received} events taken, ${result.repeats} of them more than once`,
      { 'something was taken': result.received > 0 },
      result.endpoints,
    ),
  ]
}

type Followers = { senders: Sender[]; readers: Following[]; endpoints: Endpoint[]; stop(): Promise<void> }

/** For each service a reader and three endpoints. */
async function follow(
  environment: Environment,
  { apps, client, senders }: Scenario,
  receiver: Receiver,
  folder: string,
  prefix: string,
): Promise<Followers> {
  const addresses = apps.filter(app => app.answers).map(app => app.address)
  const endpoints: Endpoint[] = []
  const readers: Following[] = []
  for (const [n, one] of senders.entries()) {
    const sender = await managing(environment, one)
    const create = (name: string, shape: Parameters<typeof createEndpoint>[4]) =>
      createEndpoint(client, receiver, sender, `${prefix}-${name}-${n}`, shape)
    endpoints.push(
      await create('single', { batch: 1 }),
      await create('batch', { batch: 50 }),
      await create('callback', { format: 'callback' }),
    )
    readers.push({ reader: createReader(folder, { addresses, key: sender.key, limit: 50, wait: 2 }), sender })
  }
  const urls = addresses.map(address => `${address}/receipts/http`)
  await environment.sink.set({
    receipts: { mode: 'late', twice: false, secret: RECEIPT_SECRET, urls },
    rules: [
      { prefix: 'nobody-', what: '5xx', times: 9 },
      { prefix: 'later-', what: '4xx', times: 1 },
    ],
  })
  return {
    senders,
    readers,
    endpoints,
    async stop() {
      await Promise.all(readers.map(({ reader }) => reader.stop()))
    },
  }
}

async function ending(environment: Environment, followers: Followers, receiver: Receiver): Promise<Outcome> {
  const outcome = await settled(environment, followers, receiver.deliveries)
  await followers.stop()
  return outcome
}

/** Messages of all kinds and ends at a steady rate: delivered, refused, deferred, cancelled, of test keys and of jobs. */
export function startLoad(environment: Environment, client: Client, senders: readonly Sender[], perSecond: number) {
  const { random } = environment
  let isOver = false
  const under = new Set<Promise<unknown>>()
  const work = (async () => {
    for (let n = 0; !isOver; n++) {
      const one: Promise<unknown> = send(n).finally(() => under.delete(one))
      under.add(one)
      await sleep(1000 / perSecond)
    }
    await Promise.all(under)
  })()

  async function send(n: number): Promise<unknown> {
    const sender = senders[n % senders.length] as Sender
    const common = { sender, idempotencyKey: newKey() }
    if (n % 30 === 7) return client.bulk({ ...common, count: random.between(10, 60) })
    if (n % 10 === 1) return client.send({ ...common, to: `nobody-${n}@example.org` })
    if (n % 20 === 4) return client.send({ ...common, to: `later-${n}@example.org` })
    if (n % 20 === 8) return client.send({ ...common, isTest: true })
    if (n % 20 === 13) return cancel(sender)
    if (n % 3 === 0)
      return client.send({ ...common, channel: 'sms', to: `+1613555${String(random.between(1_000, 9_999))}` })
    return client.send(common)
  }

  async function cancel(sender: Sender) {
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await client.send({ sender, scheduledFor, idempotencyKey: newKey() })
    for (let tries = 0; tries < 100; tries++) {
      const { status } = await client.ask('DELETE', `/v2/notifications/${id}`, { key: sender.key })
      if (status !== 0 && status < 500) return
      await sleep(100)
    }
  }

  return {
    async stop() {
      isOver = true
      await work
    },
  }
}

// --- several processes, no fault; endpoints that are paused, gone and resumed

async function shared(environment: Environment, receiver: Receiver, folder: string): Promise<Verdict[]> {
  const env = { ...allowing(receiver), HERALD_LEASE_SECONDS: '15' }
  const result = await environment.scenario({ apps: 1, services: 2, env }, async scenario => {
    const { app, client, senders } = scenario
    await app({ only: 'http' })
    await app({ only: 'engine' })
    const followers = await follow(environment, scenario, receiver, folder, 'shared')
    const changed = await createChanged(client, receiver, await managing(environment, senders[0] as Sender))
    const load = startLoad(environment, client, senders, PER_SECOND)
    const { disabled, replayed } = await change(client, receiver, changed)
    await load.stop()
    await scenario.drained()
    const whole = { ...followers, endpoints: [...followers.endpoints, ...Object.values(changed)] }
    const after = await settled(environment, whole, receiver.deliveries)
    const undisturbed = await settled(environment, followers, receiver.deliveries)
    await until(() => timesTaken(receiver, changed.replayed, replayed).every(times => times > 1))
    await followers.stop()
    return { ...after, undisturbed, disabled, again: timesTaken(receiver, changed.replayed, replayed) }
  })
  const { undisturbed, again } = result
  return [
    verdict(
      'E4',
      'a process, one with --only http and one with --only engine share the endpoints; no fault',
      'every event once at each endpoint',
      `${undisturbed.events} events, ${undisturbed.received} taken by ${undisturbed.count} endpoints, ${undisturbed.repeats} of them more than once`,
      { 'no repeats': undisturbed.repeats === 0, 'none lost': result.counts.lost === 0 },
      [...undisturbed.log, ...undisturbed.feed, ...undisturbed.endpoints, ...result.violations],
    ),
    verdict(
      'E5',
      'endpoints that are paused, answer 410 or refuse single events; resumed and replayed under load',
      'nothing lost, in order per message, replayed with the same ids',
      `${result.received} events taken, ${again.filter(times => times > 1).length} of ${again.length} replayed`,
      {
        '410 disables': result.disabled === 'disabled gone',
        'all were replayed': again.length > 0 && again.every(times => times > 1),
      },
      result.endpoints,
    ),
  ]
}

type Changed = Record<'paused' | 'gone' | 'picky' | 'replayed' | 'rotated', Endpoint>

async function createChanged(client: Client, receiver: Receiver, sender: Managing): Promise<Changed> {
  const create = (name: keyof Changed, batch: number) =>
    createEndpoint(client, receiver, sender, `shared-${name}`, { batch })
  const changed = {
    paused: await create('paused', 1),
    gone: await create('gone', 10),
    picky: await create('picky', 1),
    replayed: await create('replayed', 20),
    rotated: await create('rotated', 1),
  }
  await receiver.set(changed.picky.name, { manner: 'picky' })
  return changed
}

/** What owners and endpoints do while events come. Returns the state of the endpoint that was gone, and the events sent again. */
async function change(client: Client, receiver: Receiver, changed: Changed) {
  const on = ({ id, sender }: Endpoint, method: string, path: string, body?: unknown) =>
    manage(client, sender, method, `/${id}${path}`, body)
  const from = new Date().toISOString()
  const hasTaken = () => takenBy(receiver, changed.replayed).length > 30
  await until(hasTaken)
  await on(changed.paused, 'PATCH', '', { state: 'paused' })
  await receiver.set(changed.gone.name, { manner: '410' })
  await on(changed.rotated, 'POST', '/rotate-secret', {})
  let gone = { state: '', reason: '' }
  await until(async () => {
    gone = (await on(changed.gone, 'GET', '')) as typeof gone
    return gone.state !== 'active'
  })
  await sleep(1_000)
  await receiver.set(changed.gone.name, { manner: 'ok' })
  const replayed = takenBy(receiver, changed.replayed)
  const to = new Date().toISOString()
  await on(changed.gone, 'PATCH', '', { state: 'active' })
  await on(changed.paused, 'PATCH', '', { state: 'active' })
  await on(changed.replayed, 'POST', '/replay', { from, to })
  await sleep(1_000)
  return { disabled: `${gone.state} ${gone.reason}`, replayed }
}

async function until(isThere: () => boolean | Promise<boolean>) {
  for (const end = Date.now() + PATIENCE_MS; !(await isThere()) && Date.now() < end; ) await sleep(50)
}

const takenBy = (receiver: Receiver, { name }: Endpoint) =>
  receiver
    .deliveries()
    .filter(delivery => delivery.endpoint === name && delivery.answer === 200)
    .flatMap(delivery => delivery.events.map(event => event.id))

/** How often the endpoint has taken each of these events. */
function timesTaken(receiver: Receiver, endpoint: Endpoint, ids: readonly string[]): number[] {
  const times = new Map<string, number>()
  for (const id of takenBy(receiver, endpoint)) times.set(id, (times.get(id) ?? 0) + 1)
  return ids.map(id => times.get(id) ?? 0)
}
