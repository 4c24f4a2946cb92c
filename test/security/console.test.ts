// Threats to the console: sessions taken over, forged forms, frames, scripts in stored values, links opened by scanners, accounts
// guessed (S-33, S-34, S-53 to S-57). Rights are in test/console/rights.test.ts.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages } from '../../src/console/routes.ts'
import { printLink } from '../../src/people/links.ts'
import { BROWSER, inOwnWorld, launch, openContext, warnWithoutBrowser } from '../console/support/browser.ts'
import { EXAMPLES, filled, pagesOf } from '../console/support/examples.ts'
import { type ConsolePlace, place } from '../console/support/place.ts'
import { member, type PlantedService, plantService, type Who } from '../console/support/plant.ts'
import { asSession, CONSOLE, SESSION_COOKIE, type SignedInAs } from '../console/support/session.ts'
import { world } from '../support/world.ts'

warnWithoutBrowser('stored scripts in the console')

let here: ConsolePlace
beforeAll(async () => {
  here = await place()
}, 120_000)

const acts = pages.filter(([method]) => method === 'POST').map(([, path]) => path)
const example = (path: string) => EXAMPLES[`POST ${path}`]
const addressOf = (path: string) =>
  filled(path, here.planted.service, example(path)?.ids?.(here.planted.service, here.planted))
const fieldsOf = (path: string) => ({ ...example(path)?.form?.(here.planted.service, here.planted) })

/** A link that works in any browser, as the operator prints it. */
async function newLink(who: Who): Promise<string> {
  const actor = { kind: 'operator', name: 'tests' } as const
  return (await printLink(here.parts, actor, here.planted.people[who].email_address)).path
}
const isSignedIn = async (session: SignedInAs) => (await here.request(session, '/account')).status === 200

/** The token that an answer sets. */
const setToken = (headers: Headers) =>
  headers
    .getSetCookie()
    .map(cookie => new RegExp(`^${SESSION_COOKIE}=([^;]*)`).exec(cookie)?.[1])
    .find(value => value !== undefined)

