import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { invite } from '../../src/people/invitations.ts'
import { type Claims, createOidcClient } from '../../src/people/oidc.ts'
import { addOperator } from '../../src/people/operators.ts'
import { actorOf } from '../../src/people/person.ts'
import { readSession, startSession } from '../../src/people/session.ts'
import { beginSingleSignOn, endSingleSignOn, type SingleSignOnApp } from '../../src/people/single-sign-on.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { newToken } from '../../src/people/token.ts'
import { change } from '../../src/services/change.ts'
import { type Account, CLIENT, oidcProvider } from '../support/oidc.ts'
import { oidcDocuments } from '../support/oidc-documents.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const CONSOLE = 'http://localhost:6011/console'
const REDIRECT = 'http://localhost:6011/console/sign-in/single-sign-on/return'
let provider: Awaited<ReturnType<typeof oidcProvider>>
let here: World
let app: SingleSignOnApp
let parking: Id
let library: Id
let browser: string

beforeAll(async () => {
  provider = await oidcProvider({ redirectUris: [REDIRECT] })
  here = await world({
    HERALD_BASE_URL: 'http://localhost:6011',
    HERALD_OIDC_ISSUER: provider.issuer,
    HERALD_OIDC_CLIENT_ID: CLIENT.id,
    HERALD_OIDC_CLIENT_SECRET: CLIENT.secret,
  })
  parking = (await here.service({ name: 'Parking permits' })).id
  library = (await here.service({ name: 'Library' })).id
  const oidcRoles = {
    it: 'operator',
    'parking-authors': { [parking]: 'author' },
    'parking-managers': { [parking]: 'manager' },
  } as const
  app = { ...here.parts, config: { ...here.parts.config, oidcRoles } }
})

beforeEach(() => {
  browser = newToken()
})

const begin = async (person: Id | null = null, from = app, returnTo = '/s/x') => {
  const begun = await beginSingleSignOn(from, person, { browser, redirectUri: REDIRECT, returnTo })
  if ('fault' in begun) throw new Error(begun.code)
  return begun.to
}
const end = (returned: URL, session: Id | null = null, from = app) =>
  endSingleSignOn(from, { browser, returned: returned.searchParams, session })
const signIn = async (account: Account) => {
  provider.is(account)
  return end(await provider.walk(await begin()))
}
const rolesOf = async (address: string) => {
  const rows = await here.parts.db.sql<{ name: string; role: string }>`
    select s.name, u.role from users u join services s on s.id = u.service_id
    where lower(u.email_address) = lower(${address}) order by s.name`
  return Object.fromEntries(rows.map(({ name, role }) => [name, role]))
}
const verified = (sub: string, more: Partial<Account> = {}): Account => ({
  sub,
  email: `${sub}@example.org`,
  email_verified: true,
  name: `Name of ${sub}`,
  ...more,
})

