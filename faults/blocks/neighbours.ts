// One hostile tenant beside an ordinary one: whatever the hostile one sends, the other's messages are accepted and delivered as
// without it. Each attack is compared with a baseline of the same minute. A miss is measured twice more, and of each figure the
// median counts.
import { setTimeout as sleep } from 'node:timers/promises'
import { fill } from '../../bench/support/fill.ts'
import { load } from '../../src/services/sql.ts'
import { create as createTemplate } from '../../src/templates/create.ts'
import type { Sender } from '../support/client.ts'
import { CATEGORY, type Environment, OPERATOR, type Scenario } from '../support/environment.ts'
import { type Attack, attackWith } from '../support/hostile.ts'
import { type Block, factorOf, percentile, type Verdict, verdict } from '../support/promise.ts'
import { DOORS } from './doors.ts'

/** A pool of the default size, and a lease that does not expire on a busy machine. */
const ENV = { HERALD_LEASE_SECONDS: '15', HERALD_DATABASE_CONNECTIONS: '10' }
const PER_SECOND = 50
const BASE_SECONDS = 2
const ATTACK_SECONDS = 4
/** A request without an answer by then counts as not accepted. */
const GIVE_UP_MS = 15_000
/** Below this baseline, a factor of two is within the noise of a machine that also runs the attack (as in L6). */
const NOISE_MS = 50

export type Case = {
  id: string
  promise: string
  what: Attack['what']
  connections: number
  share: 0.95 | 0.99
  /** The bound: twice what the ordinary tenant needs alone, or this many milliseconds more where the baseline is short. */
  bound: 'twice' | number
  /**
   * What the ordinary tenant sends: small messages, e-mails of 400 kB, or small messages and besides them a bulk of ten rows each
   * second or ten lists each second.
   */
  honest: 'small' | 'large' | 'bulk' | 'lists'
  prepare?(environment: Environment, hostile: Sender): Promise<Partial<Attack>>
}

export const CASES: readonly Case[] = [
  {
    id: 'N1',
    promise: 'messages of the largest allowed size, listed again and again',
    what: 'list',
    connections: 4,
    share: 0.99,
    bound: 250,
    honest: 'small',
    prepare: largestMessages,
  },
  {
    id: 'N1b',
    promise: 'one e-mail that would be rendered to 400 MB',
    what: 'rendered',
    connections: 4,
    share: 0.99,
    bound: 250,
    honest: 'small',
    prepare: async (environment, hostile) => ({
      template: await templateOf(environment, hostile, '((a))'.repeat(8_000)),
    }),
  },
  {
    id: 'N3',
    promise: 'four bodies of 67 MB that drip a byte a second',
    what: 'drip',
    connections: 4,
    share: 0.99,
    bound: 'twice',
    honest: 'large',
  },
  {
    id: 'N4',
    promise: '200,000 and 1,500,000 names in one request',
    what: 'keys',
    connections: 2,
    share: 0.99,
    bound: 250,
    honest: 'small',
  },
  {
    id: 'N4b',
    promise: 'bulks of 4,000 odd phone numbers',
    what: 'phones',
    connections: 4,
    share: 0.99,
    bound: 250,
    honest: 'bulk',
    prepare: async (_environment, hostile) => ({ template: hostile.templates.sms }),
  },
  {
    id: 'N4c',
    promise: 'bulks of 50 MB with 2,500,000 rows or 25,000,000 columns',
    what: 'bulk',
    connections: 2,
    share: 0.99,
    bound: 250,
    honest: 'bulk',
  },
  {
    id: 'N5',
    promise: 'lists and reads in a loop on 300 connections',
    what: 'list',
    connections: 300,
    share: 0.95,
    bound: 'twice',
    honest: 'small',
    prepare: async (environment, hostile) => {
      const one = { store: environment.store, service: hostile.service, templates: hostile.templates }
      await fill(one, { from: 0, to: 2_000, days: 0.01, status: 'delivered' })
      return { key: hostile.key }
    },
  },
  ...DOORS,
]

export const neighbours: Block = {
  name: 'a hostile tenant beside an ordinary one',
  async run(environment) {
    const verdicts: Verdict[] = []
    for (const one of CASES) verdicts.push(await tried(environment, one))
    return verdicts
  },
}