describe('S-33 S-53 sessions', () => {
  test('signing in always gives a new token, and the one that the browser had is over', async () => {
    const planted = await here.signIn('stranger') // of an attacker who placed the cookie in the browser of somebody else
    const path = await newLink('viewer')
    const answer = await here.request(planted, path, { form: {} })
    expect(answer.status).toBe(303)
    const token = setToken(answer.headers)
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(token).not.toBe(planted.token)
    expect(await isSignedIn(planted)).toBe(false)
    const now = asSession(token ?? '')
    expect((await here.request(now, '/account')).text).toContain(here.planted.people.viewer.email_address)
  })

  test('confirming where e-mails are captured leads over the machine: the page names a command and shows no link', async () => {
    const { id, email_address } = here.planted.people.author
    const session = await here.signIn('author')
    await here.parts.db.sql`
      update sessions set signed_in_at = signed_in_at - interval '1 hour' where person_id = ${id}`
    expect((await here.request(session, '/account/passkeys/new')).location).toContain('/sign-in/confirm?return=')
    const command = `herald user sign-in-link ${email_address}`
    const asked = await here.request(session, '/sign-in/confirm?return=%2Faccount%2Fpasskeys%2Fnew')
    const answer = await here.request(session, '/sign-in/confirm', { form: { return: '/account/passkeys/new' } })
    expect(answer.location).toBe(`${CONSOLE}/sign-in/sent?return=%2Faccount%2Fpasskeys%2Fnew`)
    const sent = await here.request(session, '/sign-in/sent?return=%2Faccount%2Fpasskeys%2Fnew')
    for (const { text } of [asked, sent]) {
      expect(text).toContain(command)
      expect(text).toContain(`href="${CONSOLE}/account/passkeys/new"`)
      expect(text).not.toContain('/sign-in/link/')
    }
    expect((await here.request(null, '/sign-in/sent')).text).not.toContain('sign-in-link')

    const spent = await here.request(session, await newLink('author'), { form: {} })
    const confirmed = asSession(setToken(spent.headers) ?? '')
    expect((await here.request(confirmed, '/account/passkeys/new')).status).toBe(200)
  })

  test('a token that nobody was given opens nothing, whatever it looks like', async () => {
    for (const token of ['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}'`, here.planted.people.manager.id])
      expect(await isSignedIn(asSession(token || 'none'))).toBe(false)
  })

  test('signing out ends the session, not only the cookie', async () => {
    const session = await here.signIn('developer')
    expect(await isSignedIn(session)).toBe(true)
    const answer = await here.request(session, '/sign-out', { form: {} })
    expect(answer.headers.getSetCookie().join()).toMatch(new RegExp(`${SESSION_COOKIE}=; Path=/; Max-Age=0`))
    expect(await isSignedIn(session)).toBe(false)
  })

  test('removing a person from the team counts at once', async () => {
    const { service } = here.planted
    const gone = await member(here.parts, service.id, 'Gone Soon', 'manager')
    const session = await here.signIn(gone)
    expect((await here.request(session, `/s/${service.id}`)).status).toBe(200)
    const [user] = await here.parts.db.sql<{ id: string }>`
      select id from users where person_id = ${gone.id} and service_id = ${service.id}`
    const manager = await here.signIn('manager')
    const removed = await here.request(manager, `/s/${service.id}/team/${user?.id}/remove`, { form: {} })
    expect(removed.status).toBe(303)
    expect((await here.request(session, `/s/${service.id}`)).status).toBeOneOf([303, 404])
    const [left] = await here.parts.db.sql`select from sessions where person_id = ${gone.id}`
    expect(left).toBe(undefined)
  })

  test('cookies: no script reads them, no other site sends them, and over https only this host can set them', async () => {
    const answer = await here.request(null, await newLink('viewer'), { form: {} })
    const [cookie] = answer.headers.getSetCookie().filter(one => one.startsWith(`${SESSION_COOKIE}=`))
    expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const safe = await world({ HERALD_BASE_URL: 'https://herald.example' })
    const { headers } = await fetch(`${safe.address}${CONSOLE}/sign-in`)
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-herald-browser=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/),
    ])
  })

  test('asking for links is slowed down, for one address as for many', async () => {
    const ask = () => here.request(null, '/sign-in', { form: { email: 'tried.often@eastmere.example' } })
    const answers = []
    for (let at = 0; at < 5; at++) answers.push((await ask()).location)
    const [sent, later] = [`${CONSOLE}/sign-in/sent`, `${CONSOLE}/sign-in/sent?later=1`]
    expect(answers).toEqual([sent, sent, sent, later, later])
  })
})

describe('S-56 links opened by programs', () => {
  test('GET and HEAD spend nothing; the button does, once', async () => {
    const path = await newLink('author')
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) {
      const answer = await here.request(null, path, { method })
      expect([answer.status, setToken(answer.headers)]).toEqual([200, undefined])
    }
    const first = await here.request(null, path, { form: {} })
    expect([first.status, setToken(first.headers)?.length]).toEqual([303, 43])
    const second = await here.request(null, path, { form: {} })
    expect([second.status, setToken(second.headers)]).toEqual([410, undefined])
  })

  test('the same of an invitation', async () => {
    const path = `/invitation/${here.planted.service.team.token}`
    const before = await here.changes()
    for (const method of ['GET', 'HEAD']) expect((await here.request(null, path, { method })).status).toBe(200)
    expect(await here.changes()).toEqual(before)
  })
})

describe('S-57 accounts that are guessed', () => {
  test('the answer does not tell whether an address is known', async () => {
    const ask = async (email: string) => {
      const { status, location, text, headers } = await here.request(null, '/sign-in', { form: { email } })
      const told = [...headers].filter(([name]) => !['date', 'set-cookie', 'x-request-id'].includes(name))
      return { status, location, text, told }
    }
    const known = await ask(here.planted.people.sender.email_address)
    expect(known.status).toBe(303)
    expect(await ask('nobody.at.all@eastmere.example')).toEqual(known)
  })

  test('a service that exists and one that does not are answered alike', async () => {
    const newcomer = await here.signIn('newcomer')
    const pageOf = async (id: string) => {
      const { status, text } = await here.request(newcomer, `/s/${id}`)
      return { status, text: text.replaceAll(/[\w-]{43}/g, '') }
    }
    const unknown = await pageOf('00000000-0000-4000-8000-000000000000')
    expect(unknown.status).toBe(404)
    expect(await pageOf(here.planted.service.id)).toEqual(unknown)
  })
})

describe('S-54 forged forms', () => {
  let manager: SignedInAs
  let other: SignedInAs
  beforeAll(async () => {
    manager = await here.signIn('manager')
    other = await here.signIn('stranger')
  })

  const forgeries: Record<string, (path: string) => Parameters<ConsolePlace['request']>[2]> = {
    'without a token': path => ({ form: { ...fieldsOf(path), form_token: '' } }),
    'with the token of somebody else': path => ({ form: { ...fieldsOf(path), form_token: other.formToken } }),
    'from another origin': path => ({ form: fieldsOf(path), headers: { origin: 'https://evil.example' } }),
    'from another site, without an origin': path => ({
      form: fieldsOf(path),
      headers: { origin: 'null', 'sec-fetch-site': 'cross-site' },
    }),
  }
  describe.each(Object.keys(forgeries))('%s', name => {
    test.each(acts)('%s is refused, and nothing happens', async path => {
      const before = await here.changes()
      const forged = { ...forgeries[name]?.(path), multipart: example(path)?.multipart === true }
      const answer = await here.request(manager, addressOf(path), forged)
      expect(answer.status).toBe(403)
      expect(await here.changes()).toEqual(before)
    })
  })
})

describe('S-55 frames, S-34 policy', () => {
  const directivesOf = (headers: Headers) =>
    new Map(
      (headers.get('content-security-policy') ?? '')
        .split(';')
        .map(one => one.trim().split(/ (.*)/s).slice(0, 2) as [string, string]),
    )
  const shared = (headers: Headers) => {
    expect(directivesOf(headers).get('default-src')).toBe("'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toContain('no-store')
  }

  test('no page can be framed by others or runs a script of its own text, error pages included', async () => {
    for (const { path, who, status } of pagesOf(pages, here.planted.service, here.planted)) {
      const answer = await here.request(who === null ? null : await here.signIn(who), path)
      expect([path, answer.status]).toEqual([path, status])
      shared(answer.headers)
      expect(Object.fromEntries(directivesOf(answer.headers)), path).toMatchObject({
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
        'form-action': "'self'",
        'script-src': "'self'",
        'style-src': "'self'",
      })
      expect(answer.headers.get('referrer-policy')).toBe('same-origin')
    }
  })

  test('an e-mail is shown in a sandbox without scripts, and only here', async () => {
    const frames = pages.filter(([method, path]) => EXAMPLES[`${method} ${path}`]?.kind === 'frame')
    expect(frames.length).toBeGreaterThan(0)
    for (const [method, path] of frames) {
      const example = EXAMPLES[`${method} ${path}`]
      const ids = example?.ids?.(here.planted.service, here.planted)
      const who = await here.signIn(example?.who ?? 'manager')
      const { headers, status } = await here.request(who, filled(path, here.planted.service, ids))
      expect([path, status]).toEqual([path, 200])
      shared(headers)
      const directives = directivesOf(headers)
      expect(directives.has('sandbox')).toBe(true)
      expect(directives.get('sandbox')).toBe(undefined)
      expect(directives.has('script-src')).toBe(false)
      expect(directives.get('frame-ancestors')).toBe("'self'")
    }
  })
})

describe.skipIf(!BROWSER)('S-34 stored values that are scripts', () => {
  const MARK = ` "><img src=x onerror=alert(1)>'</title></textarea><script>alert(2)</script>`
  let browser: Browser
  let hostile: PlantedService
  let cookie: SignedInAs['cookie']

  beforeAll(async () => {
    browser = await launch()
    hostile = await plantService(here, { name: 'Hostile', boss: 'Eve Stone', mark: MARK })
    const eve = await member(here.parts, hostile.id, 'Eve Stone', 'manager')
    await here.parts.db.sql`update people set name = ${`Eve${MARK}`} where id = ${eve.id}`
    cookie = (await here.signIn(eve)).cookie
  }, 120_000)
  afterAll(() => browser?.close())

  test('are text on every page', async () => {
    const context = await openContext(browser, here.address, { cookie })
    const page = await context.newPage()
    const dialogs: string[] = []
    page.on('dialog', dialog => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const silent: string[] = []
    for (const { path, who } of pagesOf(pages, hostile, here.planted)) {
      if (who !== 'manager') continue
      await page.goto(`${here.address}${CONSOLE}${path}`)
      const { injected, text } = await inOwnWorld<{ injected: number; text: string }>(
        page,
        `({ injected: document.querySelectorAll('img[src=x], [onerror], script:not([src])').length, text: document.documentElement.textContent })`,
      )
      expect([path, injected]).toEqual([path, 0])
      if (path.includes(hostile.id) && !text.includes('<img src=x onerror=alert(1)>')) silent.push(path)
    }
    expect(dialogs).toEqual([])
    expect(context.complaints()).toEqual([])
    // On each page of the service at least its name stands, as text.
    expect(silent).toEqual([])
  }, 120_000)
})