describe('who it is', () => {
  test('a team member is found by the verified address, once, and from then on by issuer and subject', async () => {
    const first = await signIn(verified('maria'))
    expect(first).toMatchObject({ person: { email_address: 'maria@example.org' }, returnTo: '/s/x', confirms: null })
    const again = await signIn(verified('maria', { email: 'married@example.org', email_verified: false }))
    expect(again).toMatchObject({ person: { email_address: 'maria@example.org' } })
    const audit = await entries(here.parts.db.sql, null, 50)
    expect(audit.filter(({ action }) => action === 'identity linked')).toHaveLength(1)
  })

  test('an address that is not verified links nobody', async () => {
    const given = await signIn({ sub: 'thief', email: 'maria@example.org', email_verified: false })
    expect(given).toEqual({ fault: 'unverified', code: 'address not verified' })
    expect(await signIn({ sub: 'thief', email: 'maria@example.org' })).toMatchObject({ fault: 'unverified' })
    expect(await signIn({ sub: 'thief' })).toMatchObject({ fault: 'unverified' })
  })

  test('HERALD_OIDC_TRUST_EMAIL takes an address without the claim, but none that is not verified', async () => {
    const trusting = {
      ...app,
      oidc: createOidcClient({ ...here.parts.config, oidcTrustEmail: true }, here.parts.clock),
    }
    const come = async (account: Account) => {
      provider.is(account)
      const returned = await provider.walk(await begin(null, trusting))
      return endSingleSignOn(trusting, { browser, returned: returned.searchParams, session: null })
    }
    const { email_address: email } = await addOperator(here.parts, OPERATOR, { email_address: 'entra@example.org' })
    expect(await come({ sub: 'entra', email, email_verified: false })).toMatchObject({ fault: 'unverified' })
    expect(await come({ sub: 'entra', email })).toMatchObject({ person: { email_address: email } })
  })

  test('an account that was used before is connected only in a session of its own', async () => {
    const kim = await addOperator(here.parts, OPERATOR, { email_address: 'kim@example.org', name: 'Kim' })
    const signedIn = () => startSession(here.parts, kim, { method: 'link', device: 'Firefox on Linux' })
    const [old, own] = [await signedIn(), await signedIn()]
    const before = await entries(here.parts.db.sql, null, 200)
    expect(await signIn(verified('kim', { groups: ['it'] }))).toEqual({
      ...{ fault: 'unconnected', code: 'address of an account that is not connected', returnTo: '/s/x' },
    })
    expect(await entries(here.parts.db.sql, null, 200)).toEqual(before)
    // In their own session they confirm with it, once, which ends their other sessions. From then on it signs them in.
    provider.is(verified('kim', { groups: ['it'] }))
    expect(await end(await provider.walk(await begin(kim.id)), own.session.id)).toMatchObject({ confirms: kim.id })
    expect(await readSession(here.parts, own.token)).not.toBe(null)
    expect(await readSession(here.parts, old.token)).toBe(null)
    const later = await signedIn()
    expect(await end(await provider.walk(await begin(kim.id)), own.session.id)).toMatchObject({ confirms: kim.id })
    expect(await readSession(here.parts, later.token)).not.toBe(null) // it was connected before
    expect(await signIn(verified('kim', { groups: ['it'] }))).toMatchObject({ person: { id: kim.id } })
  })

  test('someone who is invited becomes a person without a role, and accepts afterwards', async () => {
    const invitation = { service: library, role: 'author', address: 'noa@example.org', console: CONSOLE } as const
    const grace = await addOperator(here.parts, OPERATOR, { email_address: 'grace@example.org' })
    await invite(here.parts, actorOf({ person: grace, memberships: [] }, library), invitation)
    expect(await signIn(verified('noa'))).toMatchObject({ person: { name: 'Name of noa', is_operator: false } })
    expect(await rolesOf('noa@example.org')).toEqual({})
    const [added] = (await entries(here.parts.db.sql, null, 50)).filter(({ action }) => action === 'person added')
    expect(added).toMatchObject({ actor_name: 'single sign-on', detail: { by: 'invitation' } })
  })

  test('somebody whom nobody invited and no group names becomes no person', async () => {
    expect(await signIn(verified('stranger', { groups: ['canteen'] }))).toMatchObject({ fault: 'unknown' })
    expect(await personBy(here.parts.db.sql, 'stranger@example.org')).toBeNull()
  })

  test('confirming by someone else is refused before anything is linked or given', async () => {
    const me = await personBy(here.parts.db.sql, 'maria@example.org')
    const written = () => here.parts.db.sql`
      select (select count(*) from audit) as audit, (select count(*) from people) as people,
             (select count(*) from identities) as identities, (select count(*) from users) as users`
    await addOperator(here.parts, OPERATOR, { email_address: 'lou@example.org' }) // has never signed in
    const before = await written()
    // Not known, an account that waits for its first sign-in, and one that is connected to someone else.
    for (const sub of ['ada', 'lou', 'kim']) {
      provider.is(verified(sub, { groups: ['it', 'parking-managers'] }))
      expect(await end(await provider.walk(await begin(me?.id)))).toMatchObject({ fault: 'another' })
    }
    expect(await written()).toEqual(before)
    provider.is(verified('maria'))
    expect(await end(await provider.walk(await begin(me?.id)))).toMatchObject({ confirms: me?.id })
  })
})

