// What operators do on the system page, in a real browser: hold and release, a test by a provider, numbers that renew themselves, and
// the filters of the audit log.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('the system page')

describe.skipIf(!BROWSER)('in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  const contexts: (BrowserContext & { complaints(): string[] })[] = []

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(path: string, options: Parameters<typeof openContext>[2] = {}): Promise<Page> {
    const { cookie } = await here.signIn('operator')
    const context = await openContext(browser, here.address, { ...options, cookie })
    contexts.push(context)
    const page = await context.newPage()
    await page.goto(`${here.address}${CONSOLE}${path}`)
    return page
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const link = (page: Page, name: string) => page.locator('main').getByRole('link', { name, exact: true })
  const done = (page: Page) => page.locator('.callout[role=status]').first().innerText()
  const complaints = () => contexts.flatMap(context => context.complaints())

  test.each([true, false])(
    'sending is held after a question and released after another; script: %s',
    async script => {
      const page = await open('/operator/system', { javaScriptEnabled: script })
      await link(page, 'Hold all sending').click()
      await page.getByRole('heading', { level: 1, name: 'Hold all sending?' }).waitFor()
      await link(page, 'Keep sending').click()
      await link(page, 'Hold all sending').click()
      await button(page, 'Hold all sending').click()
      expect(await done(page)).toContain('Sending is held.')
      await page
        .getByRole('row', { name: /^email-high/ })
        .getByText('Held')
        .waitFor()
      await link(page, 'Release all sending').click()
      await page.getByText('What is sent cannot be recalled.').waitFor()
      if (script) expect(await violationsOf(page)).toEqual([])
      await button(page, 'Release all sending').click()
      expect(await done(page)).toContain('Sending has resumed.')
      expect(complaints()).toEqual([])
    },
    60_000,
  )

  test('the audit log is filtered by kind, and the filter stays in the form', async () => {
    const page = await open('/operator/audit')
    await page
      .getByRole('row', { name: /Sending held/ })
      .first()
      .waitFor()
    const kind = page.locator('select[name=what]')
    await kind.selectOption('templates')
    await button(page, 'Filter').click()
    await page.waitForURL(/what=templates/)
    await page
      .getByRole('row', { name: /Template made/ })
      .first()
      .waitFor()
    expect(await page.getByRole('row', { name: /Sending held/ }).count()).toBe(0)
    expect(await kind.inputValue()).toBe('templates')
    await kind.selectOption('installation')
    await page.locator('select[name=who]').selectOption({ label: here.planted.people.operator.name })
    await button(page, 'Filter').click()
    await page.waitForURL(/what=installation/)
    await page
      .getByRole('row', { name: /Sending released/ })
      .first()
      .waitFor()
    expect(await page.getByRole('row', { name: /Template made/ }).count()).toBe(0)
    const first = page.getByRole('row', { name: /Sending/ }).first()
    expect(await first.innerText()).toContain(here.planted.people.operator.name)
    expect(complaints()).toEqual([])
  }, 60_000)

  test.each([true, false])(
    'a test by a provider that captures is in the inbox; script: %s',
    async script => {
      const page = await open('/operator/system', { javaScriptEnabled: script })
      // The first heartbeat of the engine.
      await expect
        .poll(
          async () => {
            await page.reload()
            return page
              .getByRole('row', { name: /^capture/ })
              .first()
              .innerText()
          },
          { timeout: 30_000 },
        )
        .toContain('Captured, not sent')
      await page.getByRole('link', { name: 'Test capture' }).first().click()
      await page.getByLabel('E-mail address').fill('no address')
      await button(page, 'Send the test message').click()
      await page.getByRole('alert').waitFor()
      expect(await page.title()).toMatch(/^Error: /)
      expect(await page.inputValue('[name=recipient]')).toBe('no address')
      await page.getByLabel('E-mail address').fill('duty@eastmere.example')
      await button(page, 'Send the test message').click()
      await page.getByRole('heading', { name: 'Captured' }).waitFor()
      expect(page.url()).not.toContain('duty')
      await link(page, 'captured inbox').click()
      await page.getByText('Test of the provider capture').first().waitFor()
      expect(complaints()).toEqual([])
    },
    60_000,
  )

  test('the numbers renew themselves: rows come and go, and focus stays', async () => {
    const { sql } = here.parts.db
    const [gone, come] = [here.parts.ids.next(), here.parts.ids.next()]
    // Seen in the future: it does not become late however slow this machine is.
    const add = (id: string, name: string) => sql`
      insert into processes (id, name, version, runs, started_at, seen_at, in_flight, providers)
      values (${id}, ${name}, '9.9.9', '{engine}', now(), now() + interval '1 hour', '{"email-low": 12}', '[]')`
    await add(gone, 'gone:1')
    const page = await open('/operator/system')
    const test = page.getByRole('link', { name: 'Test capture' }).first()
    await test.focus()
    expect(await page.getByText('gone:1').count()).toBe(1)
    await sql`delete from processes where id = ${gone}`
    await add(come, 'come:1')
    await page.getByText('come:1').waitFor()
    expect(await page.getByText('gone:1').count()).toBe(0)
    const lane = page.getByRole('row', { name: /^email-low/ })
    expect(await lane.getByRole('cell').last().innerText()).toBe('12')
    expect(await test.evaluate(element => element === element.ownerDocument.activeElement)).toBe(true)
    await sql`delete from processes where id = ${come}`
    expect(complaints()).toEqual([])
  }, 60_000)
})
