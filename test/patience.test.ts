// A planned switchover of the database fails no request: callers wait, and what is answered 201 is stored once. A primary that is away
// for longer than the deadline is answered with 500.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../src/core/id.ts'
import { pdf } from './support/documents.ts'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'
import { EMAIL, emailTemplate, type Key, LIST } from './support/sends.ts'
import { type Reply, type World, world } from './support/world.ts'

const BULK = '/v2/notifications/bulk'
const GAP_MS = 700
/** A busy machine may need longer for a switchover than requests wait. */
const MOST_GAP_MS = 3_500

if (missing) console.warn(`skipped: ${missing}`)

describe.skipIf(missing)('a switchover of the database', () => {
  let cluster: Replicated
  let [primary, next, third]: ReplicatedNode[] = []
  let here: World
  let key: Key
  let template: Id

  beforeAll(async () => {
    cluster = await createReplicated({ standbys: 2 })
    ;[primary, next, third] = cluster.nodes
    await cluster.synchronous(true)
    here = await world({}, { engine: true, urlOf: () => cluster.urls() })
    const service = await here.service({ rate_limit: 100_000, email_daily_limit: 1_000_000, may_send_files: true })
    key = await service.key()
    template = await emailTemplate(key)
  }, 120_000)
  afterAll(async () => {
    await here?.running.stop()
    await cluster?.stop()
  })

  const mail = (reference: string, more: object = {}) => ({
    email_address: 'ann@example.net',
    template_id: template,
    personalisation: { name: 'Ann' },
    reference,
    ...more,
  })
  const withFile = () => ({
    personalisation: {
      name: 'Ann',
      form: { file: pdf().toString('base64'), filename: 'form.pdf', sending_method: 'attach' },
    },
  })

  type Sent = { reference: string; status: number; id: Id | undefined; ms: number }

  async function timed(reference: string, request: Promise<Reply>): Promise<Sent> {
    const since = performance.now()
    const { status, body } = await request
    return { reference, status, id: body?.id, ms: performance.now() - since }
  }

  /** The ids under a reference, on the node that is the primary now. */
  const storedOn = async (node: ReplicatedNode, sent: readonly Sent[]) => {
    const list = sent.map(one => `'${one.reference}'`).join(',')
    const rows = await node.query(`select reference, id from notifications where reference in (${list})`)
    return new Map(sent.map(one => [one.reference, rows.filter(row => row.reference === one.reference)]))
  }

  test('no request fails, and everything answered 201 is stored once', async () => {
    for (let rounds = 0; rounds < 3; ) {
      const [from, to, other] = [primary, next, third] as [ReplicatedNode, ReplicatedNode, ReplicatedNode]
      const sends: Promise<Sent>[] = []
      const reads: Promise<number>[] = []
      let isOver = false
      const writing = (async () => {
        for (let n = 0; !isOver; n++, await sleep(15)) {
          const reference = randomUUID()
          const headers: Record<string, string> = n % 3 === 0 ? { 'idempotency-key': randomUUID() } : {}
          sends.push(timed(reference, key.post(EMAIL, mail(reference, n % 20 === 7 ? withFile() : {}), headers)))
          if (n % 5 === 0) reads.push(key.get(LIST).then(reply => reply.status))
          if (n % 5 === 1) reads.push(key.get('/v2/templates').then(reply => reply.status))
        }
      })()
      await sleep(500)
      const since = performance.now()
      await from.stop()
      // Arrives while there is no primary.
      const job = key.post(BULK, {
        name: 'A job',
        template_id: template,
        csv: 'email address,name\nann@example.net,Ann\n',
      })
      await sleep(GAP_MS)
      await to.promote()
      await other.follow(to)
      const gapMs = performance.now() - since
      await sleep(1_500)
      isOver = true
      await writing
      const sent = await Promise.all(sends)
      const failedReads = (await Promise.all(reads)).filter(status => status !== 200)
      const jobStatus = (await job).status
      if (gapMs < MOST_GAP_MS) {
        rounds++
        expect(sent.filter(one => one.status !== 201)).toEqual([])
        expect(failedReads).toEqual([])
        expect(jobStatus).toBe(201)
      } else console.warn(`the switchover took ${Math.round(gapMs)} ms here: it is made again`)
      const stored = await storedOn(to, sent)
      for (const { reference, id, status } of sent)
        if (status === 201) expect(stored.get(reference)).toEqual([{ reference, id }])
      // The test is worth something only when requests have met the gap.
      expect(sent.filter(one => one.ms > GAP_MS / 2).length).toBeGreaterThan(10)
      await from.follow(to)
      ;[primary, next, third] = [to, other, from]
    }
  }, 120_000)

  test('a primary that is away for longer than the deadline: 500 within six seconds, and nothing is stored', async () => {
    const [from, to, other] = [primary, next, third] as [ReplicatedNode, ReplicatedNode, ReplicatedNode]
    await from.stop()
    const references = Array.from({ length: 20 }, () => randomUUID())
    const sent = await Promise.all(references.map(one => timed(one, key.post(EMAIL, mail(one)))))
    expect(new Set(sent.map(one => one.status))).toEqual(new Set([500]))
    expect(Math.max(...sent.map(one => one.ms))).toBeLessThan(6_000)
    expect(Math.min(...sent.map(one => one.ms))).toBeGreaterThan(3_500)
    await to.promote()
    await other.follow(to)
    await expect.poll(() => key.post(EMAIL, mail(randomUUID())).then(one => one.status), { timeout: 10_000 }).toBe(201)
    for (const rows of (await storedOn(to, sent)).values()) expect(rows).toEqual([])
    ;[primary, next, third] = [to, other, from]
  }, 60_000)

  test('messages are sent after the switchovers, each once', async () => {
    const reference = randomUUID()
    const reply = await key.post(EMAIL, mail(reference))
    expect(reply.status).toBe(201)
    const state = async () => (await key.get(`${LIST}/${reply.body.id}`)).body.status
    await expect.poll(state, { timeout: 40_000 }).toBe('delivered')
  }, 60_000)
})
