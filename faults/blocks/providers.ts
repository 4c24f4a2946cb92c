// Providers that refuse, hang, disconnect or answer garbage, and receipts that are early, duplicate, late, out of order or
// forged.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, newKey } from '../support/client.ts'
import { type Environment, RECEIPT_SECRET } from '../support/environment.ts'
import { type Block, factorOf, percentile, type Verdict, verdict } from '../support/promise.ts'
import type { Rule } from '../support/sink.ts'

/** No worker is meant to crash here: the lease must outlast the stalls of a busy machine, or they would count as crashes. */
const PATIENT = { HERALD_LEASE_SECONDS: '15', HERALD_SMTP_REPLY_SECONDS: '8' }

type State = { id: string; status: string; attempts: number; uncertain: boolean; provider_response: string | null }

const statesOf = (environment: Environment, ids: readonly (string | null)[]) => environment.store.db.sql<State>`
  select id, status, attempts, uncertain, provider_response from states where id = any (${ids}::uuid[])`

/** Each fault has recipients of its own, so that all faults can be tried in one run. */
const CASES: {
  id: string
  promise: string
  rule: Rule
  count: number
  extraEach: 0 | 1
  ends: 'delivered' | 'permanent-failure' | 'technical-failure'
}[] = [
  {
    id: 'F4',
    promise: 'reset before the end of data',
    rule: { prefix: 'f4-', what: 'reset-before', times: 1 },
    count: 10,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F5',
    promise: 'reset after accepting',
    rule: { prefix: 'f5-', what: 'reset-after', times: 1 },
    count: 10,
    extraEach: 1,
    ends: 'delivered',
  },
  {
    id: 'F6',
    promise: '451 to the recipient, twice',
    rule: { prefix: 'f6a-', what: '4xx', times: 2 },
    count: 10,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F6',
    promise: '452 after the data',
    rule: { prefix: 'f6b-', what: '4xx-end', times: 1 },
    count: 10,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F6',
    promise: '421 and hanging up',
    rule: { prefix: 'f6c-', what: '421', times: 1 },
    count: 5,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F6',
    promise: 'HTTP 503',
    rule: { prefix: '+16135553', what: '503', times: 1 },
    count: 10,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F6',
    promise: 'HTTP 429 with Retry-After',
    rule: { prefix: '+16135554', what: '429', times: 1 },
    count: 10,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F7',
    promise: '550 to the recipient',
    rule: { prefix: 'f7-', what: '5xx', times: 9 },
    count: 10,
    extraEach: 0,
    ends: 'permanent-failure',
  },
  {
    id: 'F7',
    promise: 'HTTP 400',
    rule: { prefix: '+16135555', what: '5xx', times: 9 },
    count: 10,
    extraEach: 0,
    ends: 'technical-failure',
  },
  {
    id: 'F8',
    promise: 'garbage instead of an answer',
    rule: { prefix: 'f8a-', what: 'garbage', times: 1 },
    count: 5,
    extraEach: 1,
    ends: 'delivered',
  },
  {
    id: 'F8',
    promise: 'garbage before the data',
    rule: { prefix: 'f8b-', what: 'garbage-early', times: 1 },
    count: 5,
    extraEach: 0,
    ends: 'delivered',
  },
  {
    id: 'F8',
    promise: 'half a line',
    rule: { prefix: 'f8c-', what: 'half-line', times: 1 },
    count: 5,
    extraEach: 1,
    ends: 'delivered',
  },
  {
    id: 'F8',
    promise: 'half an HTTP answer',
    rule: { prefix: '+16135556', what: 'garbage', times: 1 },
    count: 5,
    extraEach: 1,
    ends: 'delivered',
  },
  {
    id: 'F3',
    promise: 'silence after the data',
    rule: { prefix: 'f3-', what: 'hang-after', times: 1 },
    count: 2,
    extraEach: 1,
    ends: 'delivered',
  },
]

