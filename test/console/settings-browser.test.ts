// What people do with settings, in a real browser: an address for replies is proved by its mail, a service goes live.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, launch, openContext, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { Who } from './support/plant.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('settings and the pages of operators')

describe.skipIf(!BROWSER)('in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  const contexts: (BrowserContext & { complaints(): string[] })[] = []

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(path: string, who: Who | null, options: Parameters<typeof openContext>[2] = {}): Promise<Page> {
    const cookie = who === null ? {} : { cookie: (await here.signIn(who)).cookie }
    const context = await openContext(browser, here.address, { ...options, ...cookie })
    contexts.push(context)
    const page = await context.newPage()
    await page.goto(path.startsWith('http') ? path : `${here.address}${CONSOLE}${path}`)
    return page
  }
  const of = (path: string) => `/s/${here.planted.service.id}${path}`
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
  const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first()
  const done = (page: Page) => page.locator('.callout[role=status]').first().innerText()
  const complaints = () => contexts.flatMap(context => context.complaints())

  type Message = { to: string; subject: string; text: string }
  async function linkTo(address: string, subject: RegExp): Promise<string> {
    const find = async () =>
      (await here.inbox()).body.messages.find(
        ({ to, subject: about }: Message) => to === address && subject.test(about),
      )?.text as string | undefined
    await expect.poll(find, { interval: 100, timeout: 15_000 }).toBeDefined()
    return /https?:\S+/.exec((await find()) ?? '')?.[0] ?? ''
  }

  test.each([true, false])(
    'an address for replies is added and proved by its mail; script: %s',
    async script => {
      const address = script ? 'appeals@eastmere.example' : 'visitors@eastmere.example'
      const page = await open(of('/settings'), 'manager', { javaScriptEnabled: script })
      await link(page, 'Add an address').click()
      await page.fill('[name=value]', 'no address')
      await button(page, 'Send the link').click()
      await page.getByRole('alert').waitFor()
      expect(await page.title()).toMatch(/^Error: /)
      expect(await page.inputValue('[name=value]')).toBe('no address')
      await page.fill('[name=value]', address)
      await button(page, 'Send the link').click()
      expect(await done(page)).toContain('The link is captured, not sent.')
      const row = page.getByRole('row', { name: address })
      expect(await row.innerText()).toContain('Waits for its link')
      expect(await row.getByRole('button', { name: /Make default/ }).count()).toBe(0)

      const reader = await open(await linkTo(address, /^Confirm this address/), null, { javaScriptEnabled: script })
      await button(reader, 'Confirm the address').click()
      await reader.getByRole('heading', { level: 1, name: 'The address is confirmed' }).waitFor()

      await page.goto(`${here.address}${CONSOLE}${of('/settings')}`)
      await row.getByRole('button', { name: /Make default/ }).click()
      expect(await done(page)).toContain('Replies go to this address from now on')
      expect(await page.getByRole('row', { name: address }).innerText()).toContain('Default')
      expect(complaints()).toEqual([])
    },
    60_000,
  )

  test('a manager asks to go live, the operator grants it', async () => {
    const operator = await open(of('/settings/live'), 'operator')
    await button(operator, 'Put it back to trial').click()
    const page = await open(of('/settings'), 'manager')
    await link(page, 'Going live').click()
    await button(page, 'Ask to go live').click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('What do you send, and to whom?').fill('Reminders about permits, to residents.')
    await page.getByLabel('E-mails a day, about').fill('900')
    await page.getByRole('checkbox').check()
    await button(page, 'Ask to go live').click()
    expect(await done(page)).toContain('The operators got your request')

    await operator.goto(`${here.address}${CONSOLE}/operator/services`)
    await link(operator, /asks? to go live/).click()
    await operator.getByRole('row', { name: 'Parking permits' }).getByRole('link', { name: 'Asks to go live' }).click()
    await operator.getByText('Reminders about permits, to residents.').waitFor()
    await button(operator, 'Make the service live').click()
    expect(await done(operator)).toContain('The service is live')
    const mail = await linkTo(here.planted.people.manager.email_address, /is live$/)
    await page.goto(mail)
    await page.getByText('This service is live').first().waitFor()
    await page.goto(`${here.address}${CONSOLE}${of('/changes')}`)
    expect(await page.getByRole('row', { name: /Going live granted/ }).innerText()).toContain('Noor Visser')
    expect(complaints()).toEqual([])
  }, 60_000)

  test('an operator suspends a service with a reason that its team sees, and resumes it', async () => {
    const operator = await open(of('/settings'), 'operator')
    await link(operator, 'Suspend the service').click()
    await operator.getByLabel('Why').fill('Too many addresses do not exist.')
    await button(operator, 'Suspend the service').click()
    expect(await done(operator)).toContain('The service is suspended')
    const viewer = await open(of(''), 'viewer')
    await viewer.locator('.banner').getByText('Too many addresses do not exist.').waitFor()
    await button(operator, 'Resume the service').click()
    await viewer.reload()
    expect(await viewer.locator('.banner').count()).toBe(0)
    expect(complaints()).toEqual([])
  }, 60_000)
})
