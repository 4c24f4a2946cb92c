// Shared resources run out or hang: the disk, the database, network connections, and connections occupied by slow callers.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, newKey, type Sender } from '../support/client.ts'
import { mountSmall } from '../support/disk.ts'
import { createEnvironment, type Environment } from '../support/environment.ts'
import type { App } from '../support/herald.ts'
import { type Block, percentile, skipped, type Verdict, verdict } from '../support/promise.ts'
import { createRelay, statusOf } from '../support/relay.ts'

/** The lease is longer than any of these faults, so no worker counts as dead. */
const PATIENT = { HERALD_LEASE_SECONDS: '30' }
const pick = (senders: readonly Sender[], n: number) => senders[n % senders.length] as Sender

const DISK = [
  'D5',
  'the disk of the database is full',
  'lost 0, refused with 500, stays up, accepts again soon',
] as const
const DISK_MEGABYTES = 224

export const fullDisk: Block = {
  name: DISK[1],
  async run(environment) {
    const folder = mkdtempSync(join(tmpdir(), 'hd-'))
    const place = join(folder, 'postgres')
    mkdirSync(place)
    const disk = mountSmall(place, DISK_MEGABYTES)
    if ('problem' in disk) {
      rmSync(folder, { recursive: true })
      return [skipped(...DISK, disk.problem)]
    }
    const own = await createEnvironment(environment.random, environment.isLong, {
      folder,
      postgres: { max_wal_size: '48MB', min_wal_size: '32MB' },
    })
    try {
      return await fillDisk(own, disk)
    } finally {
      await own.stop()
      disk.stop()
      rmSync(folder, { recursive: true })
      for (const [name, count] of Object.entries(own.totals))
        environment.totals[name] = (environment.totals[name] ?? 0) + count
    }
  },
}

async function fillDisk(environment: Environment, disk: { fill(): void; free(): void }): Promise<Verdict[]> {
  const result = await environment.scenario({ apps: 2, env: PATIENT }, async ({ apps, client, senders }) => {
    const some = (n: number) => ({ sender: pick(senders, n), idempotencyKey: n % 10 === 0 ? newKey() : null })
    const pids = apps.map(app => app.pid())
    await client.load(100, 100, some)
    disk.fill()
    const named: Promise<unknown>[] = []
    const refused: number[] = []
    for (const until = Date.now() + 20_000; Date.now() < until && refused.length < 200; ) {
      named.push(client.send({ sender: pick(senders, named.length), idempotencyKey: newKey() }))
      const answers = await client.load(20, 200, n => ({ sender: pick(senders, n) }))
      refused.push(...answers.filter(answer => answer.status !== 201).map(answer => answer.status))
      if (refused.length === 0) disk.fill() // space was freed meanwhile
    }
    disk.free()
    await environment.database.start() // in case it shut down because it could not write
    const back = Date.now()
    const first = await client.send({ sender: pick(senders, 0), idempotencyKey: newKey() })
    await Promise.all(named)
    await client.load(100, 100, some)
    return {
      refused,
      seconds: (first.answeredAt - back) / 1000,
      stayed: apps.every((app, at) => app.pid() === pids[at]),
    }
  })
  const [halves] = await environment.store.db.sql<{ halves: number }>`
    select count(*)::integer as halves
    from notifications n
    full join states s on s.id = n.id
    where n.id is null or s.id is null`
  const { counts, refused, seconds } = result
  return [
    verdict(
      ...DISK,
      `${counts.accepted} accepted, ${refused.length} refused, ${counts.lost} lost, ${counts.extra} extra, ${halves?.halves} half-written, accepts again after ${seconds.toFixed(2)} s`,
      {
        'the disk was full': refused.length > 0,
        'refused with 500': refused.every(status => status === 500),
        'none lost': counts.lost === 0,
        'no extra': counts.extra === 0,
        'nothing half-written': halves?.halves === 0,
        'processes stayed up': result.stayed,
        'accepts again soon': seconds <= 5,
      },
      result.violations,
    ),
  ]
}

const SLACK = 5
const SLOW = { short: { connections: 100, header: 2, body: 3 }, long: { connections: 500, header: 10, body: 30 } }