export const providerFaults: Block = {
  name: 'provider matrix',
  async run(environment) {
    const result = await environment.scenario(
      { apps: 2, env: PATIENT },
      async ({ apps, client, senders, allow, drained }) => {
        const sender = senders[0] as (typeof senders)[0]
        const receipts = {
          mode: 'late' as const,
          twice: false,
          secret: RECEIPT_SECRET,
          urls: apps.map(app => `${app.address}/receipts/http`),
        }
        await environment.sink.set({ rules: CASES.map(one => one.rule), receipts })
        allow.extra = CASES.reduce((sum, one) => sum + one.count * one.extraEach, 0)
        const answers = await Promise.all(
          CASES.map(({ rule, count }) =>
            Promise.all(
              Array.from({ length: count }, (_, n) => {
                const isText = rule.prefix.startsWith('+')
                const to = isText ? rule.prefix + String(100 + n) : `${rule.prefix}${n}@example.org`
                return client.send({ sender, to, channel: isText ? 'sms' : 'email', idempotencyKey: newKey() })
              }),
            ),
          ),
        )
        // Separately, or the outage would interrupt the messages of another fault.
        await drained(90)
        const outage = await refused(environment, client, senders)
        await drained(90)
        return { answers, outage }
      },
    )
    const verdicts: Verdict[] = []
    for (const id of [...new Set(CASES.map(one => one.id))].sort())
      verdicts.push(await judged(environment, id, result.answers))
    const { outage } = result
    verdicts.push(
      verdict(
        'F1',
        `connection refused for ${outage.seconds} s`,
        'lost 0, extra 0, created meanwhile, ≤ 50 writes/s',
        `${outage.queued} queued, ${outage.stayed} stayed created, ${outage.writes.toFixed(1)} transactions/s that write, attempts used ${outage.attempts}, drained in ${outage.drain.toFixed(1)} s`,
        {
          'all stayed created': outage.stayed === outage.queued,
          'few writes': outage.writes <= 50,
          'all arrived once': outage.arrivedOnce,
          'attempts are not burnt': outage.attempts <= 1.2,
        },
      ),
      verdict(
        'O4',
        'provider_response, completed_at and sent_at as the interface says',
        '0 violations over the whole matrix',
        `${result.counts.accepted} messages, ${result.counts.moves} moves, ${result.violations.filter(one => one.startsWith('O4')).length} kinds of violation`,
        { 'all accepted': result.counts.accepted > 0 },
        result.violations.filter(one => one.startsWith('O4')),
      ),
      verdict(
        'O5',
        'nothing is stuck, nothing is lost',
        '0 without a ticket past their time',
        `${result.counts.accepted} messages, ${result.counts.lost} lost or stuck, ${result.counts.extra} extra`,
        { 'none lost': result.counts.lost === 0 },
        result.violations.filter(one => !one.startsWith('O4')),
      ),
    )
    return verdicts
  },
}

async function judged(environment: Environment, id: string, answers: readonly (readonly Answer[])[]): Promise<Verdict> {
  const why: string[] = []
  const measured: string[] = []
  const arrivals = environment.sink.arrivals()
  for (const [at, one] of CASES.entries()) {
    if (one.id !== id) continue
    const ids = (answers[at] ?? []).map(answer => answer.id)
    const states = await statesOf(environment, ids)
    const times = (of: string) => arrivals.filter(arrival => arrival.id === of).length
    const extra = states.reduce((sum, state) => sum + Math.max(0, times(state.id) - 1), 0)
    measured.push(
      `${one.promise}: ${states.filter(state => state.status === one.ends).length} of ${one.count} ${one.ends}, ${extra} extra`,
    )
    for (const state of states) {
      const wanted = one.ends === 'delivered' ? 1 + one.extraEach : 0
      if (state.status !== one.ends) why.push(`${one.promise}: ${JSON.stringify(state)}`)
      if (times(state.id) !== wanted) why.push(`${one.promise}: arrived ${times(state.id)} times, not ${wanted}`)
      if (one.extraEach === 1 && !state.uncertain) why.push(`${one.promise}: not marked uncertain`)
      if (one.ends !== 'delivered' && state.attempts !== 1) why.push(`${one.promise}: ${state.attempts} attempts`)
      if (one.ends === 'technical-failure' && !state.provider_response) why.push(`${one.promise}: without its reason`)
    }
  }
  const bounds: Record<string, string> = {
    F3: 'uncertain, retried, extra = hangs',
    F4: 'retried, extra 0',
    F5: 'extra = injected, all uncertain',
    F6: 'retried, lost 0, extra 0',
    F7: 'final at once, 1 attempt',
    F8: 'process alive, retried',
  }
  return {
    ...verdict(
      id,
      [...new Set(CASES.filter(one => one.id === id).map(one => one.promise))].join('; '),
      bounds[id] ?? '',
      measured.join('; '),
      {},
    ),
    holds: why.length === 0,
    why: why.slice(0, 5),
  }
}

