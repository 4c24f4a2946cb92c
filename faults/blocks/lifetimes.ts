// Dedicated connections that hang, and stops while something does not answer: one process leads again, and a stop ends.
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../support/herald.ts'
import { freePort } from '../support/herald.ts'
import type { House } from '../support/house.ts'
import { type Block, type Verdict, verdict } from '../support/promise.ts'
import { createRelay } from '../support/relay.ts'

export const lifetimes: Block = {
  name: 'hanging connections of leader and listener, stops beside a dead provider',
  async run(house) {
    return [await hangingLines(house), await stopBesideDeadProvider(house)]
  },
}

const LEADS_SECONDS = 10
/** Connections that a process may have open: its pool, leader, listener, maintenance, and one probe of a silent database. */
const MOST_OPEN = 6 + 1 + 1 + 2 + 1

async function hangingLines(house: House): Promise<Verdict> {
  const relays = await Promise.all([0, 1].map(() => createRelay({ path: house.database.socket })))
  const env = (at: number) => ({
    DATABASE_URL: `postgresql://herald@127.0.0.1:${relays[at]?.port}/postgres`,
    HERALD_DATABASE_SECONDS: '2',
  })
  try {
    const told = await house.story({ apps: 0 }, async ({ app, client, senders }) => {
      const apps = [await app({ env: env(0) }), await app({ env: env(1) })]
      const pids = apps.map(one => one.pid())
      const waits: Record<string, number> = {}
      let leader = await whoLeads(apps)
      const lead = () => relays[leader]

      lead()?.set({ isSilent: true })
      const since = performance.now()
      const next = await whoLeads(apps, leader)
      waits['the line of the leader is silent'] = (performance.now() - since) / 1000
      await sleep(6_000) // the processes go on trying meanwhile
      const open = Math.max(...relays.map(relay => relay.open()))
      lead()?.set({ isSilent: false })
      leader = next

      for (const relay of relays) relay.set({ isSilent: true })
      await sleep(12_000)
      for (const relay of relays) relay.set({ isSilent: false })
      const back = performance.now()
      leader = await whoLeads(apps)
      waits['both lines were silent for 12 s'] = (performance.now() - back) / 1000

      lead()?.strand()
      const cut = performance.now()
      await whoLeads(apps, leader)
      waits['the line of the leader is half-open'] = (performance.now() - cut) / 1000

      await client.load(20, 20, n => ({ sender: senders[n % 2] as (typeof senders)[0] }))
      return { waits, open, stayed: apps.every((one, at) => one.pid() === pids[at]) }
    })
    const shown = Object.entries(told.waits).map(([name, seconds]) => `${seconds.toFixed(1)} s (${name})`)
    return verdict(
      'S4',
      'connections hang: two processes, one leads again',
      `≤ ${LEADS_SECONDS} s, one attempt at a time`,
      `leads again after ${shown.join(', ')}; ${told.open} connections open at most`,
      {
        'one leads again in time': Object.values(told.waits).every(seconds => seconds <= LEADS_SECONDS),
        'no pile of attempts': told.open <= MOST_OPEN,
        'processes stayed up': told.stayed,
      },
      told.violations,
    )
  } finally {
    for (const relay of relays) await relay.stop()
  }
}

/** The place of the process that says it leads; not that of `except`, which may not know yet. */
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

async function stopBesideDeadProvider(house: House): Promise<Verdict> {
  const nobody = `http://127.0.0.1:${await freePort()}/sms`
  const told = await house.story({ apps: 0 }, async ({ app, client, senders, allow }) => {
    allow.waiting = true
    const one = await app({ env: { HERALD_HTTP_SMS_URL: nobody } })
    await client.send({ sender: senders[0] as (typeof senders)[0], channel: 'sms', to: '+16135550123' })
    const isDown = async () =>
      /^herald_provider_up\{[^}]*provider="http"[^}]*\} 0$/m.test(await (await fetch(`${one.address}/metrics`)).text())
    for (const until = performance.now() + 30_000; !(await isDown()); await sleep(50))
      if (performance.now() > until) throw new Error('the provider is not found to be down')
    await sleep(house.random.between(0, 1_000))
    return { seconds: await one.term() }
  })
  return verdict(
    'S5',
    'SIGTERM while a provider is down',
    '≤ 10 s',
    `${told.seconds.toFixed(1)} s`,
    { 'ended in time': told.seconds <= 10 },
    told.violations,
  )
}