export const slowCallers: Block = {
  name: 'slow callers',
  async run(environment) {
    const { connections, header, body } = SLOW[environment.isLong ? 'long' : 'short']
    const env = { HERALD_HEADER_SECONDS: String(header), HERALD_REQUEST_SECONDS: String(body) }
    const result = await environment.scenario({ apps: 1, env }, async ({ apps, client, senders }) => {
      const app = apps[0] as App
      const p95 = async () => {
        const answers = await client.load(60, 100, n => ({ sender: pick(senders, n) }))
        return percentile(
          answers.map(answer => answer.answeredAt - answer.sentAt),
          0.95,
        )
      }
      const threeTimes = async () => [await p95(), await p95(), await p95()].sort((a, b) => a - b)[1] ?? 0
      const base = await threeTimes()
      const drips = Array.from({ length: connections }, (_, n) =>
        drip(app.address, DRIPS[n % DRIPS.length] as Drip, pick(senders, n)),
      )
      const dripping = Promise.all(drips.map(one => one.ended))
      await Promise.all(drips.map(one => one.begun))
      const beside = await threeTimes()
      const ends = await dripping
      // The machine may have become slower meanwhile, for other reasons.
      return { base: Math.max(base, await threeTimes()), beside, ends }
    })
    // Node checks once a second, and a busy machine is later.
    const slack = SLACK + result.base / 50
    const limitOf = (drip: Drip) => (drip === 'body' ? body : header) + slack
    const late = result.ends.filter(one => one.seconds > limitOf(one.drip))
    const wordless = result.ends.filter(
      one => one.drip !== 'silent' && !/^HTTP\/1.1 408 .*"status_code":408/s.test(one.said),
    )
    const longest = (drip: Drip) =>
      Math.max(...result.ends.filter(one => one.drip === drip).map(one => one.seconds)).toFixed(1)
    return [
      verdict(
        'C2',
        `${connections} callers that drip headers or a body`,
        `cut after ${header} s (headers), ${body} s (body); others’ p95 ≤ 2 × (or + 300 ms)`,
        `cut after ${longest('silent')} s (silent), ${longest('header')} s (headers), ${longest('body')} s (body); others’ p95 ${result.base} → ${result.beside} ms`,
        {
          'all cut in time': late.length === 0,
          'result why': wordless.length === 0,
          'others did not notice': result.beside <= Math.max(2 * result.base, result.base + 300),
          'others were served': result.counts.refused === 0,
        },
        [...result.violations, ...wordless.slice(0, 1).map(one => JSON.stringify(one))],
        (header + slack) / (header + SLACK),
      ),
    ]
  },
}

const DRIPS = ['silent', 'header', 'body'] as const
type Drip = (typeof DRIPS)[number]

type Dripped = { drip: Drip; seconds: number; said: string }

/** Sends a byte now and then until the connection is closed; returns how long that took and the answer. */
function drip(address: string, drip: Drip, sender: Sender): { begun: Promise<void>; ended: Promise<Dripped> } {
  const socket = net.connect(Number(new URL(address).port), '127.0.0.1')
  socket.on('error', () => {}) // being disconnected is the expected result
  const begun = new Promise<void>(resolve => {
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })
  const ended = begun.then(async () => {
    const since = performance.now()
    const start = 'POST /v2/notifications/email HTTP/1.1\r\nHost: herald\r\n'
    const rest = `Authorization: ApiKey-v1 ${sender.key}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{`
    if (drip === 'header') socket.write(`${start}X-Slow: `)
    if (drip === 'body') socket.write(start + rest)
    const timer = setInterval(() => drip !== 'silent' && socket.write(' '), 400)
    let said = ''
    socket.setEncoding('utf8').on('data', text => {
      said += text
    })
    if (!socket.destroyed) await new Promise(resolve => socket.once('close', resolve))
    clearInterval(timer)
    return { drip, seconds: (performance.now() - since) / 1000, said }
  })
  return { begun, ended }
}