describe('roles from groups', () => {
  test('are given, changed and taken with the groups, and are recorded', async () => {
    const ben = (groups: string[]) => signIn(verified('ben', { groups }))
    expect(await ben(['parking-authors'])).toMatchObject({ person: { name: 'Name of ben', is_operator: false } })
    expect(await rolesOf('ben@example.org')).toEqual({ 'Parking permits': 'author' })

    expect(await ben(['parking-authors', 'parking-managers', 'it'])).toMatchObject({ person: { is_operator: true } })
    expect(await rolesOf('ben@example.org')).toEqual({ 'Parking permits': 'manager' })

    expect(await ben([])).toMatchObject({ person: { is_operator: false } })
    expect(await rolesOf('ben@example.org')).toEqual({})

    const subject = (await personBy(here.parts.db.sql, 'ben@example.org'))?.id
    const audit = await entries(here.parts.db.sql, null, 200)
    const installation = audit.filter(entry => entry.subject_id === subject).map(({ action }) => action)
    expect(installation).toEqual(['operator removed', 'operator added', 'identity linked', 'person added'])
    const inService = (await entries(here.parts.db.sql, parking, 50)).filter(
      entry => entry.actor_name === 'single sign-on',
    )
    expect(inService.map(({ action }) => action).slice(0, 3)).toEqual([
      'member removed',
      'role changed',
      'member added',
    ])
  })

  test('services that no group names keep the roles that Herald gave', async () => {
    expect(await rolesOf('maria@example.org')).toEqual({ Library: 'viewer' }) // the groups of maria give none in Parking permits
    await signIn(verified('maria', { groups: ['parking-authors'] }))
    expect(await rolesOf('maria@example.org')).toEqual({ Library: 'viewer', 'Parking permits': 'author' })
    expect(library).toBeDefined()
  })
})

