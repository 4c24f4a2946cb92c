// A hold, a suspension and a stop call back what is loaded: it waits in the queue again, untouched, and only what a provider already has
// is finished.
import { expect, test } from 'vitest'
import { readConfig } from '../src/config/index.ts'
import type { Id } from '../src/core/id.ts'
import { start } from '../src/main.ts'
import { hold, release } from '../src/maintenance/sending.ts'
import { HELD_LANES, IDENTITY_TABLES } from '../src/sending.ts'
import { atEnd } from './support/ends.ts'
import { emailTemplate } from './support/sends.ts'
import { smtpServer } from './support/smtp-server.ts'
import { OPERATOR, type World, world } from './support/world.ts'

const SOON = { timeout: 120_000, interval: 50 }

/** A mail server, and engines that send to it. `begun`: when it had read the content of a message, also of those it has not answered. */
async function mailing(settings: Record<string, string>, engines = 1) {
  const smtp = await smtpServer()
  const state = { begun: [] as number[], answer: Promise.resolve() }
  smtp.state.onData = async () => {
    state.begun.push(performance.now())
    await state.answer
  }
  const here = await world()
  const env = {
    DATABASE_URL: here.config.databaseUrl ?? '',
    HERALD_DATA: here.config.dataFolder,
    HERALD_LOG_LEVEL: 'silent',
    HERALD_EMAIL_PROVIDERS: 'smtp',
    HERALD_TEXT_PROVIDERS: 'none',
    HERALD_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    HERALD_SMTP_TLS: 'never',
    ...settings,
  }
  const started = await Promise.all(
    Array.from({ length: engines }, () => start(readConfig(env), { say: () => {}, only: 'engine' })),
  )
  atEnd(async () => {
    await Promise.all(started.map(one => one.stop()))
    await smtp.stop()
  })
  return { here, engines: started, state, letters: smtp.letters }
}

/** Bulk jobs of a service of their own, spread into messages: each makes a ticket, up to 500 rows. */
async function jobsOf(here: World, rows: number, jobs = 1) {
  const service = await here.service()
  const key = await service.key()
  const template_id = await emailTemplate(key, 'Hello')
  const body = {
    template_id,
    name: 'A job',
    rows: [['email address', 'name'], ...Array.from({ length: rows }, (_, n) => [`person-${n}@example.org`, 'Ada'])],
  }
  for (let job = 0; job < jobs; job++) {
    const reply = await key.post('/v2/notifications/bulk', body)
    expect(reply.status, reply.text).toBe(201)
  }
  await expect.poll(async () => (await statesOf(here, service.id)).length, SOON).toBe(rows * jobs)
  return service
}

type State = { status: string; uncertain: boolean; attempts: number }
const statesOf = ({ parts }: Pick<World, 'parts'>, service: Id) => parts.db.sql<State>`
  select s.status, s.uncertain, s.attempts
  from states s
  join notifications n on n.id = s.id
  where n.service_id = ${service}`
const ticketsOf = ({ parts }: Pick<World, 'parts'>, service: Id) => parts.db.sql<{
  owned: boolean
  takes: number
  subjects: number
}>`
  select owner is not null as owned, takes, cardinality(subjects) as subjects
  from tickets
  where service_id = ${service}`

/** Everything that was loaded is back in the queue, and nothing of it looks as if it had been sent. */
async function isBack(here: World, service: Id, delivered: () => number) {
  await expect.poll(async () => (await ticketsOf(here, service)).filter(ticket => ticket.owned), SOON).toEqual([])
  const tickets = await ticketsOf(here, service)
  const waiting = (await statesOf(here, service)).filter(({ status }) => status === 'created')
  expect(tickets.every(({ takes }) => takes === 0)).toBe(true)
  expect(tickets.reduce((sum, { subjects }) => sum + subjects, 0)).toBe(waiting.length)
  expect(waiting.filter(({ uncertain, attempts }) => uncertain || attempts > 0)).toEqual([])
  expect((await statesOf(here, service)).length - waiting.length).toBe(delivered())
}

test('a hold calls back what waits for the rate of the provider, in every process', async () => {
  const { here, engines, state, letters } = await mailing({ HERALD_SMTP_PER_SECOND: '5' }, 2)
  // A process takes at most twelve tickets of a service.
  const service = await jobsOf(here, 40, 14)
  const owners = async () =>
    (await here.parts.db.sql`select distinct owner from tickets where service_id = ${service.id} and owner is not null`)
      .length
  await expect.poll(owners, SOON).toBe(2)
  await expect.poll(() => letters.length, SOON).toBeGreaterThan(5)

  await hold(here.parts, OPERATOR, IDENTITY_TABLES)
  const since = performance.now()
  await expect.poll(() => engines.every(({ parts }) => parts.hold.isHeld()), SOON).toBe(true)
  await isBack(here, service.id, () => letters.length)
  expect(state.begun.filter(at => at > since + 1_000)).toEqual([])
}, 300_000)

test('a hold calls back what waits for a connection, and a release sends everything once', async () => {
  const { here, engines, state, letters } = await mailing({ HERALD_SMTP_CONNECTIONS: '10' })
  let answer = () => {}
  state.answer = new Promise<void>(resolve => {
    answer = resolve
  })
  const service = await jobsOf(here, 300)
  // Seven of ten connections are for ordinary messages.
  await expect.poll(() => state.begun.length, SOON).toBe(7)
  await hold(here.parts, OPERATOR, IDENTITY_TABLES)
  await expect.poll(() => engines[0]?.parts.hold.isHeld(), SOON).toBe(true)
  answer()
  await isBack(here, service.id, () => letters.length)
  // Those behind the ones in flight were announced on their connections, but not handed over.
  expect(letters.length).toBe(7)

  await release(here.parts, OPERATOR, HELD_LANES)
  await expect.poll(() => letters.length, SOON).toBe(300)
  await expect.poll(() => ticketsOf(here, service.id), SOON).toEqual([])
  expect(new Set(letters.flatMap(({ to }) => to)).size).toBe(300)
  expect((await statesOf(here, service.id)).filter(({ uncertain }) => uncertain)).toEqual([])
  expect(letters.length).toBe(300)
}, 300_000)

test('a suspension calls back what is loaded of that service, and it fails', async () => {
  const { here, state, letters } = await mailing({ HERALD_SMTP_PER_SECOND: '5' })
  const service = await jobsOf(here, 400)
  await expect.poll(() => letters.length, SOON).toBeGreaterThan(5)
  await service.change({ state: 'suspended', suspended_reason: 'a wrong template' })
  const since = performance.now()
  const open = async () => (await statesOf(here, service.id)).filter(({ status }) => status === 'created').length
  await expect.poll(open, SOON).toBe(0)
  const states = await statesOf(here, service.id)
  expect(states.filter(({ status }) => status !== 'technical-failure')).toHaveLength(letters.length)
  expect(states.filter(({ uncertain }) => uncertain)).toEqual([])
  expect(state.begun.filter(at => at > since + 1_000)).toEqual([])
}, 300_000)

test('a stop does not wait for the rate of the provider, and gives back what it has not handed over', async () => {
  const { here, engines, letters } = await mailing({ HERALD_SMTP_PER_SECOND: '1' })
  const service = await jobsOf(here, 200)
  await expect.poll(() => letters.length, SOON).toBeGreaterThan(1)
  const since = performance.now()
  await engines[0]?.stop()
  // Dozens were in flight, each waiting for its second.
  expect(performance.now() - since).toBeLessThan(10_000)
  await isBack(here, service.id, () => letters.length)
}, 300_000)
