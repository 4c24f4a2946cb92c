// Sessions: how they begin, how long they last, how they end, and that rights are read with every request.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import type { Person, SignedIn } from '../../src/people/person.ts'
import { actorOf } from '../../src/people/person.ts'
import {
  confirmAgain,
  endOtherSessions,
  endSession,
  isFresh,
  listSessions,
  readSession,
  startSession,
} from '../../src/people/session.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { digestOf, formTokenOf, isFormToken, newToken } from '../../src/people/token.ts'
import { addUser } from '../../src/services/people.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

let here: World
beforeAll(async () => {
  here = await world()
})

const HOUR = 3_600_000
const how = { method: 'link', device: 'Firefox on Linux' } as const

/** Somebody who belongs to a service. */
async function somebody(): Promise<{ person: Person; service: Awaited<ReturnType<World['service']>> }> {
  const service = await here.service()
  const email_address = `${randomUUID()}@example.org`
  await addUser(here.parts, OPERATOR, service.id, { name: 'Ada Park', email_address })
  const person = await personBy(here.parts.db.sql, email_address.toUpperCase())
  if (!person) throw new Error('the team member is no person')
  return { person, service }
}

async function signIn(person: Person): Promise<{ token: string; signedIn: SignedIn }> {
  const { token } = await startSession(here.parts, person, how)
  const signedIn = await readSession(here.parts, token)
  if (!signedIn) throw new Error('not signed in')
  return { token, signedIn }
}

const entriesOf = (person: Id) => here.parts.db.sql<{ action: string; service_id: Id | null; detail: object | null }>`
  select action, service_id, detail from audit where actor_kind = 'person' and actor_id = ${person} order by id`

describe('a session', () => {
  test('says who it is and where they belong', async () => {
    const { person, service } = await somebody()
    const { token, signedIn } = await signIn(person)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(signedIn.person).toEqual(person)
    expect(signedIn.session).toMatchObject(how)
    expect(signedIn.memberships).toEqual([
      { service_id: service.id, service_name: service.name, mode: 'live', role: 'viewer' },
    ])
    expect(actorOf(signedIn, service.id)).toMatchObject({ permissions: ['see-service', 'see-messages'] })
    expect(actorOf(signedIn, null)).toMatchObject({ permissions: [] })
    expect(await entriesOf(person.id)).toEqual([
      { action: 'signed in', service_id: null, detail: { method: 'link', session: signedIn.session.id } },
    ])
  })

  test('is stored as a digest only, and every start has a new token', async () => {
    const { person } = await somebody()
    const [one, two] = [await signIn(person), await signIn(person)]
    expect(one.token).not.toBe(two.token)
    const stored = await here.parts.db.sql<{ row: string }>`select s::text as row from sessions s`
    for (const { row } of stored) for (const { token } of [one, two]) expect(row).not.toContain(token)
  })

  test('ends the one that the browser had before', async () => {
    const { person } = await somebody()
    const { token: before } = await signIn(person)
    await startSession(here.parts, person, { ...how, before })
    expect(await readSession(here.parts, before)).toBe(null)
  })

  test('is as fresh as the proof of who it is, not as its start', async () => {
    const { person } = await somebody()
    const MINUTE = 60_000
    const isFreshAfter = async (provedAt: number | null | undefined, later = 0) => {
      const { session } = await startSession(here.parts, person, { ...how, provedAt })
      return isFresh({ clock: { ...here.parts.clock, now: () => here.parts.clock.now() + later } }, session)
    }
    const now = here.parts.clock.now()
    expect(await isFreshAfter(undefined)).toBe(true)
    expect(await isFreshAfter(now - 5 * MINUTE)).toBe(true)
    expect(await isFreshAfter(now - 11 * MINUTE)).toBe(false)
    expect(await isFreshAfter(null)).toBe(false)
    // By a clock that is ahead.
    expect(await isFreshAfter(now + 60 * MINUTE)).toBe(true)
    expect(await isFreshAfter(now + 60 * MINUTE, 11 * MINUTE)).toBe(false)
  })

  test.each([null, undefined, '', 'x', 'x'.repeat(10_000), '\0'.repeat(43), newToken(), ['a']])(
    'is not there for %j',
    async token => {
      expect(await readSession(here.parts, token)).toBe(null)
    },
  )

  test('does not list archived services', async () => {
    const { person, service } = await somebody()
    const { token } = await signIn(person)
    await service.change({ state: 'archived' })
    expect((await readSession(here.parts, token))?.memberships).toEqual([])
  })
})