/** What an SMSC can do to a submit_sm, each with numbers of its own; `isTheirs`: the SMSC may have accepted the message. */
const SMPP_CASES: { what: Rule['what']; promise: string; times: number; isTheirs: boolean }[] = [
  { what: 'throttle', promise: 'throttling', times: 2, isTheirs: false },
  { what: 'queue-full', promise: 'queue full', times: 1, isTheirs: false },
  { what: 'hang', promise: 'no answer', times: 1, isTheirs: true },
  { what: 'drop', promise: 'hanging up', times: 1, isTheirs: true },
  { what: 'garbage', promise: 'garbage instead of a PDU', times: 1, isTheirs: true },
  { what: 'short-length', promise: 'a wrong length', times: 1, isTheirs: true },
  { what: 'half', promise: 'half a PDU', times: 1, isTheirs: true },
  { what: 'huge', promise: 'a megabyte of nonsense', times: 1, isTheirs: true },
]

/** Messages that may wait for an answer on one connection: the default of HERALD_SMPP_WINDOW. */
const SMPP_WINDOW = 10

export const smppFaults: Block = {
  name: 'an SMSC that misbehaves',
  async run(environment) {
    const each = environment.isLong ? 3 : 1
    const env = {
      ...PATIENT,
      HERALD_TEXT_PROVIDERS: 'smpp',
      HERALD_SMPP_URL: `smpp://me:secret@127.0.0.1:${environment.sink.smppPort}`,
      HERALD_SMPP_RECEIPTS: 'false',
      HERALD_SMPP_REPLY_SECONDS: '2',
      HERALD_SMPP_BINDS: '6', // so that a broken connection affects few other messages
    }
    const result = await environment.scenario(
      { apps: 1, services: 1, env },
      async ({ client, senders, allow, drained, arrivals }) => {
        const sender = senders[0] as (typeof senders)[0]
        const send = (at: number, n: number) =>
          client.send({ sender, channel: 'sms', to: `+161355${50 + at}${100 + n}`, idempotencyKey: newKey() })
        const answers: Answer[][] = []
        const rules = SMPP_CASES.map(({ what, times }, at) => ({ prefix: `+161355${50 + at}`, what, times }))
        await environment.sink.set({ rules })
        const group = async (at: number) => {
          answers[at] = await Promise.all(Array.from({ length: each }, (_, n) => send(at, n)))
        }
        // Refusals first and separately: a broken connection affects every other message in its window.
        const [refusing, breaking] = [false, true].map(isTheirs =>
          SMPP_CASES.flatMap((one, at) => (one.isTheirs === isTheirs ? [at] : [])),
        )
        await Promise.all((refusing ?? []).map(group))
        await drained(60)
        await Promise.all((breaking ?? []).map(group))
        // When a connection breaks, every message in its window may already have been accepted.
        allow.extra = SMPP_CASES.filter(one => one.isTheirs).length * each * SMPP_WINDOW
        await drained(150)
        return { answers, arrivals: arrivals() }
      },
    )
    const times = (id: string | null) => result.arrivals.filter(arrival => arrival.id === id).length
    const rows = await Promise.all(
      SMPP_CASES.map(async ({ promise, isTheirs }, at) => {
        const ids = (result.answers[at] ?? []).map(answer => answer.id)
        const states = await statesOf(environment, ids)
        const delivered = states.filter(state => state.status === 'delivered' && times(state.id) > 0).length
        const extra = ids.reduce((sum, id) => sum + Math.max(0, times(id) - 1), 0)
        // A message that was accepted without an answer is sent again, unless it never reached the broken connection.
        return { promise, delivered, extra, isRight: delivered === each && extra > 0 === isTheirs }
      }),
    )
    return [
      verdict(
        'F8 SMPP',
        'an SMSC that throttles, hangs, hangs up or sends nonsense',
        'process alive, all delivered, extra only where it may have been taken',
        rows.map(row => `${row.promise}: ${row.delivered} of ${each}, ${row.extra} extra`).join('; '),
        { 'all delivered': rows.every(row => row.isRight), 'no death': result.counts.deaths === 0 },
        result.violations,
      ),
    ]
  },
}

