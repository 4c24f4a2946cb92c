// Endpoints that are hostile: slow, failing, endless, redirecting, and one whose name resolves to a forbidden address later. Other
// endpoints and messages are not delayed, and a hostile endpoint gains nothing.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, newKey, type Sender } from '../support/client.ts'
import type { Environment, Scenario } from '../support/environment.ts'
import { type Block, factorOf, percentile, type Verdict, verdict } from '../support/promise.ts'
import { ALLOWED, FORBIDDEN, type Manner, type Receiver } from '../support/receiver.ts'
import type { Arrival } from '../support/sink.ts'
import {
  allowing,
  createEndpoint,
  type Endpoint,
  type Managing,
  manage,
  managing,
  settled,
  withReceiver,
} from '../support/webhooks.ts'

const NAMES = new URL('../support/names.mjs', import.meta.url).href
const MANNERS: readonly Manner[] = ['slow', 'hang', '500', 'reset', 'redirect', 'endless', 'drip', 'headers']
const MOVED = 'receiver.example.org'
const PER_SECOND = 20
const ALONE_SECONDS = 3
const BESIDE_SECONDS = 6
/**
 * What a message and an event take without hostile endpoints, p95, on a quiet machine with two cores. Turns of an endpoint are 0.25 s
 * apart.
 */
const QUIET_MESSAGE_MS = 60
const QUIET_EVENT_MS = 320
const MESSAGE_MS = 250
const EVENT_MS = 500
/** Much more than is read of an answer: the buffers of both ends of the connection count as well. */
const MOST_BYTES = 16 * 1024 * 1024
/** An attempt that hangs is recorded after its timeout of 10 s. */
const ATTEMPT_SECONDS = 25
const PATIENCE_MS = 15_000

export const hostileReceivers: Block = {
  name: 'events: hostile endpoints',
  run: environment => withReceiver(environment, (receiver, folder) => beside(environment, receiver, folder)),
}

async function beside(environment: Environment, receiver: Receiver, folder: string): Promise<Verdict[]> {
  const names = join(folder, 'names.json')
  const resolve = (address: string) => writeFileSync(names, JSON.stringify({ [MOVED]: address }))
  resolve(ALLOWED)
  const env = {
    ...allowing(receiver),
    HERALD_LEASE_SECONDS: '15',
    NODE_OPTIONS: `--import ${NAMES}`,
    FAULTS_NAMES: names,
  }
  const result = await environment.scenario({ apps: 1, services: 2, env }, async scenario => {
    const { client, senders } = scenario
    const [honest, other] = await Promise.all(senders.map(sender => managing(environment, sender)))
    if (!honest || !other) throw new Error('two services are needed')
    const live = [
      await createEndpoint(client, receiver, honest, 'live'),
      await createEndpoint(client, receiver, other, 'beside', { batch: 10 }),
    ]
    await measure(scenario, receiver, senders, 1) // not counted: the code is not optimised yet
    const alone = await measure(scenario, receiver, senders, ALONE_SECONDS)
    const { hostile, moved } = await createHostile(scenario, receiver, other, () => resolve(FORBIDDEN))
    const attacked = await measure(scenario, receiver, senders, BESIDE_SECONDS)
    await scenario.drained()
    const after = await settled(environment, { senders, readers: [], endpoints: live }, receiver.deliveries)
    const attempts = await attemptsOf(scenario, other, [...hostile, moved])
    return { alone, attacked, ...after, attempts, most: await receiver.most(), trespasses: receiver.trespasses() }
  })
  const { alone, attacked, attempts, counts } = result
  const factor = Math.max(factorOf(QUIET_MESSAGE_MS, alone.message), factorOf(QUIET_EVENT_MS, alone.event))
  const missing = attempts.filter(one => one.count === 0).map(one => `no attempt of ${one.name} is recorded`)
  const shown = (ms: number) => ms.toFixed(0)
  return [
    verdict(
      'E6',
      `${attempts.length} hostile endpoints beside others: slow, hanging, failing, endless`,
      `events of other endpoints p95 ≤ ${EVENT_MS} ms, messages p95 ≤ ${MESSAGE_MS} ms, nothing lost`,
      `events ${shown(alone.event)} → ${shown(attacked.event)} ms, messages ${shown(alone.message)} → ${shown(attacked.message)} ms, ${result.received} events taken by the others`,
      {
        'events in time': attacked.event <= EVENT_MS * factor,
        'messages in time': attacked.message <= MESSAGE_MS * factor,
        'none lost': counts.lost === 0,
      },
      [...result.log, ...result.endpoints, ...result.violations],
      factor,
    ),
    verdict(
      'E7',
      'hostile endpoints gain nothing: redirects, endless answers, a name that changes to a forbidden address',
      'no redirect followed, no forbidden address connected, answers bounded, every attempt recorded',
      `${attempts.reduce((sum, one) => sum + one.count, 0)} attempts recorded, ${result.trespasses.length} trespasses, at most ${Math.ceil(result.most / 1024)} kB of an answer`,
      { 'answers are bounded': result.most <= MOST_BYTES },
      [...result.trespasses, ...missing],
    ),
  ]
}