export const frozenDatabase: Block = {
  name: 'a database that hangs',
  async run(environment) {
    const seconds = environment.isLong ? 10 : 5
    const rate = environment.isLong ? 200 : 60
    // Twice the statement timeout: a request that arrives late must not wait for earlier ones.
    const statement = environment.isLong ? 5 : 2
    const env = { ...PATIENT, HERALD_DATABASE_SECONDS: String(statement) }
    const result = await environment.scenario({ apps: 2, env }, async ({ apps, client, senders }) => {
      // Enough connections: waiting for a free one would count as waiting for Herald.
      const mine = createClient(() => apps.map(app => app.address), { sockets: 4_000 })
      const pids = apps.map(app => app.pid())
      const some = (n: number) => ({ sender: pick(senders, n), idempotencyKey: n % 10 === 0 ? newKey() : null })
      const calm = await mine.load(rate, rate, some)
      const base =
        percentile(
          calm.map(answer => answer.answeredAt - answer.sentAt),
          0.95,
        ) / 1000
      const before = megabytes(apps)
      const watch = watchLiveness(apps)
      const sending = mine.load(rate * (seconds + 2), rate, some)
      await sleep(500)
      environment.database.freeze()
      await sleep(seconds * 1000)
      const peak = megabytes(apps)
      environment.database.thaw()
      const back = Date.now()
      const answers = await sending
      client.answers.push(...mine.answers)
      const firstAfter = Math.min(
        ...answers.filter(one => one.sentAt >= back && one.status === 201).map(one => one.answeredAt - back),
      )
      // A request with an idempotency key is repeated until it is answered, so only requests without one are timed.
      const slowest = Math.max(...answers.filter(one => one.tries === 1).map(one => one.answeredAt - one.sentAt)) / 1000
      const lives = await watch()
      return {
        base,
        slowest,
        recovery: firstAfter / 1000,
        grown: peak - before,
        lives,
        stayed: apps.every((app, at) => app.pid() === pids[at]),
      }
    })
    const { counts, base, slowest, recovery, grown, lives } = result
    const limit = statement + 1 // one more second until the process gives up on the connection
    const slack = Math.max(1, 2 * base)
    return [
      verdict(
        'C3',
        `the database hangs for ${seconds} s at ${rate} requests a second`,
        `every answer ≤ ${limit} s (and ${slack.toFixed(1)} s for this machine), memory + 150 MB at most, alive, recovers ≤ 2 s, lost 0`,
        `${counts.accepted} accepted, ${counts.refused} refused, slowest answer ${slowest.toFixed(1)} s, memory ${grown >= 0 ? '+' : '−'}${Math.abs(grown).toFixed(0)} MB, ${lives.asked - lives.missed} of ${lives.asked} times alive, accepts again after ${recovery.toFixed(2)} s, ${counts.lost} lost, ${counts.extra} extra`,
        {
          'every answer in time': slowest <= limit + slack,
          'memory is bounded': grown <= 150,
          'always alive': lives.missed === 0,
          'recovers in time': recovery <= 2 + slack,
          'none lost': counts.lost === 0,
          'no extra': counts.extra === 0,
          'processes stayed up': result.stayed,
        },
        result.violations,
        Math.max((limit + slack) / (limit + 1), (2 + slack) / 3),
      ),
    ]
  },
}

const megabytes = (apps: readonly App[]) => Math.max(...apps.map(app => app.size()?.megabytes ?? 0))

/** Requests /health/live of every process every 250 ms until stopped. */
function watchLiveness(apps: readonly App[]): () => Promise<{ asked: number; missed: number }> {
  const answers: Promise<number>[] = []
  const timer = setInterval(() => {
    for (const app of apps) answers.push(statusOf(`${app.address}/health/live`, 5_000))
  }, 250)
  return async () => {
    clearInterval(timer)
    const statuses = await Promise.all(answers)
    return { asked: statuses.length, missed: statuses.filter(status => status !== 200).length }
  }
}

export const brokenLines: Block = {
  name: 'connections that break',
  async run(environment) {
    return [await databaseLine(environment), await providerLine(environment)]
  },
}