type Teller = Parameters<Parameters<Environment['scenario']>[1]>[0]

/** Every send in the low lane takes two seconds; one-time codes in the high lane must not be delayed. */
export const slowProvider: Block = {
  name: 'a slow provider',
  async run(environment) {
    const result = await environment.scenario({ apps: 1, env: PATIENT }, async ({ client, senders, drained }) => {
      const sender = senders[1] as (typeof senders)[0]
      await environment.sink.set({ rules: [{ prefix: 'f2-', what: 'slow', times: 1 }] })
      const delays = async () => {
        const codes = await client.load(40, 20, () => ({ sender, isUrgent: true, idempotencyKey: newKey() }))
        await sleep(500)
        const at = new Map(environment.sink.arrivals().map(arrival => [arrival.id, arrival.at]))
        return codes.map(code => (at.get(code.id ?? '') ?? Infinity) - code.answeredAt)
      }
      const base = percentile(await delays(), 0.95)
      const rounds: { p95: number; max: number }[] = []
      for (let round = 0; round < 3; round++) {
        await client.load(30, 1_000, n => ({ sender, to: `f2-${round}-${n}@example.org`, idempotencyKey: newKey() }))
        const took = await delays()
        rounds.push({ p95: percentile(took, 0.95), max: Math.max(...took) })
      }
      await drained(60)
      rounds.sort((a, b) => a.p95 - b.p95)
      return { base, middle: rounds[1] as (typeof rounds)[0] }
    })
    const { base, middle } = result
    const factor = factorOf(250, base + 150)
    return [
      verdict(
        'F2',
        'a slow provider does not hold up the high lane',
        'accept → sink p95 ≤ 250 ms (or what the machine does anyway + 150 ms), max ≤ 2 s; median of 3',
        `p95 ${middle.p95} ms, max ${middle.max} ms with 30 slow ones beside; p95 ${base} ms without`,
        { 'p95 in time': middle.p95 <= 250 * factor, 'max in time': middle.max <= 2_000 },
        result.violations,
        factor,
      ),
    ]
  },
}

async function refused(environment: Environment, client: Teller['client'], senders: Teller['senders']) {
  const queued = environment.isLong ? 20_000 : 500
  const seconds = environment.isLong ? 300 : 8
  await environment.sink.set({ smtp: 'refuse' })
  const answers = await client.load(queued, 300, n => ({
    sender: senders[n % 2] as (typeof senders)[0],
    idempotencyKey: newKey(),
    to: `f1-${n}@example.org`,
  }))
  const ids = answers.map(answer => answer.id)
  const before = await writes(environment)
  await sleep(seconds * 1000)
  const after = await writes(environment)
  const stayed = (await statesOf(environment, ids)).filter(state => state.status === 'created').length
  await environment.sink.set({ smtp: 'ok' })
  const since = performance.now()
  const isDone = async () => (await statesOf(environment, ids)).every(state => state.status === 'delivered')
  while (!(await isDone()) && performance.now() - since < 120_000) await sleep(200)
  const drain = (performance.now() - since) / 1000
  const states = await statesOf(environment, ids)
  const wanted = new Set(ids)
  const arrived = environment.sink.arrivals().filter(arrival => wanted.has(arrival.id))
  return {
    queued,
    seconds,
    stayed,
    writes: (after - before) / seconds,
    drain,
    attempts: states.reduce((sum, state) => sum + state.attempts, 0) / states.length,
    arrivedOnce: arrived.length === queued && new Set(arrived.map(arrival => arrival.id)).size === queued,
  }
}

/** The number of transactions that wrote anything. PostgreSQL's table statistics would be up to ten seconds late. */
async function writes(environment: Environment): Promise<number> {
  const [row] = await environment.store.db.sql<{ n: string }>`select pg_snapshot_xmax(pg_current_snapshot())::text as n`
  return Number(row?.n)
}

