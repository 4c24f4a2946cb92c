// Limits against strangers at sign-in (S-33, S-57, S-67): they must not lock out the person they protect. Every network is a value
// of X-Forwarded-For, from a proxy that is in the settings.
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MAIL_LANE } from '../../src/mails/mail.ts'
import { printLink } from '../../src/people/links.ts'
import { MOST_TRIES } from '../../src/people/tries.ts'
import { addUser } from '../../src/services/people.ts'
import { BROWSER_COOKIE, CONSOLE, KNOWN_COOKIE, request } from '../console/support/session.ts'
import { type Visitor, visitor as visitorOf } from '../console/support/visitor.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const unknown = () => `${randomUUID()}@example.org`

let here: World
let service: Awaited<ReturnType<World['service']>>
beforeAll(async () => {
  here = await world({ HERALD_TRUSTED_PROXIES: '127.0.0.1' }, { engine: true })
  service = await here.service()
})
beforeEach(async () => {
  await here.parts.db.sql`delete from sign_in_tries`
})

async function member(): Promise<string> {
  const email_address = unknown()
  await addUser(here.parts, OPERATOR, service.id, { name: 'Ada Park', email_address })
  return email_address
}

const visitor = (network: string) => visitorOf(here.address, network)

/** Signs in by a link of the machine. */
async function signedIn(email: string, network: string): Promise<Visitor> {
  const browser = visitor(network)
  const { path } = await printLink(here.parts, OPERATOR, email)
  await browser.open(path)
  expect((await browser.send(path, {})).status).toBe(303)
  expect((await browser.open('/account')).status).toBe(200)
  return browser
}

/** Signed in earlier, and not any more. */
async function knownBrowser(email: string, network: string): Promise<Visitor> {
  const browser = await signedIn(email, network)
  expect((await browser.send('/sign-out', {})).status).toBe(303)
  expect([...browser.cookies.keys()].sort()).toEqual([BROWSER_COOKIE, KNOWN_COOKIE].sort())
  return browser
}

const linksTo = async (email: string): Promise<string[]> =>
  (await here.inbox()).body.messages.flatMap(({ to, text }: { to: string; text: string }) =>
    to === email ? (/\/sign-in\/link\/\S+/.exec(text)?.[0] ?? []) : [],
  )

/** A mail that is sent later is sent now. */
const sendLater = () => here.parts.db.sql`
  update tickets set due_at = now() where lane = ${MAIL_LANE} and due_at > now() + interval '10 seconds'`

/** The newest link in the inbox besides `before` signs in in this browser. */
async function usesLink(browser: Visitor, email: string, before: readonly string[]): Promise<void> {
  const fresh = async () => (await linksTo(email)).filter(link => !before.includes(link))
  await expect.poll(async () => (await fresh()).length, { interval: 20, timeout: 10_000 }).toBe(1)
  const [link = ''] = await fresh()
  expect((await browser.open(link)).status).toBe(200)
  expect((await browser.send(link, {})).status).toBe(303)
  expect((await browser.open('/account')).status).toBe(200)
}

/** As many requests as an attacker likes, each from a browser of its own. */
async function attack(times: number, of: (at: number) => { network: string; email: string }): Promise<number[]> {
  const statuses: number[] = []
  const turns = Array.from({ length: times }, (_, at) => at)
  const one = async () => {
    for (let at = turns.shift(); at !== undefined; at = turns.shift()) {
      const { network, email } = of(at)
      const headers = { 'x-forwarded-for': network }
      statuses.push((await request(here.address, null, '/sign-in', { form: { email }, headers })).status)
    }
  }
  await Promise.all(Array.from({ length: 10 }, one))
  return statuses
}
const times = (statuses: readonly number[], status: number) => statuses.filter(one => one === status).length

const ATTACKER = '203.0.113.66'
const HOME = '198.51.100.7'

describe('five requests with a person’s address', () => {
  let victim: string
  const fiveRequests = async () => {
    const statuses = await attack(5, () => ({ network: ATTACKER, email: victim }))
    expect(times(statuses, 303)).toBe(5)
    await expect.poll(async () => (await linksTo(victim)).length, { interval: 20, timeout: 10_000 }).toBe(3)
    return linksTo(victim)
  }
  beforeEach(async () => {
    victim = await member()
  })

  test('do not delay the person on a known browser', async () => {
    const browser = await knownBrowser(victim, HOME)
    const before = await fiveRequests()
    expect((await browser.ask(victim)).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browser, victim, before)
  })

  test('do not lock out the person on a new browser: one mail, a little later, has a link that works there', async () => {
    const before = await fiveRequests()
    const browser = visitor(HOME)
    const answer = await browser.ask(victim)
    expect(answer.location).toBe(`${CONSOLE}/sign-in/sent?later=1`)
    expect((await browser.open('/sign-in/sent?later=1')).text).toContain('follows within 5 minutes')
    await sendLater()
    await usesLink(browser, victim, before)
  })

  test('do not keep a person who is signed in from confirming that it is them, nor from a new address', async () => {
    const browser = await signedIn(victim, HOME)
    const before = await fiveRequests()
    const confirming = await browser.send('/sign-in/confirm', { return: '/account' })
    expect(confirming.location).toBe(`${CONSOLE}/sign-in/sent?return=%2Faccount`)
    await usesLink(browser, victim, before)
    const asked = await browser.send('/account/address', { address: unknown() })
    expect(asked.location).toBe(`${CONSOLE}/account?done=address-asked`)
  })

  test('are answered slowly, for an unknown address as for a known one', async () => {
    const stranger = unknown()
    for (const email of [victim, stranger])
      await attack(MOST_TRIES.address, at => ({ network: `203.0.113.${at}`, email }))
    const slow = []
    for (const email of [victim, stranger]) {
      const since = performance.now()
      const { status, location } = await visitor(HOME).ask(email)
      slow.push({ status, location, isSlow: performance.now() - since >= 1_000 })
    }
    expect(slow).toEqual(Array(2).fill({ status: 303, location: `${CONSOLE}/sign-in/sent?later=1`, isSlow: true }))
  })
})