async function databaseLine(environment: Environment): Promise<Verdict> {
  const rounds = environment.isLong ? 3 : 1
  const relay = await createRelay({ path: environment.database.socket })
  const env = {
    // Messages that were leased when the connection broke are retried after their lease; the scenario waits for that.
    HERALD_LEASE_SECONDS: environment.isLong ? '30' : '12',
    DATABASE_URL: `postgresql://herald@127.0.0.1:${relay.port}/postgres`,
    HERALD_DATABASE_SECONDS: '2',
  }
  try {
    const result = await environment.scenario({ apps: 2, env }, async ({ apps, client, senders }) => {
      const pids = apps.map(app => app.pid())
      const waits: Record<string, number> = {}
      const until201 = async (name: string) => {
        const since = Date.now()
        await client.send({ sender: pick(senders, 0), idempotencyKey: newKey() })
        waits[name] = Math.max(waits[name] ?? 0, (Date.now() - since) / 1000)
      }
      let isOver = false
      const sending = (async () => {
        while (!isOver)
          await client.load(40, 40, n => ({ sender: pick(senders, n), idempotencyKey: n % 2 === 0 ? newKey() : null }))
      })()
      for (let round = 0; round < rounds; round++) {
        for (let times = 0; times < 3; times++) {
          await sleep(environment.random.between(100, 500))
          relay.reset()
          await until201('reset')
        }
        relay.set({ latencyMs: 40, bytesPerSecond: 500_000 })
        await sleep(1_000)
        relay.set({ latencyMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY, isSilent: true })
        await sleep(environment.isLong ? 8_000 : 2_000)
        relay.set({ isSilent: false })
        await until201('silence')
        await sleep(500)
        relay.strand()
        await until201('half-open')
        await sleep(500)
      }
      isOver = true
      await sending
      return { waits, stayed: apps.every((app, at) => app.pid() === pids[at]) }
    })
    const { counts, waits } = result
    const shown = Object.entries(waits).map(([name, seconds]) => `${seconds.toFixed(1)} s (${name})`)
    return verdict(
      'D2b',
      'the connection to the database is reset, slow, silent, half-open',
      'lost 0, extra 0, stays up, accepts again ≤ 15 s',
      `${counts.accepted} accepted, ${counts.refused} refused, ${counts.lost} lost, ${counts.extra} extra, accepts again after ${shown.join(', ')}`,
      {
        'none lost': counts.lost === 0,
        'no extra': counts.extra === 0,
        'processes stayed up': result.stayed,
        'accepts again in time': Math.max(...Object.values(waits)) <= 15,
      },
      result.violations,
    )
  } finally {
    await relay.stop()
  }
}

/** The maximum of sends in progress on the connections of one process. */
const ON_THE_LINE = 64

async function providerLine(environment: Environment): Promise<Verdict> {
  const rounds = environment.isLong ? 3 : 1
  const mail = await createRelay({ port: environment.sink.smtpPort })
  const texts = await createRelay({ port: environment.sink.httpPort })
  const env = {
    ...PATIENT,
    HERALD_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    HERALD_SMTP_REPLY_SECONDS: '3',
    HERALD_HTTP_SMS_URL: `http://127.0.0.1:${texts.port}/sms`,
  }
  try {
    const result = await environment.scenario({ apps: 1, env }, async ({ client, senders, allow, drained }) => {
      const load = () =>
        client.load(90, 90, n => ({
          sender: pick(senders, n),
          idempotencyKey: newKey(),
          isUrgent: true,
          // 30 s until a text message times out and as long until its retry: only in a long run.
          ...(environment.isLong &&
            n % 3 === 0 && { channel: 'sms' as const, isUrgent: false, to: `+1613555${String(1_000 + (n % 1_000))}` }),
        }))
      const both = [mail, texts]
      for (let round = 0; round < rounds; round++) {
        const sending = load()
        await sleep(300)
        allow.extra += ON_THE_LINE
        for (const relay of both) relay.reset()
        await sleep(300)
        for (const relay of both) relay.set({ latencyMs: 30, bytesPerSecond: 200_000 })
        await sending
        for (const relay of both) relay.set({ latencyMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY, isSilent: true })
        const more = load()
        await sleep(1_500)
        for (const relay of both) relay.set({ isSilent: false })
        await sleep(200)
        allow.extra += ON_THE_LINE
        for (const relay of both) relay.strand()
        await more
      }
      return { isDrained: await drained(90) }
    })
    const { counts } = result
    return verdict(
      'F11',
      'the connection to a provider is reset, slow, silent, half-open',
      'lost 0, extra only if uncertain',
      `${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra, ${counts.uncertain} uncertain`,
      { 'none lost': counts.lost === 0, 'everything left': result.isDrained },
      result.violations,
    )
  } finally {
    await mail.stop()
    await texts.stop()
  }
}
