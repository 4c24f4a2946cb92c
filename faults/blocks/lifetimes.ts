// Dedicated connections hang, and processes are stopped while the database or a provider does not answer: another process becomes
// leader, and the stop ends in time.
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/port.ts'
import type { Environment } from '../support/environment.ts'
import type { App } from '../support/herald.ts'
import { type Block, type Verdict, verdict } from '../support/promise.ts'
import { createRelay } from '../support/relay.ts'

export const lifetimes: Block = {
  name: 'hanging connections of leader and listener, stops while a provider is down',
  async run(environment) {
    return [await hangingLines(environment), await stopBesideDeadProvider(environment)]
  },
}

const LEADS_SECONDS = 10
/**
 * Connections that a process may have open: its pool, leader, listener, maintenance, and one probe of a database that does not
 * answer.
 */
const MOST_OPEN = 6 + 1 + 1 + 2 + 1

async function hangingLines(environment: Environment): Promise<Verdict> {
  const relays = await Promise.all([0, 1].map(() => createRelay({ path: environment.database.socket })))
  const env = (at: number) => ({
    DATABASE_URL: `postgresql://herald@127.0.0.1:${relays[at]?.port}/postgres`,
    HERALD_DATABASE_SECONDS: '2',
  })
  try {
    const result = await environment.scenario({ apps: 0 }, async ({ app, client, senders }) => {
      const apps = [await app({ env: env(0) }), await app({ env: env(1) })]
      const pids = apps.map(one => one.pid())
      const waits: Record<string, number> = {}
      let leader = await whoLeads(apps)
      const lead = () => relays[leader]

      lead()?.set({ isSilent: true })
      const since = performance.now()
      const next = await whoLeads(apps, leader)
      waits['the connection of the leader is silent'] = (performance.now() - since) / 1000
      await sleep(6_000) // the processes keep retrying meanwhile
      const open = Math.max(...relays.map(relay => relay.open()))
      lead()?.set({ isSilent: false })
      leader = next

      for (const relay of relays) relay.set({ isSilent: true })
      await sleep(12_000)
      for (const relay of relays) relay.set({ isSilent: false })
      const back = performance.now()
      leader = await whoLeads(apps)
      waits['both connections were silent for 12 s'] = (performance.now() - back) / 1000

      lead()?.strand()
      const cut = performance.now()
      await whoLeads(apps, leader)
      waits['the connection of the leader is half-open'] = (performance.now() - cut) / 1000

      await client.load(20, 20, n => ({ sender: senders[n % 2] as (typeof senders)[0] }))
      return { waits, open, stayed: apps.every((one, at) => one.pid() === pids[at]) }
    })
    const shown = Object.entries(result.waits).map(([name, seconds]) => `${seconds.toFixed(1)} s (${name})`)
    return verdict(
      'S4',
      'connections hang: two processes, one leads again',
      `≤ ${LEADS_SECONDS} s, one attempt at a time`,
      `leads again after ${shown.join(', ')}; ${result.open} connections open at most`,
      {
        'one leads again in time': Object.values(result.waits).every(seconds => seconds <= LEADS_SECONDS),
        'no pile of attempts': result.open <= MOST_OPEN,
        'processes stayed up': result.stayed,
      },
      result.violations,
    )
  } finally {
    for (const relay of relays) await relay.stop()
  }
}

/** The index of the process that reports to be the leader; `except` is ignored, because it may not know yet that it is not. */
async function whoLeads(apps: readonly App[], except = -1): Promise<number> {
  for (const until = performance.now() + 60_000; performance.now() < until; await sleep(50))
    for (const [at, { address }] of apps.entries())
      if (at !== except && (await gauge(address, 'herald_leader')) === 1) return at
  throw new Error('nobody leads')
}

async function gauge(address: string, name: string): Promise<number | null> {
  const reply = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(1_000) }).catch(() => null)
  const text = (await reply?.text().catch(() => '')) ?? ''
  const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]
  return value === undefined ? null : Number(value)
}

async function stopBesideDeadProvider(environment: Environment): Promise<Verdict> {
  const nobody = `http://127.0.0.1:${await freePort()}/sms`
  const result = await environment.scenario({ apps: 0 }, async ({ app, client, senders, allow }) => {
    allow.waiting = true
    const one = await app({ env: { HERALD_HTTP_SMS_URL: nobody } })
    await client.send({ sender: senders[0] as (typeof senders)[0], channel: 'sms', to: '+16135550123' })
    const isDown = async () =>
      /^herald_provider_up\{[^}]*provider="http"[^}]*\} 0$/m.test(await (await fetch(`${one.address}/metrics`)).text())
    for (const until = performance.now() + 30_000; !(await isDown()); await sleep(50))
      if (performance.now() > until) throw new Error('the provider is not found to be down')
    await sleep(environment.random.between(0, 1_000))
    return { seconds: await one.term() }
  })
  return verdict(
    'S5',
    'SIGTERM while a provider is down',
    '≤ 10 s',
    `${result.seconds.toFixed(1)} s`,
    { 'ended in time': result.seconds <= 10 },
    result.violations,
  )
}
