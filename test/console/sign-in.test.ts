// Signing in as a person does it, in a real browser: by a link from the captured inbox, by a passkey, by single sign-on.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromMicros } from '../../src/core/clock.ts'
import { inboxToken } from '../../src/inbox/link.ts'
import { printLink } from '../../src/people/links.ts'
import { formTokenOf, newToken } from '../../src/people/token.ts'
import { CLIENT, oidcProvider } from '../support/oidc.ts'
import { call, OPERATOR, world } from '../support/world.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { BROWSER_COOKIE, CONSOLE, request, SESSION_COOKIE } from './support/session.ts'

warnWithoutBrowser('signing in')

let here: ConsolePlace
let provider: Awaited<ReturnType<typeof oidcProvider>>
let browser: Browser
/** As a person on the machine types it: passkeys need a name. */
let address: string

beforeAll(async () => {
  if (!BROWSER) return
  // The port is known only after the start, so the provider accepts a path on this one.
  const port = 20_000 + (process.pid % 10_000)
  address = `http://localhost:${port}`
  provider = await oidcProvider({ redirectUris: [`${address}${CONSOLE}/sign-in/single-sign-on/return`] })
  here = await place(
    {
      HERALD_PORT: String(port),
      HERALD_OIDC_ISSUER: provider.issuer,
      HERALD_OIDC_CLIENT_ID: CLIENT.id,
      HERALD_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
    { engine: true },
  )
  browser = await launch()
}, 60_000)

afterAll(async () => {
  await browser?.close()
})

/** A browser of its own. */
const visitor = (options: Parameters<typeof openContext>[2] = {}) => openContext(browser, address, options)

/** The newest link in the captured inbox that was sent to this address. */
async function linkTo(email: string, besides: readonly string[] = []): Promise<string> {
  for (;;) {
    const reply = await call(here.address, 'GET', `/inbox?token=${inboxToken(here.parts)}`)
    const mails = reply.body.messages as { to: string; subject: string; text: string }[]
    const links = mails
      .filter(({ to, subject }) => to === email && subject === 'Sign in to Herald')
      .map(({ text }) => /http\S+\/sign-in\/link\/\S+/.exec(text)?.[0] ?? '')
    const fresh = links.find(link => !besides.includes(link))
    if (fresh) return fresh
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

async function askForLink(page: Page, email: string, query = ''): Promise<void> {
  await page.goto(`${address}${CONSOLE}/sign-in${query}`)
  await page.getByLabel('Work e-mail address').fill(email)
  await page.getByRole('button', { name: 'E-mail me a link' }).click()
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
}

async function withAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { session, authenticatorId }
}

const pathOf = (page: Page) => page.url().slice((address + CONSOLE).length)
const makeOld = (email: string) => here.parts.db.sql`
  update sessions set signed_in_at = ${fromMicros(here.parts.clock.micros() - 11 * 60_000_000)}
  where person_id = (select id from people where email_address = ${email})`

describe.runIf(BROWSER)('by a link', () => {
  test('from the inbox to the page that was asked for; opening the link spends nothing', async () => {
    const { email_address, name } = here.planted.people.manager
    const context = await visitor()
    const page = await context.newPage()
    await page.goto(`${address}${CONSOLE}/account`)
    expect(pathOf(page)).toBe('/sign-in?return=%2Faccount')
    await askForLink(page, email_address, '?return=%2Faccount')
    expect(pathOf(page)).toBe('/sign-in/sent')
    const link = await linkTo(email_address)

    // What checks mails opens links, with GET and HEAD, and with cookies of nobody.
    for (const method of ['GET', 'HEAD', 'GET']) await fetch(link, { method })
    const before = (await context.cookies()).find(one => one.name === SESSION_COOKIE)
    await page.goto(link)
    await page.goto(link)
    expect(await page.textContent('main')).toContain(name)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'My account' }).waitFor()
    expect(pathOf(page)).toBe('/account')
    const after = (await context.cookies()).find(one => one.name === SESSION_COOKIE)
    expect(before).toBeUndefined()
    expect(after).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
    expect(await page.inputValue('#time_zone_name')).not.toBe('')

    await page.goto(link)
    await page.getByRole('heading', { name: 'This link was used' }).waitFor()
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('another browser cannot use it, is shown no address, and does not spend it', async () => {
    const { email_address, name } = here.planted.people.sender
    const mine = await visitor()
    const page = await mine.newPage()
    await askForLink(page, email_address)
    const link = await linkTo(email_address)

    const thief = await visitor()
    const other = await thief.newPage()
    const answer = await other.goto(link)
    expect(answer?.status()).toBe(403)
    expect(await other.content()).not.toContain(email_address)
    expect(await other.content()).not.toContain(name)
    expect(await other.getByRole('button').count()).toBe(0)
    // Also not by a request that the page does not offer.
    await other.goto(`${address}${CONSOLE}/sign-in`)
    const token = await other.inputValue('input[name=form_token]')
    const posted = await other.request.post(link, { form: { form_token: token }, headers: { origin: address } })
    expect(posted.status()).toBe(403)
    expect((await thief.cookies()).some(one => one.name === SESSION_COOKIE)).toBe(false)

    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${address}${CONSOLE}*`)
    expect((await mine.cookies()).some(one => one.name === SESSION_COOKIE)).toBe(true)
    await mine.close()
    await thief.close()
  })

  test('works without script', async () => {
    const { email_address } = here.planted.people.author
    const context = await visitor({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${address}${CONSOLE}/sign-in`)
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['E-mail me a link'])
    await askForLink(page, email_address, '?return=%2Faccount')
    await page.goto(await linkTo(email_address))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'My account' }).waitFor()
    await context.close()
  })

  test('no answer tells whether an address is known', async () => {
    const context = await visitor()
    const page = await context.newPage()
    const shown: string[] = []
    for (const email of [here.planted.people.viewer.email_address, 'nobody@eastmere.example']) {
      await askForLink(page, email)
      shown.push(pathOf(page), (await page.textContent('main')) ?? '')
    }
    expect(shown.slice(0, 2)).toEqual(shown.slice(2))
    await page.goto(`${address}${CONSOLE}/sign-in`)
    await page.getByLabel('Work e-mail address').fill('nobody')
    await page.getByRole('button', { name: 'E-mail me a link' }).click()
    await page.getByText('Enter your whole e-mail address').waitFor()
    expect(await page.title()).toBe('Error: Sign in – Herald')
    expect(await page.inputValue('#email')).toBe('nobody')
    await context.close()
  })

  test('a session that somebody placed in the browser is not the one that is signed in (fixation)', async () => {
    const { email_address } = here.planted.people.developer
    const planted = await here.signIn('stranger')
    const context = await visitor({ cookie: planted.cookie })
    const page = await context.newPage()
    await page.goto(`${address}${CONSOLE}/account`)
    expect(pathOf(page)).toBe('/account')
    await context.clearCookies({ name: SESSION_COOKIE })
    await askForLink(page, email_address)
    const mail = await linkTo(email_address)
    await context.addCookies([{ ...planted.cookie, url: address, httpOnly: true, sameSite: 'Lax' }])
    await page.goto(mail)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${address}${CONSOLE}*`)
    const token = (await context.cookies()).find(one => one.name === SESSION_COOKIE)?.value
    expect(token).not.toBe(planted.token)
    // Who holds the placed token is signed out.
    const old = await here.request(planted, '/account')
    expect(old.status).toBe(303)
    await context.close()
  })

  test('leads only to pages of the console', async () => {
    const elsewhere = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/%5cevil.example',
      '/%2f/evil.example',
      '\t//evil.example',
      'evil.example',
    ]
    for (const to of elsewhere) {
      const who = await here.signIn('viewer')
      const signedIn = await here.request(who, `/sign-in?return=${encodeURIComponent(to)}`)
      expect(signedIn.location).toMatch(/^\/console(\/(?![/\\]).*)?$/)
      const page = await here.request(null, `/sign-in?return=${encodeURIComponent(to)}`)
      const field = /name="return" value="([^"]*)"/.exec(page.text)?.[1]
      expect(field).toMatch(/^\/(?![/\\])/)
      expect(new URL(`${CONSOLE}${field}`, address).origin).toBe(address)
    }
  })
})

describe.runIf(BROWSER)('by a passkey', () => {
  test('a passkey is added, signs in without an address, confirms, is renamed and removed', async () => {
    const who = here.planted.people.manager
    const { cookie } = await here.signIn('manager')
    const context = await visitor({ cookie })
    const page = await context.newPage()
    const { session, authenticatorId } = await withAuthenticator(page)
    // The page does not show when its offer has begun.
    await page.addInitScript(() => {
      const get = navigator.credentials.get.bind(navigator.credentials)
      navigator.credentials.get = asked => {
        document.documentElement.dataset.asked = asked?.mediation ?? 'now'
        return get(asked)
      }
    })
    await page.goto(`${address}${CONSOLE}/account`)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor() // the page before has a field of this name, too
    await page.getByLabel('Name').fill('Work laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey is added').waitFor()
    expect(await page.textContent('main')).toContain('Work laptop')
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }])

    // The browser leaves out a device that has one already.
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor()
    expect(await page.getByText('No passkey was made').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('No passkey was made').waitFor()
    await page.goto(`${address}${CONSOLE}/account`)

    // While nobody touches the device, the offer in the field of the address waits.
    const touch = (enabled: boolean) =>
      session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
    const signOut = async () => {
      await touch(false)
      await page.goto(`${address}${CONSOLE}/account`)
      await page.locator('main').getByRole('button', { name: 'Sign out', exact: true }).first().click()
      await page.getByText('You are signed out.').waitFor()
      expect((await context.cookies()).some(one => one.name === SESSION_COOKIE)).toBe(false)
    }
    await signOut()
    await touch(true)
    // The offer is taken at once and leads on, perhaps before the page is loaded.
    await page.goto(`${address}${CONSOLE}/sign-in?return=%2Faccount`, { waitUntil: 'commit' }).catch(error => {
      if (!/interrupted by another navigation|ERR_ABORTED/.test(String(error))) throw error
    })
    await page.getByRole('heading', { name: 'My account' }).waitFor()

    // The button ends the offer and asks for itself.
    await signOut()
    await page.goto(`${address}${CONSOLE}/sign-in?return=%2Faccount`)
    await page.locator('html[data-asked=conditional]').waitFor()
    await touch(true)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'My account' }).waitFor()
    expect(await page.textContent('main')).toContain(who.name)
    expect(await page.textContent('main')).toContain('by passkey')

    // A sensitive act, long after the last sign-in.
    await makeOld(who.email_address)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    const before = (await context.cookies()).find(one => one.name === SESSION_COOKIE)?.value
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor()
    const after = (await context.cookies()).find(one => one.name === SESSION_COOKIE)?.value
    expect(after).not.toBe(before)

    await page.goto(`${address}${CONSOLE}/account`)
    await page.getByRole('button', { name: 'Rename passkey Work laptop' }).click()
    await page.getByLabel('Name', { exact: true }).last().fill('Büro 🖥️')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByText('The passkey has its new name').waitFor()
    await page.getByRole('button', { name: 'Remove passkey Büro 🖥️' }).click()
    await page.getByRole('button', { name: 'Remove the passkey' }).click()
    await page.getByText('The passkey is removed here').waitFor()

    expect(context.complaints()).toEqual([])
    await context.close()
  }, 60_000)

  test('a POST of a sensitive act with an old sign-in changes nothing and keeps what was entered', async () => {
    const who = await here.signIn('author')
    await makeOld(here.planted.people.author.email_address)
    const answer = await here.request(who, '/account/address', { form: { address: 'new@eastmere.example' } })
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('Confirm that it is you')
    expect(answer.text).toContain('value="new@eastmere.example"')
  })
})

describe.runIf(BROWSER)('by single sign-on', () => {
  test('to the provider, connected, and back; confirming asks it again; another account is refused', async () => {
    const { email_address, name } = here.planted.people.stranger
    const account = { sub: 'kit', email: email_address, email_verified: true, name }
    provider.is(account)
    const context = await visitor()
    const page = await context.newPage()
    // Someone who has signed in with a link before does so once more, and connects the two.
    await here.signIn('stranger')
    await page.goto(`${address}${CONSOLE}/sign-in?return=%2Faccount`)
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
    await page.getByRole('heading', { name: 'Connect your account first' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'Sign in with a link' }).click()
    await page.getByLabel('Work e-mail address').fill(email_address)
    await page.getByRole('button', { name: 'E-mail me a link' }).click()
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
    await page.goto(await linkTo(email_address))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Connect Single sign-on' }).click()
    await page.getByText('with your organisation').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()

    await page.goto(`${address}${CONSOLE}/sign-in?return=%2Faccount`)
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
    await page.getByRole('heading', { name: 'My account' }).waitFor()
    expect(await page.textContent('main')).toContain('by single sign-on')

    await makeOld(email_address)
    await page.getByRole('link', { name: 'Add a passkey' }).click()
    await page.getByRole('link', { name: 'Confirm with single sign-on' }).click()
    await page.getByRole('heading', { name: 'Add a passkey' }).waitFor()

    await makeOld(email_address)
    provider.is({ sub: 'sami', email: here.planted.people.author.email_address, email_verified: true })
    await page.goto(`${address}${CONSOLE}/sign-in/confirm`)
    await page.getByRole('link', { name: 'Confirm with single sign-on' }).click()
    await page.getByRole('heading', { name: 'That was somebody else' }).waitFor()
    await context.close()
  })

  test('what fails is a page with a sentence', async () => {
    const context = await visitor()
    const page = await context.newPage()
    provider.is(null)
    await page.goto(`${address}${CONSOLE}/sign-in/single-sign-on`)
    await page.getByRole('heading', { name: 'Single sign-on refused' }).waitFor()
    provider.is({ sub: 'x', email: here.planted.people.manager.email_address, email_verified: false })
    await page.goto(`${address}${CONSOLE}/sign-in/single-sign-on`)
    await page.getByRole('heading', { name: 'Your address is not confirmed' }).waitFor()
    for (const query of ['', '?code=x&state=y', '?error=server_error', '?state=%00&iss=%ff']) {
      const answer = await page.goto(`${address}${CONSOLE}/sign-in/single-sign-on/return${query}`)
      expect(answer?.status()).toBe(400)
    }
    await context.close()
  })
})

describe.runIf(BROWSER)('the account', () => {
  test('name, zone, look and shortcuts are saved; wrong values stay in the form', async () => {
    const who = await here.signIn('developer')
    const context = await visitor({ cookie: who.cookie })
    const page = await context.newPage()
    await page.goto(`${address}${CONSOLE}/account`)
    await page.getByLabel('Name', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.error-text', { hasText: 'Enter your name.' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('عائشة Brandt 🌿')
    await page.getByLabel('Time zone').selectOption('Pacific/Auckland')
    await page.getByLabel('Dark').check()
    await page.getByLabel('Single-letter keyboard shortcuts').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your account is saved.').waitFor()
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
    expect(await page.getAttribute('body', 'data-shortcuts')).toBe('off')
    expect(await page.inputValue('#name')).toBe('عائشة Brandt 🌿')
    const [row] = await here.parts.db.sql<{ name: string }>`
      select name from users where email_address = ${here.planted.people.developer.email_address} limit 1`
    expect(row?.name).toBe('عائشة Brandt 🌿')
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('other sessions are listed and ended, one and all', async () => {
    const [one, two, three] = [await here.signIn('sender'), await here.signIn('sender'), await here.signIn('sender')]
    const context = await visitor({ cookie: one.cookie })
    const page = await context.newPage()
    await page.goto(`${address}${CONSOLE}/account`)
    await page
      .getByRole('button', { name: /^Sign out Chrom/ })
      .first()
      .click()
    await page.getByText('That browser is signed out.').waitFor()
    const left = [await here.request(two, '/account'), await here.request(three, '/account')].map(page => page.status)
    expect(left.sort()).toEqual([200, 303])
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByText('Every other browser is signed out.').waitFor()
    for (const who of [two, three]) expect((await here.request(who, '/account')).status).toBe(303)
    expect((await here.request(one, '/account')).status).toBe(200)
    await context.close()
  })

  test('nobody ends sessions or touches passkeys of others', async () => {
    const mine = await here.signIn('stranger')
    const theirs = await here.signIn('manager')
    const sessions = await here.parts.db.sql<{ id: string }>`
      select id from sessions where person_id = ${here.planted.people.manager.id} order by id desc limit 1`
    const answer = await here.request(mine, `/account/sessions/${sessions[0]?.id}/end`, { form: {} })
    expect(answer.status).toBe(303)
    expect((await here.request(theirs, '/account')).status).toBe(200)
    for (const id of ['x', sessions[0]?.id])
      for (const path of [`/account/passkeys/${id}`, `/account/passkeys/${id}/remove`, `/account/sessions/${id}/end`])
        expect((await here.request(mine, path, { form: { name: 'x' } })).status).toBe(303)
  })

  test('the address is changed by a link to the new one, once', async () => {
    const who = await here.signIn('newcomer')
    // The link belongs to the browser that asked for it.
    const headers = { cookie: `${SESSION_COOKIE}=${who.token}; ${BROWSER_COOKIE}=${newToken()}` }
    const asked = await here.request(who, '/account/address', {
      ...{ headers, form: { address: 'lea.new@eastmere.example' } },
    })
    expect(asked.location).toBe(`${CONSOLE}/account?done=address-asked`)
    const taken = here.planted.people.manager.email_address
    const other = await here.request(who, '/account/address', { form: { address: taken } })
    expect(other.location).toBe(asked.location) // the same answer
    let path: string | undefined
    while (!path) {
      const { body } = await call(here.address, 'GET', `/inbox?token=${inboxToken(here.parts)}`)
      const mails = body.messages as { to: string; subject: string; text: string }[]
      expect(mails.filter(mail => mail.to === taken && mail.subject.includes('new address'))).toEqual([])
      path = /\/account\/address\?move=\S+/.exec(
        mails.find(mail => mail.to === 'lea.new@eastmere.example')?.text ?? '',
      )?.[0]
      if (!path) await new Promise(resolve => setTimeout(resolve, 100))
    }
    const move = path.split('=')[1] ?? ''
    const page = await here.request(who, path, { headers })
    expect(page.text).toContain('lea.new@eastmere.example')
    expect((await here.request(who, path)).status).toBe(410)
    expect((await here.request(await here.signIn('stranger'), path)).status).toBe(410)
    const changed = await here.request(who, '/account/address/change', { headers, form: { move } })
    expect(changed.location).toBe(`${CONSOLE}/account?done=address-changed`)
    expect((await here.request(who, '/account')).text).toContain('lea.new@eastmere.example')
    for (const wrong of [move, '', 'x', `${move.slice(0, -2)}AA`])
      expect((await here.request(who, '/account/address/change', { headers, form: { move: wrong } })).status).toBe(410)
  })
})

// Every row of the table of contents is looked at by pages.test.ts; these are states of the pages of signing in.
test.runIf(BROWSER)(
  'states of signing in: axe, phone width, no complaint of the browser',
  async () => {
    const paths = ['/sign-in/link/x', '/sign-in/single-sign-on/return', '/sign-in?done=signed-out']
    for (const [colorScheme, width] of [
      ['light', 390],
      ['dark', 1280],
    ] as const) {
      const context = await visitor({ colorScheme, viewport: { width, height: 900 } })
      for (const path of paths) {
        const page = await context.newPage()
        await page.goto(`${address}${CONSOLE}${path}`)
        expect(await violationsOf(page), `${path} ${width} ${colorScheme}`).toEqual([])
        expect(await widerThanWindow(page), `${path} ${width}`).toEqual([])
        await page.close()
      }
      expect(context.complaints()).toEqual([])
      await context.close()
    }
  },
  60_000,
)

test.runIf(BROWSER)('HERALD_LOCAL_SIGN_IN=off leaves single sign-on, and links that an operator prints', async () => {
  const off = await world({
    HERALD_OIDC_ISSUER: provider.issuer,
    HERALD_OIDC_CLIENT_ID: CLIENT.id,
    HERALD_LOCAL_SIGN_IN: 'off',
  })
  await off.service()
  const ask = (path: string, options?: Parameters<typeof request>[3]) => request(off.address, null, path, options)
  const browser = newToken()
  const headers = { cookie: `${BROWSER_COOKIE}=${browser}` }
  const form_token = formTokenOf(browser)
  const page = await ask('/sign-in')
  expect(page.text).toContain('Continue with single sign-on')
  expect(page.text).not.toMatch(/name="email"|data-passkey/)
  const post = (path: string, form: Record<string, string>) => ask(path, { headers, form: { form_token, ...form } })
  expect((await post('/sign-in', { email: 'maria@example.org' })).status).toBe(403)
  expect((await post('/sign-in/passkey/options', {})).status).toBe(403)
  expect((await post('/sign-in/passkey', { challenge: 'x', answer: 'x' })).status).toBe(403)
  const [mails] = await off.parts.db.sql<{ n: number }>`select count(*)::integer as n from mails`
  expect(mails?.n).toBe(0)
  const { path } = await printLink(off.parts, OPERATOR, 'maria@example.org')
  const spent = await post(path, {})
  expect(spent.status).toBe(303)
  expect(spent.headers.getSetCookie().join()).toContain(`${SESSION_COOKIE}=`)
})

test('the browser cookie exists before anybody signs in', async () => {
  if (!BROWSER) return
  const answer = await fetch(`${here.address}${CONSOLE}/sign-in`)
  expect(answer.headers.getSetCookie().join()).toMatch(
    new RegExp(`^${BROWSER_COOKIE}=[\\w-]{43}; Path=/; .*HttpOnly; SameSite=Lax`),
  )
})