describe('how long it lasts', () => {
  test('12 hours without a request', async () => {
    const { person } = await somebody()
    const { token } = await signIn(person)
    here.moveClock(11.9 * HOUR)
    expect(await readSession(here.parts, token)).not.toBe(null)
    here.moveClock(11.9 * HOUR)
    expect(await readSession(here.parts, token)).not.toBe(null)
    here.moveClock(12.1 * HOUR)
    expect(await readSession(here.parts, token)).toBe(null)
    expect(await listSessions(here.parts, person.id)).toEqual([])
  })

  test('7 days in all, however often it is used and confirmed', async () => {
    const { person } = await somebody()
    let { token, signedIn } = await signIn(person)
    for (let at = 0; at < 167; at += 10) {
      const found = await readSession(here.parts, token)
      if (!found) throw new Error(`ended after ${at} hours`)
      signedIn = found
      here.moveClock(10 * HOUR)
      if (at === 150) token = (await confirmAgain(here.parts, signedIn, 'passkey')) ?? ''
    }
    expect(await readSession(here.parts, token)).toBe(null)
  })

  test('notes when it was seen, at most once a minute', async () => {
    const { person } = await somebody()
    const { token } = await signIn(person)
    const seen = async () =>
      (
        await here.parts.db.sql<{ session: string; person: string }>`
          select s.last_seen_at as session, p.last_seen_at as person
          from sessions s join people p on p.id = s.person_id where p.id = ${person.id}`
      )[0]
    const first = await seen()
    here.moveClock(50_000)
    await readSession(here.parts, token)
    expect(await seen()).toEqual(first)
    here.moveClock(20_000)
    await readSession(here.parts, token)
    const later = await seen()
    expect(later?.session).toBe(later?.person)
    expect(later?.session && first && later.session > first.session).toBe(true)
  })
})

describe('how it ends', () => {
  test('signing out, ending another one, ending all others', async () => {
    const { person } = await somebody()
    const [one, two, three, four] = [
      await signIn(person),
      await signIn(person),
      await signIn(person),
      await signIn(person),
    ]
    expect(await listSessions(here.parts, person.id)).toHaveLength(4)
    expect(await endSession(here.parts, one.signedIn, two.signedIn.session.id)).toBe(true)
    expect(await endSession(here.parts, one.signedIn, two.signedIn.session.id)).toBe(false)
    expect(await readSession(here.parts, two.token)).toBe(null)
    expect(await endOtherSessions(here.parts, one.signedIn)).toBe(2)
    for (const { token } of [three, four]) expect(await readSession(here.parts, token)).toBe(null)
    expect(await readSession(here.parts, one.token)).not.toBe(null)
    expect(await endSession(here.parts, one.signedIn, one.signedIn.session.id)).toBe(true)
    expect(await readSession(here.parts, one.token)).toBe(null)
    const actions = (await entriesOf(person.id)).map(({ action }) => action)
    expect(actions.slice(4)).toEqual(['session ended', 'session ended', 'session ended', 'signed out'])
  })

  test('nobody ends the session of another person', async () => {
    const [one, two] = [await signIn((await somebody()).person), await signIn((await somebody()).person)]
    expect(await endSession(here.parts, one.signedIn, two.signedIn.session.id)).toBe(false)
    expect(await readSession(here.parts, two.token)).not.toBe(null)
  })
})

describe('a proof of who it is', () => {
  test('is fresh for ten minutes; confirming gives a new token and ends the old one', async () => {
    const { person } = await somebody()
    const { token, signedIn } = await signIn(person)
    here.moveClock(9.9 * 60_000)
    expect(isFresh(here.parts, signedIn.session)).toBe(true)
    here.moveClock(12_000)
    expect(isFresh(here.parts, signedIn.session)).toBe(false)
    const renewed = await confirmAgain(here.parts, signedIn, 'passkey')
    expect(await readSession(here.parts, token)).toBe(null)
    const again = await readSession(here.parts, renewed)
    expect(again?.session).toMatchObject({ id: signedIn.session.id, method: 'passkey' })
    expect(again && isFresh(here.parts, again.session)).toBe(true)
    await endSession(here.parts, signedIn, signedIn.session.id)
    expect(await confirmAgain(here.parts, signedIn, 'passkey')).toBe(null)
  })
})

test('the token of forms is derived from the token of the session and checked as a whole', () => {
  const [one, two] = [newToken(), newToken()]
  expect(formTokenOf(one)).toBe(formTokenOf(one))
  expect(formTokenOf(one)).not.toBe(formTokenOf(two))
  expect(formTokenOf(one)).not.toContain(one)
  expect(isFormToken(one, formTokenOf(one))).toBe(true)
  for (const wrong of [formTokenOf(two), formTokenOf(one).slice(1), '', null, undefined, ['x'], one])
    expect(isFormToken(one, wrong)).toBe(false)
  expect(digestOf(one)).toHaveLength(32)
})