export async function tried(environment: Environment, one: Case): Promise<Verdict> {
  const result = await environment.scenario({ apps: 1, services: 1, env: ENV }, async scenario => {
    const [honest] = scenario.senders as [Sender]
    const hostile = await scenario.sender({ isOutside: true })
    const attack: Attack = {
      what: one.what,
      connections: one.connections,
      address: scenario.apps[0]?.address ?? '',
      key: hostile.testKey,
      template: hostile.templates.email,
      ...(await one.prepare?.(environment, hostile)),
    }
    await sends(scenario, honest, one, 1) // warm up
    const rounds = [await round(scenario, honest, one, attack)]
    for (let again = 0; again < 2 && !holds(one, rounds[0] as Round); again++)
      rounds.push(await round(scenario, honest, one, attack))
    const middle = {
      ...middleBy(rounds, one => one.beside),
      lists: middleBy(rounds, one => one.lists?.beside ?? 0).lists,
    }
    // The leftovers of the hostile tenant are deleted, because they would only slow the next round.
    await environment.store.db.sql`delete from tickets where service_id = ${hostile.service}`
    await scenario.drained()
    const answers = scenario.client.answers.filter(answer => answer.sender === honest)
    const arrived = new Set(scenario.arrivals().map(arrival => arrival.id))
    return { middle, answers, arrived: answers.filter(answer => arrived.has(answer.id ?? '')).length }
  })
  const { middle, answers, arrived } = result
  const accepted = answers.filter(answer => answer.status === 201).length
  const name = `p${one.share * 100}`
  const most = one.bound === 'twice' ? `2 × alone (or + ${NOISE_MS} ms)` : `${one.bound} ms`
  const bulks = middle.bulk === null ? '' : `, bulks of ten rows after ${middle.bulk.toFixed(0)} ms at most`
  const { lists } = middle
  const listed = lists && `, lists ${lists.beside.toFixed(0)} ms beside ${lists.alone.toFixed(0)} ms`
  return verdict(
    one.id,
    `a hostile tenant beside an honest one: ${one.promise}`,
    `accepts${lists ? ' and lists' : ''} ${name} ≤ ${most}, no error, lost 0${middle.bulk === null ? '' : `, bulks ≤ ${BULK_MS / 1000} s`}`,
    `${name} ${middle.beside.toFixed(0)} ms beside ${middle.alone.toFixed(0)} ms alone, slowest ${middle.slowest.toFixed(0)} ms${bulks}${listed ?? ''}; ${accepted} of ${answers.length} accepted, ${arrived} arrived; the hostile one was answered ${shown(middle.hostile)}`,
    {
      'accepts in time': middle.beside <= boundOf(one, middle),
      'lists in time': !lists || lists.beside <= boundOf(one, lists),
      'no error': accepted === answers.length,
      'all arrived': arrived === accepted,
      'bulks are accepted in time': (middle.bulk ?? 0) <= BULK_MS,
      'the hostile one was at it': one.what === 'drip' || Object.keys(middle.hostile).length > 0,
    },
    result.violations,
    one.bound === 'twice' ? undefined : factorOf(QUIET_P99_MS, middle.alone),
  )
}

const BULK_MS = 5_000

type Pair = { alone: number; beside: number }
type Round = Pair & { slowest: number; bulk: number | null; lists: Pair | null; hostile: Record<string, number> }

/** What accepts take without an attack, p99, on a quiet machine with two cores. */
const QUIET_P99_MS = 40

function boundOf({ bound }: Case, { alone }: Pair): number {
  return bound === 'twice' ? Math.max(2 * alone, alone + NOISE_MS) : bound * factorOf(QUIET_P99_MS, alone)
}

/** The round whose figure is the median. */
const middleBy = (rounds: readonly Round[], figure: (round: Round) => number): Round =>
  [...rounds].sort((a, b) => figure(a) - figure(b))[Math.floor(rounds.length / 2)] as Round

const holds = (one: Case, round: Round) =>
  round.beside <= boundOf(one, round) &&
  (round.bulk ?? 0) <= BULK_MS &&
  (!round.lists || round.lists.beside <= boundOf(one, round.lists))

const shown = (statuses: Record<string, number>) =>
  Object.entries(statuses)
    .map(([status, times]) => `${times} × ${status === '0' ? 'nothing' : status}`)
    .join(', ') || 'nothing yet'

