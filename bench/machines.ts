// The CPU time of a message by the number of machines, each with one HTTP and one engine process in a network namespace of its own, on
// one PostgreSQL. Every machine gets the same rate, because a machine is added for load: one has 20 messages a second, eight have 160 in
// total. The rate must leave cores idle, or batches grow and hide what machines cost: two slow cores do not take 800 a second. One hot service, and a hundred services. Then what synchronous replication costs.
// npm run bench -- machines [--seconds 8] [--repeats 1] [--machines 8] [--rate 20]
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEnvironment, type Environment, type Running } from './support/environment.ts'
import { load } from './support/load.ts'
import { startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { createNetwork, type Machine } from './support/network.ts'
import { sizes } from './support/options.ts'
import { exactCpuSeconds } from './support/process.ts'
import { measureReplication } from './support/replication.ts'
import { type Figure, figure, print, table } from './support/report.ts'
import { emails } from './support/requests.ts'

const { seconds, repeats, rate, machines } = sizes(
  { seconds: 8, repeats: 1, rate: 20, machines: 8 },
  { seconds: 0.5, repeats: 1, machines: 2 },
)
const COUNTS = [1, 2, 4, 8].filter(count => count <= machines)
const MOST = COUNTS.at(-1) ?? 1
const SERVICES = 100
/** Seconds before each measurement that do not count. */
const LEAD_SECONDS = 1.5
/** Messages through each new machine before anything is measured: the code of its processes is not optimised yet. */
const WARM_UP = seconds < 1 ? 200 : 3_000
const CONNECTIONS = 8

type Load = 'hot' | 'many'
/** CPU time of a message in the service and in PostgreSQL, and milliseconds of an accept. */
type Sample = { service: number; database: number; both: number; p50: number }
const NOT_COUNTED: Sample = { service: Number.NaN, database: Number.NaN, both: Number.NaN, p50: Number.NaN }
type Samples = Map<string, Sample[]>
/** An HTTP and an engine process. */
type Pair = readonly [http: Running, engine: Running]

process.setMaxListeners(0) // each of 16 processes is ended with this one
const network = createNetwork(MOST)
const folder = mkdtempSync(join(tmpdir(), 'herald-access-'))
chmodSync(folder, 0o755) // the server runs as nobody when we are root
try {
  const figures = await measureMachines()
  print([...figures, ...(await measureReplication(Math.min(seconds, 2), repeats * 3))])
} finally {
  network.remove()
  rmSync(folder, { recursive: true, force: true })
}

async function measureMachines(): Promise<Figure[]> {
  const environment = await createEnvironment({ settings: { listen_addresses: network.host, hba_file: access() } })
  const mail = await startMail(network.host)
  try {
    const callers = []
    for (let n = 0; n < SERVICES; n++) callers.push(await environment.addCaller(`Bench ${n}`))
    // A number that no number of machines divides: every machine gets requests of every service.
    const requests: Record<Load, string[]> = { hot: emails(environment), many: emails(...callers).slice(0, 997) }
    const both = [...requests.hot, ...requests.many]
    const samples: Samples = new Map()
    const idle: Sample[] = []
    const add = async (running: readonly Pair[], kind: Load, total: number, name: string) => {
      await environment.settle()
      mail.reset()
      const sample = await steady(environment, running, requests[kind], total, mail.received)
      if (sample) samples.set(name, [...(samples.get(name) ?? []), sample])
    }
    const addAll = async (running: readonly Pair[]) => {
      const count = running.length
      for (const kind of ['hot', 'many'] as const) {
        await add(running, kind, count * rate, keyOf(kind, count))
        // The rate of all machines, on one.
        if (count === 1) await add(running, kind, MOST * rate, `${kind} spread`)
      }
    }
    for (let round = 0; round < repeats; round++) {
      const running: Pair[] = []
      // One, two, four, eight, and then eight and one again: the growing tables and a slow phase of this machine affect both.
      for (const count of COUNTS) {
        const fresh = await Promise.all(network.machines.slice(running.length, count).map(one => start(one, mail.port)))
        running.push(...fresh)
        mail.reset()
        const addresses = fresh.map(([http]) => http.address)
        const job = { connections: 64, seconds: 0, warmUp: 0, addresses }
        const { answered } = await load({
          ...job,
          once: true,
          requests: repeated(both, WARM_UP * fresh.length),
        })
        await mail.received(answered)
        await addAll(running)
      }
      idle.push(await idleCost(environment, running))
      await addAll(running)
      const leaving = running.splice(1)
      await Promise.all(leaving.flat().map(one => one.stop()))
      await addAll(running)
      await Promise.all(running.flat().map(one => one.stop()))
    }
    return report(samples, idle, mail.name)
  } finally {
    mail.stop()
    await environment.stop()
  }

  async function start({ address, through }: Machine, mailPort: number): Promise<Pair> {
    const env = {
      DATABASE_URL: `postgresql://${environment.database.user}@${network.host}/${environment.database.database}`,
      HERALD_HOST: address,
      HERALD_SMTP_URL: `smtp://${network.host}:${mailPort}`,
      HERALD_SMTP_TLS: 'opportunistic',
    }
    return Promise.all([
      environment.start({ only: 'http', through, env }),
      environment.start({ only: 'engine', through, env }),
    ])
  }
}

/** The access rules of the database: our socket, and the network of the machines. */
function access(): string {
  const file = join(folder, 'pg_hba.conf')
  writeFileSync(file, `local all all trust\nhost all all ${network.range} trust\n`)
  return file
}

/** CPU time between the lead and the end of the load. Null: this machine was saturated, and what was measured is its queue. */
async function steady(
  environment: Environment,
  running: readonly Pair[],
  requests: string[],
  total: number,
  received: (count: number) => Promise<number>,
): Promise<Sample | null> {
  const job = { requests, connections: CONNECTIONS * running.length, seconds, warmUp: LEAD_SECONDS, rate: total }
  const loading = load({ ...job, addresses: running.map(([http]) => http.address) })
  const [service, database] = await cpuDuring(environment, running, LEAD_SECONDS, seconds)
  const { answered, statuses, perSecond, p50 } = await loading
  if (statuses[201] !== answered) throw new Error(`not everything was answered 201: ${JSON.stringify(statuses)}`)
  await received(answered)
  if (perSecond < total * 0.95) {
    console.log(`Not counted: ${Math.round(perSecond)} of ${total}/s were accepted. Use a lower --rate.`)
    return null
  }
  const each = 1e6 / (perSecond * seconds)
  return { service: service * each, database: database * each, both: (service + database) * each, p50 }
}

/** Per machine and second, in µs. */
async function idleCost(environment: Environment, running: readonly Pair[]): Promise<Sample> {
  const [service, database] = await cpuDuring(environment, running, LEAD_SECONDS, seconds)
  const each = 1e6 / (running.length * seconds)
  return { service: service * each, database: database * each, both: (service + database) * each, p50: 0 }
}

async function cpuDuring(environment: Environment, running: readonly Pair[], lead: number, length: number) {
  const read = () => [
    exactCpuSeconds(running.flat().map(one => one.pid)),
    exactCpuSeconds([environment.database.pid], { family: true }),
  ]
  await sleep(lead * 1000)
  const before = read()
  await sleep(length * 1000)
  return read().map((value, at) => value - (before[at] ?? 0)) as [service: number, database: number]
}

function report(samples: Samples, idle: readonly Sample[], sink: string): Figure[] {
  const taken = (name: string) => samples.get(name) ?? [NOT_COUNTED]
  const words: Record<Load, string> = { hot: 'one service', many: `${SERVICES} services` }
  const row = (name: string, count: number, total: number, kind: Load, key: string) => [
    name,
    count,
    total,
    of(taken(key), 'service'),
    of(taken(key), 'database'),
    of(taken(key), 'both') / of(taken(keyOf(kind, 1)), 'both'),
    of(taken(key), 'p50'),
  ]
  const kinds = ['hot', 'many'] as const
  table(
    [`to ${sink}`, 'machines', '/s', 'service µs', 'pg µs', '× one machine', 'p50 ms'],
    kinds.flatMap(kind => [
      ...COUNTS.map(count => row(words[kind], count, count * rate, kind, keyOf(kind, count))),
      row(`${words[kind]}, all on one`, 1, MOST * rate, kind, `${kind} spread`),
    ]),
  )
  console.log(
    `${network.hasNamespaces ? 'Each machine in a network namespace of its own' : 'All machines on the loopback device'}.` +
      ` An idle machine: ${Math.round(of(idle, 'service'))} µs of the service and ${Math.round(of(idle, 'database'))} µs of` +
      ` PostgreSQL a second, of ${MOST} machines.\n`,
  )
  const figures = [
    ...kinds.flatMap(kind =>
      COUNTS.flatMap(count => {
        const [one, these] = [taken(keyOf(kind, 1)), taken(keyOf(kind, count))]
        const compared = (what: 'service' | 'database' | 'both', name: string) =>
          figure(`machines_${kind}_${count}_${name}`, of(these, what), 'µs', of(one, what))
        return [compared('both', 'cpu'), compared('service', 'cpu_service'), compared('database', 'cpu_database')]
      }),
    ),
    ...kinds.map(kind =>
      figure(
        `machines_${kind}_${MOST}_spread`,
        of(taken(keyOf(kind, MOST)), 'both'),
        'µs',
        of(taken(`${kind} spread`), 'both'),
      ),
    ),
    figure('machines_idle_database', of(idle, 'database') / 1000, 'ms', of(idle, 'service') / 1000),
  ]
  return figures.filter(one => Number.isFinite(one.ratio))
}

function keyOf(kind: Load, count: number): string {
  return `${kind} ${count}`
}

function repeated(requests: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, n) => requests[n % requests.length] as string)
}
