// A base backup under load, restored elsewhere by the command. The copy has a mail server of its own, which shows what the copy
// sends.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/config/index.ts'
import { backUp } from '../../src/db/backup.ts'
import { openStore } from '../../src/store.ts'
import { check } from '../support/checker.ts'
import { endsWithUs } from '../support/children.ts'
import { type Answer, createClient, newKey, type Sender } from '../support/client.ts'
import type { Environment } from '../support/environment.ts'
import { type App, createApp, type Death, type Env } from '../support/herald.ts'
import { type Block, verdict } from '../support/promise.ts'
import { type Arrival, createSink, type Sink } from '../support/sink.ts'

const SCHEDULED = 10
const NEW = 5
/** Several times the interval at which the engine polls for work. */
const QUIET_MS = 3_000

export const backedUp: Block = {
  name: 'a backup under load, restored elsewhere',
  async run(environment) {
    const folder = mkdtempSync(join(tmpdir(), 'hb-'))
    chmodSync(folder, 0o711)
    const sink = await createSink(folder)
    try {
      const result = await environment.scenario({ apps: 2 }, async ({ apps, client, senders, arrivals }) => {
        const [first, second] = senders as [Sender, Sender]
        const backup = join(folder, 'backup')
        const scheduledFor = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)
        const scheduled = await Promise.all(
          Array.from({ length: SCHEDULED }, () => client.send({ sender: first, scheduledFor })),
        )
        let isDone = false
        const load = async () => {
          while (!isDone)
            await client.load(150, environment.isLong ? 300 : 150, n => ({
              sender: n % 2 ? first : second,
              idempotencyKey: n % 2 ? newKey() : null,
            }))
        }
        const sending = load()
        await sleep(environment.isLong ? 60_000 : 1_500)
        const since = performance.now()
        const { begun, done } = await backUpServer(environment, backup)
        const seconds = (performance.now() - since) / 1000
        isDone = true
        await sending
        for (const { id, sender } of scheduled) await cancel(apps, sender, id)
        const before = client.answers.filter(answer => answer.answeredAt < Date.parse(begun))
        const copy = await restored(
          environment,
          { folder, backup, sink },
          senders,
          { before, scheduled, answers: client.answers, arrivals },
          done,
        )
        return { ...copy, seconds, before: before.length, scheduled: scheduled.map(one => one.id ?? '') }
      })
      const { counts, expected, sent } = result
      const due = [...result.scheduled, ...expected]
      const strangers = sent.filter(id => !due.includes(id))
      const missing = due.filter(id => !sent.includes(id))
      return [
        verdict(
          'B1',
          'base backup under load, restored elsewhere',
          'it opens; nothing accepted before is lost',
          `${counts.accepted} accepted, ${result.before} of them before the backup of ${result.seconds.toFixed(1)} s; ${result.copied.counts.lost} lost in the copy`,
          { 'none lost in the copy': result.copied.counts.lost === 0, 'some were accepted before': result.before > 0 },
          [...result.violations, ...result.copied.violations],
        ),
        verdict(
          'B2',
          'a restored copy sends nothing until it is released, then only what was never tried and is due later',
          '0 sent before; none but those after, each once',
          `${result.early} sent before the release, ${result.kept} kept back; after it ${sent.length} of ${due.length} sent, ${strangers.length} others`,
          {
            'it said that it was held': result.saidHeld,
            'none before the release': result.early === 0,
            'no others after it': strangers.length === 0,
            'none missing': missing.length === 0,
            'each once': new Set(sent).size === sent.length,
          },
        ),
      ]
    } finally {
      await sink.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** The original cancels its scheduled messages, or this scenario would last an hour. */
async function cancel(apps: readonly App[], sender: Sender, id: string | null) {
  const headers = { authorization: `ApiKey-v1 ${sender.key}` }
  await fetch(`${apps[0]?.address}/v2/notifications/${id}`, { method: 'DELETE', headers })
}

/** The test runs the server itself, so it calls the function behind the command directly. */
async function backUpServer(environment: Environment, backup: string) {
  const client = environment.store.db.client()
  await client.connect()
  try {
    return await backUp(client, join(environment.store.config.dataFolder, 'postgres', 'data'), backup, () => {})
  } finally {
    await client.end()
  }
}

async function restored(
  environment: Environment,
  { folder, backup, sink }: { folder: string; backup: string; sink: Sink },
  senders: readonly Sender[],
  original: {
    before: readonly Answer[]
    scheduled: readonly Answer[]
    answers: readonly Answer[]
    arrivals(): Arrival[]
  },
  cutOff: string,
) {
  const env: Env = {
    HERALD_DATA: join(folder, 'elsewhere'),
    HERALD_SECRET: environment.store.secrets[0] ?? '',
    HERALD_LEASE_SECONDS: '3',
    HERALD_LOG_LEVEL: 'warn',
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${sink.smtpPort}`,
    HERALD_SMTP_TLS: 'never',
  }
  await herald(env, 'restore', backup)
  const deaths: Death[] = []
  const app = await createApp('copy', { folder, deaths, env })
  try {
    await app.start()
    const client = createClient(() => [app.address])
    const fresh = await Promise.all(
      Array.from({ length: NEW }, () => client.send({ sender: senders[0] as Sender, idempotencyKey: newKey() })),
    )
    await sleep(QUIET_MS)
    const early = sink.arrivals().length
    const saidHeld = /^herald_held 1$/m.test(await (await fetch(`${app.address}/metrics`)).text())
    const store = await openStore(readConfig(env), { make: true })
    try {
      // Messages accepted during the copy may be in the backup; messages accepted before it must be.
      const services = senders.map(sender => sender.service)
      const rows = await store.db.sql<{ id: string }>`
        select id from notifications where service_id = any (${services}::uuid[])`
      const ids = new Set([...rows.map(row => row.id), ...original.before.map(answer => answer.id)])
      const copied = await check(store.db.sql, {
        services,
        answers: [...original.answers.filter(answer => ids.has(answer.id)), ...client.answers],
        jobs: [],
        refusals: [],
        arrivals: original.arrivals().filter(arrival => ids.has(arrival.id)),
        deaths,
        logs: [app.log()],
        secrets: senders.map(sender => sender.key),
        mostExtra: 0,
        killed: true,
        drained: false,
        isCounted: true,
        isHeld: true,
      })
      const at = new Date(Date.parse(cutOff)).toISOString()
      const { kept } = JSON.parse(await herald(env, 'release', '--cut-off', at, '--json')) as { kept: number }
      const expected = fresh.map(answer => answer.id ?? '')
      // Makes the scheduled messages due as if an hour had passed.
      await store.db.sql`
        update tickets
        set due_at = clock_timestamp()
        where id = any (${original.scheduled.map(answer => answer.id)}::uuid[])`
      const until = performance.now() + 60_000
      // Other scenarios may have left tickets in the queue; they are ignored.
      const sent = () => sink.arrivals().flatMap(({ id }) => (ids.has(id) ? id : []))
      while (sent().length < SCHEDULED + NEW && performance.now() < until) await sleep(100)
      await sleep(500) // wait for a message that must not arrive
      return { copied, early, saidHeld, kept, expected, sent: sent() }
    } finally {
      await store.stop()
    }
  } finally {
    await app.term()
    await app.end()
  }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function herald(env: Env, ...argv: string[]): Promise<string> {
  const child = endsWithUs(
    spawn(process.execPath, ['bin/herald.js', ...argv], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  return new Promise((resolve, reject) => {
    const [out, err]: [string[], string[]] = [[], []]
    child.stdout.on('data', text => out.push(String(text)))
    child.stderr.on('data', text => err.push(String(text)))
    child.once('close', code =>
      code === 0 ? resolve(out.join('')) : reject(new Error(`herald ${argv[0]} ended with ${code}: ${err.join('')}`)),
    )
  })
}