async function round(scenario: Scenario, honest: Sender, one: Case, attack: Attack): Promise<Round> {
  const alone = await sends(scenario, honest, one, BASE_SECONDS)
  const hostile = await attackWith(attack)
  try {
    await sleep(1_000)
    const beside = await sends(scenario, honest, one, ATTACK_SECONDS)
    await sleep(300)
    return {
      alone: percentile(alone.took, one.share),
      beside: percentile(beside.took, one.share),
      slowest: Math.max(...beside.took),
      bulk: one.honest === 'bulk' ? Math.max(...beside.bulks) : null,
      lists:
        one.honest === 'lists'
          ? { alone: percentile(alone.lists, one.share), beside: percentile(beside.lists, one.share) }
          : null,
      hostile: hostile.answered(),
    }
  } finally {
    await hostile.stop()
    await calm(scenario)
  }
}

/** The next baseline starts when the process has finished the work that the attack left. */
async function calm(scenario: Scenario) {
  for (let quick = 0, looks = 0; quick < 10 && looks < 200; looks++) {
    const { sentAt, answeredAt } = await scenario.client.ask('GET', '/health/live')
    quick = answeredAt - sentAt < 20 ? quick + 1 : 0
    await sleep(50)
  }
}

const LARGE_FILE = Buffer.alloc(300_000, 'text ').toString('base64')

async function sends(scenario: Scenario, sender: Sender, one: Case, seconds: number) {
  const isLarge = one.honest === 'large'
  const perSecond = isLarge ? PER_SECOND / 5 : PER_SECOND
  const doc = { file: LARGE_FILE, filename: 'a.txt', sending_method: 'attach' }
  const values = isLarge ? { values: { doc } } : {}
  const bulks = one.honest === 'bulk' ? bulkEachSecond(scenario, sender, seconds) : Promise.resolve([])
  const lists = one.honest === 'lists' ? listsFor(scenario, sender, seconds) : Promise.resolve([])
  const answers = await scenario.client.load(perSecond * seconds, perSecond, () => ({ sender, ...values }))
  return { took: answers.map(answer => answer.answeredAt - answer.sentAt), bulks: await bulks, lists: await lists }
}

const LISTS_PER_SECOND = 10

async function listsFor(scenario: Scenario, sender: Sender, seconds: number): Promise<number[]> {
  const took: Promise<number>[] = []
  for (let n = 0; n < seconds * LISTS_PER_SECOND; n++) {
    const list = scenario.client.ask('GET', '/v2/notifications', { key: sender.key })
    took.push(list.then(({ status, answeredAt, sentAt }) => (status === 200 ? answeredAt - sentAt : Infinity)))
    await sleep(1_000 / LISTS_PER_SECOND)
  }
  return Promise.all(took)
}

async function bulkEachSecond(scenario: Scenario, sender: Sender, seconds: number): Promise<number[]> {
  const took: Promise<number>[] = []
  for (let n = 0; n < seconds; n++) {
    const job = scenario.client.bulk({ sender, count: 10 })
    const accepted = job.then(({ status, answeredAt, sentAt }) => (status === 201 ? answeredAt - sentAt : Infinity))
    took.push(Promise.race([accepted, sleep(GIVE_UP_MS).then(() => Infinity)]))
    await sleep(1_000)
  }
  return Promise.all(took)
}

/** A page of messages that are rendered to 1.96 million characters each, the most that is allowed (contract 22.13). */
async function largestMessages(environment: Environment, hostile: Sender): Promise<Partial<Attack>> {
  const template = await templateOf(environment, hostile, '((a))'.repeat(49))
  const templates = { ...hostile.templates, email: template }
  const one = { store: environment.store, service: hostile.service, templates }
  await fill(one, { from: 0, to: 250, days: 0.01, status: 'delivered', values: { a: 'x'.repeat(40_000) } })
  return { key: hostile.key, template }
}

async function templateOf(environment: Environment, { service }: Sender, content: string) {
  const owner = await load(environment.store.db.sql, service)
  if (!owner) throw new Error('the hostile service is gone')
  const shape = { name: 'Hostile', template_type: 'email' as const, subject: 'Hostile', content }
  return (
    await createTemplate(environment.store, OPERATOR, owner, { ...shape, template_category_id: CATEGORY.general })
  ).id
}