test('a manager whom the groups take the role from at the same moment invites nobody', async () => {
  const { sql, client } = here.parts.db
  const ended = await signIn(verified('rob', { groups: ['parking-managers'] }))
  if ('fault' in ended) throw new Error(ended.code)
  const managing = { service_id: parking, service_name: 'Parking permits', mode: 'live', role: 'manager' } as const
  const actor = actorOf({ person: ended.person, memberships: [managing] }, parking)
  const locker = client()
  await locker.connect()
  try {
    await locker.query(`begin; select from users where person_id = '${ended.person.id}' for update`)
    const waiting = async (statements: number) =>
      expect
        .poll(
          async () =>
            (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
              .length,
          { interval: 20, timeout: 10_000 },
        )
        .toBe(statements)
    const demoted = signIn(verified('rob'))
    await waiting(1)
    const input = { service: parking, role: 'manager', address: 'friend@example.org', console: CONSOLE } as const
    const invited = invite(here.parts, actor, input).catch(error => String(error.message))
    await waiting(2)
    await locker.query('commit')
    expect(await demoted).toHaveProperty('person')
    expect(await invited).toMatch('You do not have the permission')
    expect(await sql`select id from invitations where service_id = ${parking}`).toEqual([])
  } finally {
    await locker.end()
  }
})

test('a service that takes the name of another one gets none of its roles', async () => {
  await change(here.parts, OPERATOR, parking, { name: 'Parking permits, old' })
  await change(here.parts, OPERATOR, library, { name: 'Parking permits' })
  await signIn(verified('eva', { groups: ['parking-managers'] }))
  expect(await rolesOf('eva@example.org')).toEqual({ 'Parking permits, old': 'manager' })
  await change(here.parts, OPERATOR, library, { name: 'Library' })
  await change(here.parts, OPERATOR, parking, { name: 'Parking permits' })
})

describe('what the documents of a provider prove', () => {
  let documents: Awaited<ReturnType<typeof oidcDocuments>>
  const [address, other] = ['pat@example.org', 'victim@example.org']
  const client = (oidcTrustEmail = false) =>
    createOidcClient({ ...here.parts.config, oidcIssuer: documents.issuer, oidcTrustEmail }, here.parts.clock)
  const claims = async (said: Parameters<typeof documents.says>[0], oidc = client(), isFreshly = false) => {
    documents.says({ ...said, token: { sub: 'pat', ...said.token }, userinfo: { sub: 'pat', ...said.userinfo } })
    const begun = await oidc?.begin(() => newToken(), REDIRECT, { isFreshly })
    if (!oidc || !begun || 'fault' in begun) throw new Error('not begun')
    return oidc.end(documents.return(begun.to).searchParams, begun.checks)
  }
  beforeAll(async () => {
    documents = await oidcDocuments()
  })

  test('an address is verified only by the document it stands in', async () => {
    const isVerified = async (token: object, userinfo: object = {}) =>
      ((await claims({ token: { ...token }, userinfo: { ...userinfo } })) as Claims).isVerified
    expect(await isVerified({ email: address, email_verified: true })).toBe(true)
    expect(await isVerified({}, { email: address, email_verified: 'true' })).toBe(true)
    expect(await isVerified({ email: address }, { email: address.toUpperCase(), email_verified: true })).toBe(true)
    // About another address, or about none.
    expect(await isVerified({ email: other }, { email: address, email_verified: true })).toBe(false)
    expect(await isVerified({ email: other }, { email_verified: true })).toBe(false)
    expect(await isVerified({ email_verified: true }, { email: other })).toBe(false)
    expect(await isVerified({ email: other, email_verified: true }, { email: address })).toBe(false)
    // One of the two says no.
    expect(await isVerified({ email: address }, { email: address, email_verified: false })).toBe(false)
    expect(await isVerified({ email: address, email_verified: false }, { email: address, email_verified: true })).toBe(
      false,
    )
  })

  test('HERALD_OIDC_TRUST_EMAIL trusts an address without the claim, but not two different ones', async () => {
    const said = (token: object, userinfo: object) =>
      claims({ token: { ...token }, userinfo: { ...userinfo } }, client(true))
    expect(await said({ email: address }, {})).toMatchObject({ email_address: address, isVerified: true })
    expect(await said({ email: other }, { email: address })).toMatchObject({ isVerified: false })
    expect(await said({ email: address }, { email: address, email_verified: false })).toMatchObject({
      isVerified: false,
    })
  })

  test('the time of a proof is that of the ID token, and confirming needs one of the last five minutes', async () => {
    const now = Math.floor(Date.now() / 1_000)
    const said = (auth_time: number | null, isFreshly: boolean) =>
      claims({ token: auth_time === null ? {} : { auth_time }, userinfo: { auth_time: now } }, client(), isFreshly)
    expect(await said(now - 8_000, false)).toMatchObject({ provedAt: (now - 8_000) * 1_000 })
    expect(await said(null, false)).toMatchObject({ provedAt: null })
    expect(await said(now - 10, true)).toMatchObject({ provedAt: (now - 10) * 1_000 })
    expect(await said(now - 8_000, true)).toMatchObject({ fault: 'wrong' })
    expect(await said(null, true)).toMatchObject({ fault: 'wrong' })
  })

  test('an ID token that the provider did not sign is refused', async () => {
    const token = { email: address, email_verified: true, name: 'Pat', groups: ['it'] }
    expect(await claims({ token })).toMatchObject({ groups: ['it'], isVerified: true })
    expect(await claims({ token, isForged: true })).toMatchObject({ fault: 'wrong' })
  })
})

describe('a sign-on that is begun', () => {
  const rows = async () =>
    (
      await here.parts.db.sql<{ n: number }>`
        select (select count(*) from sign_in_challenges)::integer + (select count(*) from spent_challenges)::integer as n`
    )[0]?.n ?? 0

  test('leaves nothing behind until the provider has answered', async () => {
    const before = await rows()
    provider.is(null)
    for (let n = 0; n < 3; n++) expect(await end(await provider.walk(await begin()))).toMatchObject({ fault: 'denied' })
    expect(await rows()).toBe(before)
    expect(await signIn(verified('maria'))).toHaveProperty('person')
    expect(await rows()).toBe(before + 1)
  })

  test('shows nobody what its answer is checked against', async () => {
    const asked = new URL(await begin()).searchParams
    const state = Buffer.from(asked.get('state') ?? '', 'base64url').toString('latin1')
    for (const known of [REDIRECT, asked.get('nonce') ?? '', 'verifier']) expect(state).not.toContain(known)
  })

  test('leads to the first page if the other one has a very long address', async () => {
    provider.is(verified('maria'))
    const [short, long] = [`/${'x'.repeat(499)}`, `/${'x'.repeat(500)}`]
    const to = await begin(null, app, short)
    expect(to.length).toBeLessThan(2_000)
    expect(await end(await provider.walk(to))).toMatchObject({ returnTo: short })
    expect(await end(await provider.walk(await begin(null, app, long)))).toMatchObject({ returnTo: null })
  })
})

describe('when someone proved who they are', () => {
  test('a sign-in at a provider that does not say when is not a fresh one', async () => {
    expect(await signIn(verified('maria'))).toMatchObject({ confirms: null, provedAt: null })
  })

  test('confirming needs a time, and it is a recent one', async () => {
    const me = await personBy(here.parts.db.sql, 'maria@example.org')
    const since = Math.floor(Date.now() / 1_000) * 1_000
    const ended = await end(await provider.walk(await begin(me?.id)))
    expect(ended).toMatchObject({ confirms: me?.id })
    expect(ended).toHaveProperty('provedAt')
    if ('provedAt' in ended) expect(ended.provedAt).toBeGreaterThanOrEqual(since)
  })
})

describe('answers that do not fit', () => {
  test('another state, none, or one of another sign-in', async () => {
    provider.is(verified('maria'))
    const [returned, other] = [await provider.walk(await begin()), await provider.walk(await begin())]
    const state = returned.searchParams.get('state') ?? ''
    const changed = `${state.slice(0, -2)}${state.endsWith('AA') ? 'BB' : 'AA'}`
    for (const wrong of [changed, newToken(), '', `${state}.x`]) {
      returned.searchParams.set('state', wrong)
      expect(await end(returned), wrong).toMatchObject({ fault: 'over' })
    }
    returned.searchParams.delete('state')
    expect(await end(returned)).toMatchObject({ fault: 'over' })
    returned.searchParams.set('state', other.searchParams.get('state') ?? '')
    expect(await end(returned)).toMatchObject({ fault: 'wrong' })
  })

  test('a state that is older than five minutes', async () => {
    provider.is(verified('maria'))
    const returned = await provider.walk(await begin())
    const later = { ...app, clock: { ...app.clock, now: () => app.clock.now() + 300_001 } }
    expect(await end(returned, null, later)).toMatchObject({ fault: 'over' })
    expect(await end(returned)).toHaveProperty('person')
  })

  test('a code of another sign-in: the nonce in the token is not ours', async () => {
    provider.is(verified('maria'))
    // The provider is asked with our state and PKCE challenge, but with the nonce of an attacker.
    const asked = new URL(await begin())
    asked.searchParams.set('nonce', 'a nonce of somebody else')
    expect(await end(await provider.walk(asked.href))).toMatchObject({
      fault: 'wrong',
      code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
    })
  })

  test('a code of another browser: PKCE', async () => {
    provider.is(verified('maria'))
    const stolen = (await provider.walk(await begin())).searchParams.get('code') ?? ''
    browser = newToken()
    const mine = await provider.walk(await begin())
    mine.searchParams.set('code', stolen)
    expect(await end(mine)).toMatchObject({ fault: 'wrong' })
  })

  test('the issuer in the answer is another provider (mix-up), or is missing', async () => {
    provider.is(verified('maria'))
    const mixed = await provider.walk(await begin())
    expect(mixed.searchParams.get('iss')).toBe(provider.issuer)
    mixed.searchParams.set('iss', 'https://evil.example')
    expect(await end(mixed)).toMatchObject({ fault: 'wrong' })
    const without = await provider.walk(await begin())
    without.searchParams.delete('iss')
    expect(await end(without)).toMatchObject({ fault: 'wrong' })
  })

  test('the same answer again', async () => {
    provider.is(verified('maria'))
    const returned = await provider.walk(await begin())
    expect(await end(returned)).toHaveProperty('person')
    expect(await end(returned)).toMatchObject({ fault: 'over' })
    // Also with a new challenge: the provider gives nothing for a code that was used.
    const fresh = await provider.walk(await begin())
    fresh.searchParams.set('code', returned.searchParams.get('code') ?? '')
    expect(await end(fresh)).toMatchObject({ fault: 'wrong' })
  })

  test('another browser cannot end what this one began', async () => {
    provider.is(verified('maria'))
    const returned = await provider.walk(await begin())
    browser = newToken()
    expect(await end(returned)).toMatchObject({ fault: 'over' })
  })

  test('the provider refuses the person', async () => {
    provider.is(null)
    expect(await end(await provider.walk(await begin()))).toEqual({ fault: 'denied', code: 'access_denied' })
  })
})

test('a provider that is down, or is none, is a sentence and not an error', async () => {
  const gone = await oidcProvider({ redirectUris: [REDIRECT] })
  const settings = { ...here.parts.config, oidcIssuer: gone.issuer }
  const asking = { ...app, oidc: createOidcClient(settings, here.parts.clock) }
  await begin(null, asking) // its description is known now
  const returnTo = { browser, redirectUri: REDIRECT, returnTo: null }
  await gone.stop()
  const down = { ...app, oidc: createOidcClient(settings, here.parts.clock) }
  expect(await beginSingleSignOn(down, null, returnTo)).toMatchObject({ fault: 'down' })
  // A server that answers, but is no provider: Herald itself.
  const other = { ...app, oidc: createOidcClient({ ...settings, oidcIssuer: here.address }, here.parts.clock) }
  expect(await beginSingleSignOn(other, null, returnTo)).toMatchObject({ fault: 'down' })
  expect(await beginSingleSignOn({ ...app, oidc: null }, null, returnTo)).toMatchObject({ fault: 'down' })
})