export const receiptFaults: Block = {
  name: 'receipts early, duplicate, out of order, forged',
  async run(environment) {
    const count = environment.isLong ? 1_000 : 400
    const result = await environment.scenario({ apps: 2, env: PATIENT }, async ({ apps, client, senders, drained }) => {
      const urls = apps.map(app => `${app.address}/receipts/http`)
      const text = (n: number, digit: number) => ({
        sender: senders[n % 2] as (typeof senders)[0],
        channel: 'sms' as const,
        to: `+1613555${digit}${String(n % 1000).padStart(3, '0')}`,
        idempotencyKey: newKey(),
      })
      await environment.sink.set({ receipts: { mode: 'early', twice: true, secret: RECEIPT_SECRET, urls } })
      const early = await client.load(count, 100, n => text(n, 7))
      await drained()
      await environment.sink.set({ receipts: { mode: 'mixed', twice: true, secret: RECEIPT_SECRET, urls } })
      const mixed = await client.load(100, 100, n => text(n, 8))
      await sleep(500)
      await drained()
      await environment.sink.set({ receipts: null })
      const silent = await client.load(20, 100, n => text(n, 9))
      await drained()
      const refusals = await forge(
        urls[0] ?? '',
        silent.map(answer => answer.id ?? ''),
        mixed[0]?.id ?? '',
      )
      await drained()
      return { early, mixed, silent, refusals }
    })
    const count_ = async (answers: readonly Answer[], status: string) =>
      (
        await statesOf(
          environment,
          answers.map(answer => answer.id),
        )
      ).filter(state => state.status === status).length
    const early = await count_(result.early, 'delivered')
    const mixed = await count_(result.mixed, 'delivered')
    const silent = await count_(result.silent, 'sending')
    const wrong = result.refusals.filter(one => !one.holds)
    return [
      verdict(
        'O3',
        'a receipt before our own commit is not lost',
        'all delivered',
        `${early} of ${count} delivered`,
        { 'all delivered': early === count },
        result.violations,
      ),
      verdict(
        'O2',
        'texts: the first final receipt stays, repeats change nothing',
        '100 %',
        `${mixed} of 100 stayed delivered`,
        { 'all stayed': mixed === 100 },
      ),
      verdict(
        'F10',
        'forged, replayed and malformed receipts',
        'refused, 0 changes',
        `${result.refusals.length} tried, ${wrong.length} answered wrongly, ${silent} of 20 unchanged`,
        {
          'all refused': wrong.length === 0,
          'nothing changed': silent === 20,
        },
        wrong.map(one => JSON.stringify(one)),
      ),
    ]
  },
}

async function forge(url: string, ids: readonly string[], other: string) {
  const now = () => String(Date.now())
  const sign = (secret: string, timestamp: string, body: string) =>
    createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const receipt = (id: string) =>
    JSON.stringify([{ id: `ref-${id}`, status: 'delivered', time: new Date().toISOString(), event_id: newKey() }])
  const cases: { name: string; wanted: number[]; body: string; headers: Record<string, string> }[] = []
  for (const id of ids) {
    const body = receipt(id)
    const stale = String(Date.now() - 3_600_000)
    cases.push(
      { name: 'unsigned', wanted: [401], body, headers: {} },
      {
        name: 'wrong secret',
        wanted: [401],
        body,
        headers: { 'x-timestamp': now(), 'x-signature': sign('another secret, long enough to be one', now(), body) },
      },
      {
        name: 'old',
        wanted: [401],
        body,
        headers: { 'x-timestamp': stale, 'x-signature': sign(RECEIPT_SECRET, stale, body) },
      },
      {
        name: 'signature of another body',
        wanted: [401],
        body,
        headers: { 'x-timestamp': now(), 'x-signature': sign(RECEIPT_SECRET, now(), receipt(other)) },
      },
    )
  }
  for (const body of ['', '{', 'null', '[]', '{"id":"x"}', '[{"id":5,"status":[]}]', '\u0000', '"delivered"']) {
    const timestamp = now()
    cases.push({
      name: `malformed ${JSON.stringify(body)}`,
      wanted: [200, 400],
      body,
      headers: { 'x-timestamp': timestamp, 'x-signature': sign(RECEIPT_SECRET, timestamp, body) },
    })
  }
  return Promise.all(
    cases.map(async ({ name, wanted, body, headers }) => {
      const reply = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
      return { name, status: reply.status, holds: wanted.includes(reply.status) }
    }),
  )
}
