// Parts with a lifetime: they keep working whatever happens to their connection, and leave nothing behind when they are stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { Relay } from '../faults/support/relay.ts'
import { connect, type Database } from '../src/db/connect.ts'
import { createListener } from '../src/db/listen.ts'
import { createLeader } from '../src/engine/leader.ts'
import { createProviderGroup } from '../src/providers/failover.ts'
import type { TextMessage, TextProvider } from '../src/providers/port.ts'
import { createCapacity } from '../src/runtime/admission.ts'
import { poolOptions } from './support/database.ts'
import { relayed } from './support/relayed.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A database behind a relay. */
async function line(): Promise<{ db: Database; relay: Relay }> {
  const { relay, url } = await relayed()
  ends.push(relay.stop)
  const db = connect({ url }, poolOptions)
  ends.push(db.stop)
  return { db, relay }
}

async function until(isSo: () => boolean, seconds = 10): Promise<number> {
  const since = performance.now()
  while (!isSo()) {
    if (performance.now() - since > seconds * 1000) throw new Error(`not so within ${seconds} s`)
    await sleep(20)
  }
  return (performance.now() - since) / 1000
}

describe('leader', () => {
  // Half of the usual times; the real ones are tested by npm run faults, S4.
  const timing = { leaseMs: 1_500, sessionMs: 2_000, deadlineMs: 1_000, heartbeatMs: 500, retryMs: 250 }

  async function candidate() {
    const { db, relay } = await line()
    const leader = createLeader(db, timing)
    ends.push(leader.stop)
    return { leader, relay }
  }

  test('3.1 while connections hang there is one attempt at a time, and one process leads when they answer again', async () => {
    const { leader, relay } = await candidate()
    await until(leader.isLeader)
    relay.set({ isSilent: true })
    await until(() => !leader.isLeader(), 4)
    for (const since = performance.now(); performance.now() - since < 3_000; await sleep(50))
      expect(relay.open()).toBeLessThanOrEqual(1)
    relay.set({ isSilent: false })
    await until(leader.isLeader)
  })

  test('3.1 a leader with a dead connection steps down before another leads', async () => {
    const [one, two] = [await candidate(), await candidate()]
    await until(() => one.leader.isLeader() || two.leader.isLeader())
    const [first, second] = one.leader.isLeader() ? [one, two] : [two, one]
    let both = 0
    const watch = setInterval(() => (both += first.leader.isLeader() && second.leader.isLeader() ? 1 : 0), 1)
    ends.push(async () => clearInterval(watch))
    // The server does not notice the dead connection: only its own session timeout frees the lock.
    expect(first.relay.strand()).toBe(1)
    await until(second.leader.isLeader, 40)
    expect(both).toBe(0)
    expect(first.leader.isLeader()).toBe(false)
  }, 60_000)

  test('stop ends also while an attempt hangs, and leaves no connection', async () => {
    const { leader, relay } = await candidate()
    relay.set({ isSilent: true })
    await until(() => relay.open() === 1)
    const since = performance.now()
    await leader.stop()
    expect(performance.now() - since).toBeLessThan(1_000)
    await until(() => relay.open() === 0, 1)
  })
})

describe('listener', () => {
  test('3.3 a stop while it reconnects leaves no connection', async () => {
    const { db, relay } = await line()
    const listener = await createListener(db, { onDown() {}, onUp() {} })
    ends.push(listener.stop)
    relay.set({ isSilent: true })
    relay.reset()
    await until(() => relay.open() === 1)
    await listener.stop()
    relay.set({ isSilent: false })
    await until(() => relay.open() === 0, 2)
  })

  test('a silently dead connection is detected and replaced, and later notifications arrive', async () => {
    const { db, relay } = await line()
    const told: string[] = []
    const listener = await createListener(db, { onDown: () => told.push('down'), onUp: () => told.push('up') })
    ends.push(listener.stop)
    const channel = `lifetimes_${process.pid}`
    let heard = ''
    await listener.on(channel, payload => {
      heard = payload
    })
    expect(relay.strand()).toBe(1)
    await until(() => told.length === 3)
    expect(told).toEqual(['up', 'down', 'up'])
    await db.sql`select pg_notify(${channel}, 'again')`
    await until(() => heard === 'again')
  })
})

describe('failover', () => {
  function downProvider() {
    let probes = 0
    let answer: (ok: boolean) => void = () => {}
    const provider: TextProvider = {
      name: 'down',
      channel: 'sms',
      reports: false,
      capacity: createCapacity({ perSecond: null }),
      send: async () => ({ kind: 'deferred', detail: 'down', down: true }),
      probe() {
        probes++
        return new Promise(resolve => {
          answer = ok => resolve(ok ? { ok } : { ok, detail: 'down' })
        })
      },
      stop: async () => {},
    }
    const channel = createProviderGroup<TextMessage>([{ provider, send: provider.send }], () => {})
    const message: TextMessage = {
      id: '' as TextMessage['id'],
      from: null,
      to: '',
      text: '',
      encoding: 'GSM-7',
      parts: 1,
    }
    return {
      channel,
      trip: () => channel.send(message, { cost: 1, urgent: false }),
      probes: () => probes,
      say: (ok: boolean) => answer(ok),
    }
  }

  test('3.2 no probe starts after the one that was in progress at the stop', async () => {
    const { channel, trip, probes, say } = downProvider()
    await trip()
    await until(() => probes() === 1)
    say(false)
    await until(() => probes() === 2)
    const stopped = channel.stop()
    say(false)
    await stopped
    await sleep(1_000) // three pauses between probes
    expect(probes()).toBe(2)
  })

  test('a successful probe ends the series, and the next trip starts a new one', async () => {
    const { channel, trip, probes, say } = downProvider()
    ends.push(() => {
      say(false)
      return channel.stop()
    })
    for (const wanted of [1, 2]) {
      await trip()
      expect(channel.health()[0]?.isUp).toBe(false)
      await until(() => probes() === wanted)
      say(true)
      await until(() => channel.health()[0]?.isUp === true)
    }
  })
})

test('a statement that the database does not end is interrupted, so that a stop does not wait for it', async () => {
  const { db, relay } = await line()
  const separate = db.separate({ size: 1, name: 'herald-test', statementSeconds: 60 })
  ends.push(separate.stop)
  await separate.sql`select 1`
  relay.set({ isSilent: true })
  const asked = separate.sql`select 1`.then(
    () => 'answered',
    () => 'failed',
  )
  await sleep(50)
  const since = performance.now()
  separate.interrupt()
  expect(await asked).toBe('failed')
  expect(performance.now() - since).toBeLessThan(1_000)
  relay.set({ isSilent: false })
})