type Measured = { message: number; event: number }

/** p95 of messages, from the request to the provider, and of events, from the log to a live endpoint; milliseconds. */
async function measure(
  { client, arrivals }: Scenario,
  receiver: Receiver,
  senders: readonly Sender[],
  seconds: number,
): Promise<Measured> {
  const answers = await client.load(2 * PER_SECOND * seconds, 2 * PER_SECOND, n => ({
    sender: senders[n % senders.length] as Sender,
    idempotencyKey: newKey(),
  }))
  const read = () => timesOf(answers, arrivals(), receiver)
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(100))
    if (read().every(({ message, event }) => message < Infinity && event < Infinity)) break
  const times = read()
  return {
    message: percentile(
      times.map(one => one.message),
      0.95,
    ),
    event: percentile(
      times.map(one => one.event),
      0.95,
    ),
  }
}

function timesOf(answers: readonly Answer[], arrivals: readonly Arrival[], receiver: Receiver): Measured[] {
  const arrivedAt = new Map(arrivals.map(arrival => [arrival.id, arrival.at]))
  const taken = receiver.deliveries().filter(({ endpoint }) => endpoint === 'live' || endpoint === 'beside')
  const lags = new Map(
    taken.flatMap(({ at, events }) => events.map(event => [event.about, at - Date.parse(event.timestamp)] as const)),
  )
  return answers.map(({ id, sentAt }) => ({
    message: (arrivedAt.get(id ?? '') ?? Infinity) - sentAt,
    event: lags.get(id ?? '') ?? Infinity,
  }))
}

/** One endpoint of each kind, and one that takes events until its name resolves to another address. */
async function createHostile({ client }: Scenario, receiver: Receiver, sender: Managing, move: () => void) {
  const hostile: Endpoint[] = []
  for (const manner of MANNERS) {
    const endpoint = await createEndpoint(client, receiver, sender, `hostile-${manner}`, { batch: 1 })
    await receiver.set(endpoint.name, { manner })
    hostile.push(endpoint)
  }
  const moved = await createEndpoint(client, receiver, sender, 'hostile-moved', { host: MOVED })
  move()
  return { hostile, moved }
}

async function attemptsOf({ client }: Scenario, sender: Managing, endpoints: readonly Endpoint[]) {
  const counted = async () =>
    Promise.all(
      endpoints.map(async ({ id, name }) => {
        const page = (await manage(client, sender, 'GET', `/${id}/attempts`)) as { attempts: unknown[] }
        return { name, count: page.attempts.length }
      }),
    )
  for (const until = Date.now() + ATTEMPT_SECONDS * 1000; ; await sleep(500)) {
    const found = await counted()
    if (Date.now() > until || found.every(one => one.count > 0)) return found
  }
}
