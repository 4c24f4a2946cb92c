import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { purgeSignInChallenges } from '../../src/maintenance/purge.ts'
import {
  addPasskey,
  askForPasskey,
  hasPasskeys,
  listPasskeys,
  MOST_PASSKEYS,
  offerPasskey,
  removePasskey,
  renamePasskey,
  type Site,
  usePasskey,
} from '../../src/people/passkeys.ts'
import { actorWhoSignsIn, type Person } from '../../src/people/person.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { newToken } from '../../src/people/token.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { addUser } from '../../src/services/people.ts'
import { authenticator } from '../support/authenticator.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const ORIGIN = 'https://herald.example.org'
let here: World
let maria: Person
let ben: Person
let site: Site

beforeAll(async () => {
  here = await world()
  const service = await here.service()
  await addUser(here.parts, OPERATOR, service.id, { name: 'Ben', email_address: 'ben@example.org' })
  maria = (await personBy(here.parts.db.sql, 'maria@example.org')) as Person
  ben = (await personBy(here.parts.db.sql, 'ben@example.org')) as Person
})

beforeEach(() => {
  site = { browser: newToken(), origin: ORIGIN }
})

const add = async (person: Person, device = authenticator({ origin: ORIGIN }), name = 'Laptop') => {
  const actor = actorWhoSignsIn(person)
  const { challenge, options } = await offerPasskey(here.parts, actor, site)
  const added = await addPasskey(here.parts, actor, site, { challenge, answer: device.create(options), name })
  return { added, device }
}
type Lies = Parameters<ReturnType<typeof authenticator>['get']>[1]
const use = async (device: ReturnType<typeof authenticator>, lies: Lies = {}, person: Id | null = null) => {
  const { challenge, options } = await askForPasskey(here.parts, person, site)
  return usePasskey(here.parts, person, site, { challenge, answer: device.get(options, lies) })
}

