import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { createOidcClient } from '../../src/people/oidc.ts'
import { beginSingleSignOn, endSingleSignOn, type SingleSignOnApp } from '../../src/people/single-sign-on.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { newToken } from '../../src/people/token.ts'
import { type Account, CLIENT, oidcProvider } from '../support/oidc.ts'
import { type World, world } from '../support/world.ts'

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
    HERALD_OIDC_ISSUER: provider.issuer,
    HERALD_OIDC_CLIENT_ID: CLIENT.id,
    HERALD_OIDC_CLIENT_SECRET: CLIENT.secret,
    HERALD_OIDC_ROLES: JSON.stringify({
      it: 'operator',
      'parking-authors': { 'Parking permits': 'author' },
      'parking-managers': { 'Parking permits': 'manager' },
    }),
  })
  app = here.parts
  parking = (await here.service({ name: 'Parking permits' })).id
  library = (await here.service({ name: 'Library' })).id
})

beforeEach(() => {
  browser = newToken()
})

const begin = async (person: Id | null = null, from = app) => {
  const begun = await beginSingleSignOn(from, person, { browser, redirectUri: REDIRECT, returnTo: '/s/x' })
  if ('fault' in begun) throw new Error(begun.code)
  return begun.to
}
const end = (returned: URL) => endSingleSignOn(app, { browser, returned: returned.searchParams })
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
      return endSingleSignOn(trusting, { browser, returned: returned.searchParams })
    }
    const email = 'maria@example.org'
    expect(await come({ sub: 'entra', email, email_verified: false })).toMatchObject({ fault: 'unverified' })
    expect(await come({ sub: 'entra', email })).toMatchObject({ person: { email_address: email } })
  })

  test('somebody whom nobody invited and no group names becomes no person', async () => {
    expect(await signIn(verified('stranger', { groups: ['canteen'] }))).toMatchObject({ fault: 'unknown' })
    expect(await personBy(here.parts.db.sql, 'stranger@example.org')).toBeNull()
  })

  test('confirming by somebody else is refused', async () => {
    const me = await personBy(here.parts.db.sql, 'maria@example.org')
    provider.is(verified('ada', { groups: ['it'] }))
    expect(await end(await provider.walk(await begin(me?.id)))).toMatchObject({ fault: 'another' })
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

describe('answers that do not fit', () => {
  test('another state, also with the id of the challenge', async () => {
    provider.is(verified('maria'))
    const returned = await provider.walk(await begin())
    const state = returned.searchParams.get('state') ?? ''
    returned.searchParams.set('state', `${state.split('.')[0]}.${newToken()}`)
    expect(await end(returned)).toMatchObject({ fault: 'wrong' })
    returned.searchParams.set('state', state)
    expect(await end(returned)).toMatchObject({ fault: 'over' }) // the challenge is spent
    returned.searchParams.delete('state')
    expect(await end(returned)).toMatchObject({ fault: 'over' })
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
