// A row that can be read may be missing on the synchronous standby: the server makes a commit visible that no longer waits for the
// standby. Such a row is not answered with 201, neither after a lost connection nor to a repeated Idempotency-Key.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'
import { EMAIL, emailTemplate, type Key } from './support/sends.ts'
import { world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'

let pair: Replicated
let primary: ReplicatedNode
let standby: ReplicatedNode
let key: Key
let template: Id

if (missing) console.warn(`skipped: ${missing}`)

async function begin() {
  pair = await createReplicated()
  ;[primary, standby] = pair.nodes as [ReplicatedNode, ReplicatedNode]
  await pair.synchronous(true)
  const here = await world({}, { urlOf: () => primary.url })
  key = await (await here.service()).key()
  template = await emailTemplate(key)
}

const send = (reference: string, name: string) => key.post(EMAIL, mail(reference), { 'idempotency-key': name })

const mail = (reference: string) => ({
  template_id: template,
  email_address: 'ann@example.org',
  personalisation: { name: 'Ann' },
  reference,
})

/** Ends the session whose commit waits for the standby: its rows become visible, and its client loses the connection. */
async function endWait(pattern: string, end = 'pg_terminate_backend') {
  const pid = await waiting(`wait_event = 'SyncRep' and query like '${pattern}'`)
  await primary.query(`select ${end}(${pid})`)
}

/** The id of the first session of this kind. */
async function waiting(condition: string): Promise<number> {
  const find = async () => (await primary.query(`select pid from pg_stat_activity where ${condition}`))[0]?.pid
  await expect.poll(find, { timeout: 10_000, interval: 20 }).toBeDefined()
  return Number(await find())
}

const countOn = async (node: ReplicatedNode, reference: string) =>
  (await node.query(`select id from notifications where reference = '${reference}'`)).length

describe.skipIf(missing)('14.3.6 replication is cut while a commit waits for the standby', () => {
  beforeAll(begin)
  afterAll(() => pair?.stop())

  test('replication comes back in time: 201, stored once', async () => {
    const [reference, name] = [randomUUID(), randomUUID()]
    standby.cut()
    const reply = send(reference, name)
    await endWait('%with asked as materialized%')
    expect(await countOn(primary, reference)).toBe(1)
    await sleep(500)
    standby.join()

    const { status, body } = await reply
    expect(status).toBe(201)
    expect(await countOn(standby, reference)).toBe(1)
    const again = await send(reference, name)
    expect([again.status, again.body.id, again.headers.get('idempotent-replayed')]).toEqual([201, body.id, 'true'])
    await pair.caughtUp()
    expect(await countOn(standby, reference)).toBe(1)
  })

  test('an administrator cancels the wait: 500, and 201 to the repeated request when replication is back', async () => {
    const [reference, name] = [randomUUID(), randomUUID()]
    standby.cut()
    const reply = send(reference, name)
    await endWait('%with asked as materialized%', 'pg_cancel_backend')

    expect((await reply).status).toBe(500)
    expect(await countOn(primary, reference)).toBe(1)
    standby.join()
    await expect.poll(async () => (await send(reference, name)).status, { timeout: 10_000 }).toBe(201)
    expect(await countOn(standby, reference)).toBe(1)
  })

  test('it does not come back in time for a bulk job: 500, and the standby does not have the job', async () => {
    const name = randomUUID()
    await primary.query(`
      create function wait_a_second() returns trigger language plpgsql as 'begin perform pg_sleep(1); return new; end';
      create trigger slow before insert on jobs for each row execute function wait_a_second()`)
    const reply = key.post(BULK, {
      template_id: template,
      name,
      rows: [
        ['email address', 'name'],
        ['ann@example.org', 'Ann'],
      ],
    })
    // Its first commit, which counts the request, still reaches the standby.
    await waiting(`wait_event = 'PgSleep'`)
    standby.cut()
    await endWait('commit')

    expect((await reply).status).toBe(500)
    const jobs = (node: ReplicatedNode) => node.query(`select id from jobs where name = '${name}'`)
    expect(await jobs(primary)).toHaveLength(1)
    expect(await jobs(standby)).toEqual([])
    standby.join()
    await expect.poll(() => jobs(standby), { timeout: 10_000 }).toHaveLength(1)
  })

  test('it does not come back: 500, also to the repeated request; the promoted standby has lost no answered message', async () => {
    const [reference, name] = [randomUUID(), randomUUID()]
    standby.cut()
    const first = send(reference, name)
    await endWait('%with asked as materialized%')

    expect((await first).status).toBe(500)
    // It can be read where it was written.
    expect(await countOn(primary, reference)).toBe(1)
    expect((await send(reference, name)).status).toBe(500)

    await primary.kill()
    await standby.promote()
    expect(await countOn(standby, reference)).toBe(0)
  })
})
