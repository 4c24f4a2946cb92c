// Rights that reach the wrong person: by a forged or stale address, by an invitation, by single sign-on (S-69). Whole journeys over
// HTTP, each person with a browser of their own.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { addOperator } from '../../src/people/operators.ts'
import { formTokenOf, newToken } from '../../src/people/token.ts'
import { type ConsolePlace, place } from '../console/support/place.ts'
import type { Who } from '../console/support/plant.ts'
import { BROWSER_COOKIE, CONSOLE, SESSION_COOKIE } from '../console/support/session.ts'
import { CLIENT, oidcProvider } from '../support/oidc.ts'
import { OPERATOR } from '../support/world.ts'

type Browser = ReturnType<typeof browserAt>

/** Keeps its cookies, as a browser does. */
function browserAt(address: string, session?: string) {
  const cookies = new Map([[BROWSER_COOKIE, newToken()]])
  if (session) cookies.set(SESSION_COOKIE, session)
  async function ask(path: string, form?: Record<string, string>) {
    const fields = form && { form_token: formTokenOf(cookies.get(BROWSER_COOKIE) ?? ''), ...form }
    const response = await fetch(address + (path.startsWith(CONSOLE) ? path : CONSOLE + path), {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(pair => pair.join('=')).join('; '),
        ...(fields && { origin: address, 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields).toString() }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() }
  }
  return { get: (path: string) => ask(path), post: (path: string, form = {}) => ask(path, form), cookies }
}

type Mail = { to: string; subject: string; text: string }

/** The path of the newest link to this address. */
async function linkIn(at: ConsolePlace, address: string, pattern: RegExp): Promise<string> {
  let found: string | undefined
  await expect
    .poll(
      async () => {
        const mails: Mail[] = (await at.inbox()).body.messages
        found = mails.filter(({ to }) => to === address).flatMap(({ text }) => pattern.exec(text)?.[0] ?? [])[0]
        return found !== undefined
      },
      { interval: 50, timeout: 15_000 },
    )
    .toBe(true)
  return found ?? ''
}
const INVITATION = /\/console\/invitation\/[\w-]+/
const LINK = /\/console\/sign-in\/link\/[\w-]+/
const MOVE = /\/console\/account\/address\?move=[\w-]+/

let here: ConsolePlace
beforeAll(async () => {
  here = await place({}, { engine: true })
}, 120_000)

const signedIn = async (who: Who): Promise<Browser> => browserAt(here.address, (await here.signIn(who)).token)

describe('an account with the address of someone else', () => {
  test('its old session gets nothing of an invitation to that address', async () => {
    const [attacker, operator] = [await signedIn('developer'), await signedIn('operator')]
    const boss = 'boss@eastmere.example'
    // However it came about.
    await here.parts.db.sql`update people set email_address = ${boss} where id = ${here.planted.people.developer.id}`
    expect((await operator.post('/operator/people/invite', { address: boss })).status).toBe(303)
    const invitation = await linkIn(here, boss, INVITATION)

    const invited = browserAt(here.address)
    const page = await invited.get(invitation)
    expect(page.text).toContain('There is already an account with this address.')
    expect(page.text).not.toContain('Accept and sign in')
    expect((await invited.post(invitation, { name: 'The boss' })).status).toBe(403)
    expect(invited.cookies.has(SESSION_COOKIE)).toBe(false)
    expect((await attacker.get('/operator/people')).status).toBe(403)

    // They sign in as that person, by a link that only the owner of the mailbox has, and accept.
    const back = new URL(/href="([^"]*\/sign-in\?return=[^"]*)"/.exec(page.text)?.[1] ?? '', here.address)
    const asked = { email: boss, return: back.searchParams.get('return') ?? '' }
    expect((await invited.post('/sign-in', asked)).status).toBe(303)
    const spent = await invited.post(await linkIn(here, boss, LINK))
    expect(spent.location).toBe(invitation)
    expect((await invited.get(invitation)).text).toContain('Accept invitation')
    expect((await invited.post(invitation)).status).toBe(303)
    expect((await invited.get('/operator/people')).status).toBe(200)
    expect((await attacker.get('/operator/people')).location).toContain('/sign-in')
    expect((await attacker.get('/account')).location).toContain('/sign-in')
  })
})

describe('changing an address', () => {
  const mailsTo = async (address: string) =>
    ((await here.inbox()).body.messages as Mail[]).filter(({ to }) => to === address)

  test.each([
    ['sender', 'en', 'Your address for Herald was changed'],
    ['author', 'fr', 'Votre adresse pour Herald a été changée'],
  ] as const)(
    'of a %s signs out all other browsers, ends open links and tells the old address (%s)',
    async (who, language, subject) => {
      const { id, email_address: old } = here.planted.people[who]
      await here.parts.db.sql`update people set language = ${language} where id = ${id}`
      const to = `${who}.new@eastmere.example`
      const [own, other] = [await signedIn(who), await signedIn(who)]
      const thief = browserAt(here.address)
      await thief.post('/sign-in', { email: old })
      const oldLink = await linkIn(here, old, LINK)
      await own.post('/account/address', { address: to })
      const move = await linkIn(here, to, MOVE)
      // Only the person, only in the browser that asked.
      for (const someone of [other, await signedIn('viewer')]) expect((await someone.get(move)).status).toBe(410)
      expect((await own.get(move)).status).toBe(200)
      const changed = await own.post('/account/address/change', { move: move.split('=')[1] ?? '' })
      expect(changed.location).toContain('done=address-changed')
      expect((await own.get('/account')).text).toContain(to)
      expect((await other.get('/account')).location).toContain('/sign-in')
      expect((await thief.post(oldLink)).status).toBe(410)
      await expect.poll(async () => (await mailsTo(old)).map(mail => mail.subject)).toContain(subject)
      expect((await mailsTo(old)).find(mail => mail.subject === subject)?.text).toContain(to)
      expect((await mailsTo(to)).map(mail => mail.subject)).not.toContain(subject)
    },
  )

  test('needs a sign-in of the last ten minutes, also to open the link and to confirm it', async () => {
    const own = await signedIn('manager')
    const { email_address: old } = here.planted.people.manager
    const to = 'manager.new@eastmere.example'
    await own.post('/account/address', { address: to })
    const move = await linkIn(here, to, MOVE)
    here.moveClock(11 * 60_000)
    expect((await own.get(move)).location).toContain('/sign-in/confirm?return=')
    expect((await own.post('/account/address/change', { move: move.split('=')[1] ?? '' })).status).toBe(403)
    // Confirmed by a link, which starts another session in the same browser, it works.
    await own.post('/sign-in/confirm', { return: move.replace(CONSOLE, '') })
    expect((await own.post(await linkIn(here, old, LINK))).location).toBe(move)
    expect((await own.get(move)).status).toBe(200)
    expect((await own.post('/account/address/change', { move: move.split('=')[1] ?? '' })).location).toContain('done=')
  })
})

describe('HERALD_LOCAL_SIGN_IN=off', () => {
  let off: ConsolePlace
  let provider: Awaited<ReturnType<typeof oidcProvider>>
  beforeAll(async () => {
    // The port is known only after the start, so the provider accepts a path on this one.
    const port = 30_000 + (process.pid % 10_000)
    provider = await oidcProvider({
      redirectUris: [`http://127.0.0.1:${port}${CONSOLE}/sign-in/single-sign-on/return`],
    })
    off = await place(
      {
        HERALD_PORT: String(port),
        HERALD_OIDC_ISSUER: provider.issuer,
        HERALD_OIDC_CLIENT_ID: CLIENT.id,
        HERALD_OIDC_CLIENT_SECRET: CLIENT.secret,
        HERALD_LOCAL_SIGN_IN: 'off',
      },
      { engine: true },
    )
  }, 120_000)

  /** To the provider and back; where the console leads afterwards. */
  const singleSignOn = async (browser: Browser, path: string, sub: string, email: string) => {
    provider.is({ sub, email, email_verified: true, name: `Name of ${sub}` })
    const returned = await provider.walk((await browser.get(path)).location)
    return browser.get(returned.pathname + returned.search)
  }
  const signOnPath = (text: string) =>
    (/href="([^"]*\/sign-in\/single-sign-on[^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')

  test('an invitation is accepted after single sign-on, by its address, and never without it', async () => {
    const manager = browserAt(off.address, (await off.signIn('manager')).token)
    const team = `/s/${off.planted.service.id}/team`
    const address = 'nia@eastmere.example'
    expect((await manager.post(`${team}/invite`, { address, role: 'author' })).status).toBe(303)
    const invitation = await linkIn(off, address, INVITATION)

    const nia = browserAt(off.address)
    const page = await nia.get(invitation)
    expect(page.text).toContain('Sign in with single sign-on first.')
    expect(page.text).not.toContain('name="name"')
    const before = await off.changes()
    expect((await nia.post(invitation, { name: 'Nia' })).status).toBe(403)
    expect(nia.cookies.has(SESSION_COOKIE)).toBe(false)
    expect(await off.changes()).toEqual(before)

    // Someone else who got the link signs in and is not let in by it.
    await addOperator(off.parts, OPERATOR, { email_address: 'other@eastmere.example' })
    const other = browserAt(off.address)
    expect(await singleSignOn(other, signOnPath(page.text), 'other', 'other@eastmere.example')).toMatchObject({
      location: invitation,
    })
    expect((await other.get(invitation)).text).toContain('You are signed in as')
    expect((await other.post(invitation)).status).toBe(403)

    expect(await singleSignOn(nia, signOnPath(page.text), 'nia', address)).toMatchObject({ location: invitation })
    expect((await nia.get(`/s/${off.planted.service.id}`)).status).toBe(404) // no role yet
    expect((await nia.post(invitation)).location).toBe(`${CONSOLE}/s/${off.planted.service.id}`)
    expect((await nia.get(team)).status).toBe(200)
    const [member] = await off.parts.db.sql<{ role: string; name: string }>`
      select role, name from users where service_id = ${off.planted.service.id as Id} and email_address = ${address}`
    expect(member).toEqual({ role: 'author', name: 'Name of nia' })
  })

  test('single sign-on counts as a recent sign-in only if the provider proved it recently', async () => {
    await addOperator(off.parts, OPERATOR, { email_address: 'kai@eastmere.example' })
    const kai = browserAt(off.address)
    // The provider does not say when it has seen them; it may have been a week ago.
    await singleSignOn(kai, '/sign-in/single-sign-on', 'kai', 'kai@eastmere.example')
    expect((await kai.get('/account')).status).toBe(200)
    expect((await kai.get('/account/address?move=x')).location).toContain('/sign-in/confirm?return=')
    await singleSignOn(kai, '/sign-in/confirm/single-sign-on', 'kai', 'kai@eastmere.example')
    expect((await kai.get('/account/address?move=x')).status).toBe(410)
  })

  test('an account that was used before is connected in a session that an operator gives', async () => {
    const { email_address } = off.planted.people.viewer
    await off.signIn('viewer')
    const viewer = browserAt(off.address)
    const refused = await singleSignOn(viewer, '/sign-in/single-sign-on', 'tomas', email_address)
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('Ask an operator for a sign-in link')
    expect(viewer.cookies.has(SESSION_COOKIE)).toBe(false)
    await viewer.post(`/sign-in/link/${off.planted.link}`)
    const account = await viewer.get('/account')
    expect(account.text).toContain('not connected yet')
    const connect = /href="([^"]*\/sign-in\/confirm\/single-sign-on[^"]*)"/.exec(account.text)?.[1] ?? ''
    expect((await singleSignOn(viewer, connect, 'tomas', email_address)).location).toBe(`${CONSOLE}/account`)
    expect((await viewer.get('/account')).text).not.toContain('not connected yet')
    const again = browserAt(off.address)
    expect((await singleSignOn(again, '/sign-in/single-sign-on', 'tomas', email_address)).status).toBe(303)
    expect((await again.get('/account')).status).toBe(200)
  })
})