describe('adding', () => {
  test('a passkey is added, listed, renamed and removed by its owner only, and recorded', async () => {
    const { added } = await add(maria)
    if ('refused' in added) throw new Error(added.refused)
    expect(await listPasskeys(here.parts, maria.id)).toMatchObject([{ name: 'Laptop', last_used_at: null }])
    expect(await renamePasskey(here.parts, actorWhoSignsIn(ben), added.id, 'Mine')).toBe(false)
    expect(await removePasskey(here.parts, actorWhoSignsIn(ben), added.id)).toBe(false)
    expect(await renamePasskey(here.parts, actorWhoSignsIn(maria), added.id, '  Work\u0000 laptop\n')).toBe(true)
    expect(await listPasskeys(here.parts, maria.id)).toMatchObject([{ name: 'Work laptop' }])
    expect(await removePasskey(here.parts, actorWhoSignsIn(maria), added.id)).toBe(true)
    expect(await listPasskeys(here.parts, maria.id)).toEqual([])
    const audit = (await entries(here.parts.db.sql, null, 20)).filter(entry => entry.subject_id === added.id)
    expect(audit).toMatchObject([
      { action: 'passkey removed', actor_kind: 'person', actor_id: maria.id },
      { action: 'passkey renamed', actor_id: maria.id },
      { action: 'passkey added', actor_id: maria.id },
    ])
  })

  test('the options ask for a discoverable passkey and name those that the person has', async () => {
    const { added } = await add(ben)
    const { options } = await offerPasskey(here.parts, actorWhoSignsIn(ben), site)
    expect(options).toMatchObject({
      rp: { id: 'herald.example.org' },
      user: { name: 'ben@example.org', displayName: 'Ben' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
      excludeCredentials: [{ transports: ['internal'] }],
    })
    if (!('refused' in added)) await removePasskey(here.parts, actorWhoSignsIn(ben), added.id)
  })

  test('answers that do not fit are refused; one that fits is accepted once', async () => {
    const actor = actorWhoSignsIn(maria)
    const wrong = [
      { origin: 'https://herald.example.org.evil.example' },
      { siteId: 'evil.example' },
      { challenge: 'AAAA' },
      { type: 'webauthn.get' },
      { flags: 0x01 },
      { flags: 0x04 },
    ]
    for (const lie of wrong) {
      const device = authenticator({ origin: ORIGIN })
      const { challenge, options } = await offerPasskey(here.parts, actor, site)
      const lied = { challenge, answer: device.create(options, lie), name: '' }
      expect(await addPasskey(here.parts, actor, site, lied)).toEqual({ refused: 'wrong' })
      const right = { challenge, answer: device.create(options), name: '' }
      const added = await addPasskey(here.parts, actor, site, right)
      expect(await addPasskey(here.parts, actor, site, right)).toEqual({ refused: 'over' })
      if ('refused' in added) throw new Error(added.refused)
      await removePasskey(here.parts, actor, added.id)
    }
    for (const answer of ['', 'null', '[]', '{"id":1}', '{"id":"x","response":{}}', 'x'.repeat(30_000)]) {
      const { challenge } = await offerPasskey(here.parts, actor, site)
      expect(await addPasskey(here.parts, actor, site, { challenge, answer, name: '' })).toEqual({ refused: 'wrong' })
    }
    expect(await listPasskeys(here.parts, maria.id)).toEqual([])
  })

  test('a challenge serves its person and its browser only', async () => {
    const device = authenticator({ origin: ORIGIN })
    const { challenge, options } = await offerPasskey(here.parts, actorWhoSignsIn(maria), site)
    const answered = { challenge, answer: device.create(options), name: '' }
    const elsewhere = { ...site, browser: newToken() }
    expect(await addPasskey(here.parts, actorWhoSignsIn(maria), elsewhere, answered)).toEqual({ refused: 'over' })
    expect(await addPasskey(here.parts, actorWhoSignsIn(ben), site, answered)).toEqual({ refused: 'over' })
  })

  test('one passkey belongs to one person, and there are not too many', async () => {
    const { device } = await add(ben)
    expect((await add(maria, device)).added).toEqual({ refused: 'taken' })
    for (let n = 1; n < MOST_PASSKEYS; n++) expect((await add(ben)).added).toHaveProperty('id')
    expect((await add(ben)).added).toEqual({ refused: 'taken' })
  })
})

describe('signing in', () => {
  test('a passkey says who it is, and is used', async () => {
    const { device } = await add(maria)
    expect(await use(device)).toEqual({ person: maria.id })
    expect(await use(device)).toEqual({ person: maria.id })
    expect((await listPasskeys(here.parts, maria.id)).at(-1)?.last_used_at).not.toBeNull()
  })

  test('without an address: no passkey is named to the browser; confirming names those of the person', async () => {
    const { options } = await askForPasskey(here.parts, null, site)
    expect(options).toMatchObject({ allowCredentials: [], rpId: 'herald.example.org', userVerification: 'required' })
    const confirming = await askForPasskey(here.parts, maria.id, site)
    expect((confirming.options as { allowCredentials: object[] }).allowCredentials.length).toBeGreaterThan(0)
  })

  test('answers that do not fit are refused', async () => {
    const { device } = await add(maria)
    const lies = [{ origin: 'https://evil.example' }, { siteId: 'evil.example' }, { challenge: 'AAAA' }]
    for (const lie of lies) expect(await use(device, lie)).toEqual({ refused: 'wrong' })
    expect(await use(device, { type: 'webauthn.create' })).toEqual({ refused: 'wrong' })
    expect(await use(authenticator({ origin: ORIGIN }))).toEqual({ refused: 'unknown' })
  })

  test('an answer works once', async () => {
    const { device } = await add(maria)
    const { challenge, options } = await askForPasskey(here.parts, null, site)
    const answered = { challenge, answer: device.get(options) }
    const both = await Promise.all([
      usePasskey(here.parts, null, site, answered),
      usePasskey(here.parts, null, site, answered),
    ])
    expect(both).toContainEqual({ person: maria.id })
    expect(both).toContainEqual({ refused: 'over' })
    expect(await usePasskey(here.parts, null, site, answered)).toEqual({ refused: 'over' })
  })

  test('a challenge is over after five minutes, and none of another kind fits', async () => {
    const { device } = await add(maria)
    const { challenge, options } = await askForPasskey(here.parts, null, site)
    here.moveClock(5 * 60_000)
    const answered = { challenge, answer: device.get(options) }
    expect(await usePasskey(here.parts, null, site, answered)).toEqual({ refused: 'over' })
    const offered = await offerPasskey(here.parts, actorWhoSignsIn(maria), site)
    const mixed = { challenge: offered.challenge, answer: device.get(offered.options) }
    expect(await usePasskey(here.parts, null, site, mixed)).toEqual({ refused: 'over' })
    const none = { challenge: 'not an id', answer: '{}' }
    expect(await usePasskey(here.parts, null, site, none)).toEqual({ refused: 'over' })
  })

  test('a counter that does not go up means a copy: refused', async () => {
    const { device } = await add(maria)
    expect(await use(device, { counter: 9 })).toEqual({ person: maria.id })
    expect(await use(device, { counter: 9 })).toEqual({ refused: 'wrong' })
    expect(await use(device, { counter: 3 })).toEqual({ refused: 'wrong' })
    expect(await use(device, { counter: 10 })).toEqual({ person: maria.id })
  })

  test('a passkey without a counter works again and again', async () => {
    const { device } = await add(maria, authenticator({ origin: ORIGIN, counts: false }))
    expect(await use(device)).toEqual({ person: maria.id })
    expect(await use(device)).toEqual({ person: maria.id })
  })

  test('confirming takes a passkey of the same person only', async () => {
    const { device } = await add(maria)
    expect(await use(device, {}, maria.id)).toEqual({ person: maria.id })
    expect(await use(device, {}, ben.id)).toEqual({ refused: 'unknown' })
    const { challenge, options } = await askForPasskey(here.parts, null, site)
    const answered = { challenge, answer: device.get(options) }
    expect(await usePasskey(here.parts, maria.id, site, answered)).toEqual({ refused: 'over' })
  })
})

test('asking for a challenge stores nothing; one that was answered is stored until it has expired', async () => {
  const { sql } = here.parts.db
  const stored = async () =>
    (
      await sql<{ n: number }>`
      select (select count(*) from sign_in_challenges)::integer + (select count(*) from spent_challenges)::integer as n`
    )[0]?.n
  await sql`delete from spent_challenges`
  const { device } = await add(maria)
  const before = await stored()
  for (let n = 0; n < 50; n++) await askForPasskey(here.parts, n % 2 ? maria.id : null, site)
  for (let n = 0; n < 50; n++) await offerPasskey(here.parts, actorWhoSignsIn(maria), site)
  expect(await use(device, { origin: 'https://evil.example' })).toEqual({ refused: 'wrong' })
  expect([before, await stored()]).toEqual([1, 1])
  expect(await use(device)).toEqual({ person: maria.id })
  expect(await stored()).toBe(2)
  await runSteps(purgeSignInChallenges(here.parts))
  expect(await stored()).toBe(2)
  await sql`update spent_challenges set expires_at = now() - interval '1 second'`
  await runSteps(purgeSignInChallenges(here.parts))
  expect(await stored()).toBe(0)
})

test('browsers make no passkeys for IP addresses', () => {
  expect(['https://herald.example.org', 'http://localhost:6011'].map(hasPasskeys)).toEqual([true, true])
  expect(['http://127.0.0.1:6011', 'http://[::1]:6011'].map(hasPasskeys)).toEqual([false, false])
})