describe('600 requests with any addresses', () => {
  test('from one network lock out nobody in another one', async () => {
    const [known, present, fresh] = [await member(), await member(), await member()]
    const browsers = { known: await knownBrowser(known, HOME), present: await signedIn(present, HOME) }
    const statuses = await attack(600, () => ({ network: ATTACKER, email: unknown() }))
    expect([times(statuses, 303), times(statuses, 429)]).toEqual([MOST_TRIES.network, 600 - MOST_TRIES.network])

    expect((await visitor(ATTACKER).ask(fresh)).status).toBe(429)
    const browser = visitor(HOME)
    expect((await browser.ask(fresh)).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browser, fresh, [])
    expect((await browsers.known.ask(known)).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browsers.known, known, [])
    expect((await browsers.present.send('/sign-in/confirm', { return: '/' })).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browsers.present, present, [])
  }, 120_000)

  test('from many networks lock out neither a known browser nor a person who is signed in', async () => {
    const [known, present, colleague] = [await member(), await member(), await member()]
    const browsers = { known: await knownBrowser(known, HOME), present: await signedIn(present, HOME) }
    const statuses = await attack(620, at => ({ network: `2001:db8:0:${at % 40}::1`, email: unknown() }))
    expect([times(statuses, 303), times(statuses, 429)]).toEqual([MOST_TRIES.installation, 20])
    expect((await visitor(HOME).ask(known)).status).toBe(429)

    expect((await browsers.known.ask(known)).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browsers.known, known, [])
    expect((await browsers.present.send('/sign-in/confirm', { return: '/' })).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browsers.present, present, [])
    // Also for someone else at the same desk.
    await browsers.known.send('/sign-out', {})
    expect((await browsers.known.ask(colleague)).location).toBe(`${CONSOLE}/sign-in/sent`)
    await usesLink(browsers.known, colleague, [])
  }, 120_000)
})

describe('the cookie of a known browser', () => {
  const full = async () => {
    await visitor(ATTACKER).ask(unknown())
    await here.parts.db.sql`update sign_in_tries set tries = ${MOST_TRIES.installation + 1}`
  }

  test('signs nobody in, and is worth nothing in another browser, changed, or as another token', async () => {
    const email = await member()
    const browser = await knownBrowser(email, HOME)
    expect((await browser.open('/account')).location).toBe(`${CONSOLE}/sign-in?return=%2Faccount`)
    const token = browser.cookies.get(KNOWN_COOKIE) ?? ''
    await full()
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
    for (const false_ of [token, changed, '', 'x', 'A'.repeat(200), browser.cookies.get(BROWSER_COOKIE) ?? '']) {
      const other = visitor(HOME)
      await other.open('/sign-in')
      other.cookies.set(KNOWN_COOKIE, false_)
      expect((await other.ask(email)).status, false_).toBe(429)
    }
    expect((await browser.ask(email)).status).toBe(303)
  })

  test('has an allowance that ends', async () => {
    const email = await member()
    const browser = await knownBrowser(email, HOME)
    const statuses = []
    for (let at = 0; at <= MOST_TRIES.own; at++) statuses.push((await browser.ask(unknown())).status)
    expect(statuses).toEqual([...Array(MOST_TRIES.own).fill(303), 429])
  })

  test('is over after 180 days', async () => {
    const email = await member()
    const browser = await knownBrowser(email, HOME)
    await full()
    here.moveClock(180 * 86_400_000 - 60_000)
    await full()
    expect((await browser.ask(email)).status).toBe(303)
    here.moveClock(120_000)
    await full()
    expect((await browser.ask(email)).status).toBe(429)
  })
})

describe('behind a proxy on this machine that is not in the settings', () => {
  test.each(['127.0.0.1', '[::1]'])('on %s people do not share the limit of a network', async host => {
    const { port } = await world({ HERALD_HOST: host.replaceAll(/[[\]]/g, '') })
    const statuses = new Set<number>()
    for (let at = 0; at <= MOST_TRIES.network; at++)
      statuses.add((await request(`http://${host}:${port}`, null, '/sign-in', { form: { email: unknown() } })).status)
    expect([...statuses]).toEqual([303])
  })
})
