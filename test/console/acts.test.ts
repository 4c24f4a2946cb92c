// What people do in the console, in a real browser: the first journey by keyboard alone and without script, and the main act of
// every screen by clicks.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printLink } from '../../src/people/links.ts'
import { BROWSER, inOwnWorld, launch, openContext, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { Who } from './support/plant.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('what people do in the console')

describe.skipIf(!BROWSER)('in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  const contexts: (BrowserContext & { complaints(): string[] })[] = []

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(options: Parameters<typeof openContext>[2] = {}): Promise<Page> {
    const context = await openContext(browser, here.address, options)
    contexts.push(context)
    return context.newPage()
  }
  async function openAs(who: Who, path: string): Promise<Page> {
    const page = await open({ cookie: (await here.signIn(who)).cookie })
    await page.goto(`${here.address}${CONSOLE}${path}`)
    return page
  }
  async function linkOf(who: Who): Promise<string> {
    const operator = { kind: 'operator', name: 'tests' } as const
    const { path } = await printLink(here.parts, operator, here.planted.people[who].email_address)
    return `${here.address}${CONSOLE}${path}`
  }
  const of = (path: string) => `/s/${here.planted.service.id}${path}`
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name })
  const done = (page: Page) => page.getByRole('status').first().innerText()
  /** The page does not follow what happens, so it is opened again. */
  async function isCaptured(page: Page): Promise<void> {
    for (let at = 0; at < 100; at++) {
      if (await page.getByText('Captured', { exact: true }).count()) return
      await page.waitForTimeout(100)
      await page.goto(page.url())
    }
    throw new Error('it is not captured')
  }
  const complaints = () => contexts.flatMap(context => context.complaints())

  describe('the first journey', () => {
    test('with the keyboard alone: sign in, write, preview, send to myself, read what happened', async () => {
      const page = await open()
      const since = performance.now()
      await page.goto(await linkOf('author'))
      await press(page, 'Sign in')
      await press(page, 'Parking permits')
      await press(page, 'Templates')
      await press(page, 'New template')
      await tabTo(page, '#name')
      await page.keyboard.type('Street closed')
      await press(page, 'Create template')
      await page.getByRole('heading', { level: 1, name: 'Street closed' }).waitFor()
      await tabTo(page, '[name=subject]')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type('Your street is closed')
      await tabTo(page, '[name=body]')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type('It opens again on Monday.')
      await page.frameLocator('[data-frame=wide]').getByText('It opens again on Monday.', { exact: true }).waitFor()
      await page.keyboard.press('Control+s')
      await page.getByRole('status').getByText('The new version is in use').waitFor()
      await press(page, 'Send to myself')
      await page.getByRole('heading', { level: 1, name: 'Your street is closed' }).waitFor()
      await isCaptured(page)
      expect(await page.textContent('main')).toMatch(/What happened.*Accepted.*Kept in the inbox/s)
      console.info(`The first journey takes a program ${Math.round((performance.now() - since) / 100) / 10} s.`)
      expect(complaints()).toEqual([])
    }, 90_000)

    test('without script', async () => {
      const page = await open({ javaScriptEnabled: false })
      await page.goto(await linkOf('author'))
      await button(page, 'Sign in').click()
      await link(page, 'Parking permits').first().click()
      await link(page, 'Templates').first().click()
      await link(page, 'New template').first().click()
      await page.fill('[name=name]', 'Written without script')
      await button(page, 'Create template').click()
      await page.fill('[name=subject]', 'Your street is open')
      await page.fill('[name=body]', 'It opened on Monday.')
      await button(page, 'Update preview').click()
      await page.frameLocator('[data-frame=wide]').getByText('It opened on Monday.', { exact: true }).waitFor()
      await button(page, /^Save as version/).click()
      expect(await done(page)).toContain('The new version is in use')
      await button(page, 'Send to myself').click()
      await page.getByRole('heading', { level: 1, name: 'Your street is open' }).waitFor()
      await isCaptured(page)
      expect(complaints()).toEqual([])
    }, 90_000)
  })

  describe('messages', () => {
    test('are found by recipient, whose address is not in the page’s; a copy is sent, and delivered', async () => {
      const page = await openAs('sender', of('/messages'))
      await page.getByRole('searchbox').first().fill('k.lindgren@example.net')
      await page.keyboard.press('Enter')
      await page.waitForURL(url => !url.pathname.endsWith('/messages') || url.search !== '')
      expect(page.url()).not.toMatch(/lindgren|%40/)
      await page.getByText('k.lindgren@example.net').first().waitFor()
      await page.goto(
        `${here.address}${CONSOLE}${of(`/messages/${here.planted.service.messages['permanent-failure']}`)}`,
      )
      await button(page, 'Send a copy').first().click()
      await page.locator('[popover]:popover-open').getByRole('button', { name: 'Send a copy' }).click()
      expect(await done(page)).toMatch(/copy/i)
      await isCaptured(page)
      expect(complaints()).toEqual([])
    }, 60_000)

    test('a scheduled one is cancelled after a question, and Esc keeps it', async () => {
      const page = await openAs('sender', of(`/messages/${here.planted.service.messages.scheduled}`))
      const ask = button(page, 'Cancel this message')
      await ask.click()
      await button(page, 'Cancel the message').waitFor()
      await page.keyboard.press('Escape')
      expect(await button(page, 'Cancel the message').count()).toBe(0)
      expect(await focused(page)).toContain('Cancel this message')
      await ask.click()
      await button(page, 'Cancel the message').click()
      expect(await done(page)).toMatch(/cancelled/i)
      expect(complaints()).toEqual([])
    }, 60_000)

    test('are exported', async () => {
      const page = await openAs('sender', of('/messages'))
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByText('Download these as CSV').click(),
      ])
      expect(download.suggestedFilename()).toMatch(/\.csv$/)
      expect(complaints()).toEqual([])
    }, 60_000)
  })

  describe('templates', () => {
    test('a folder is made, a template is moved into it, an old version is restored, and it is archived', async () => {
      const page = await openAs('author', of('/templates'))
      await link(page, 'New folder').first().click()
      await page.fill('[name=name]', 'Made in a browser')
      await button(page, 'Create folder').click()
      await page.getByRole('heading', { name: 'Made in a browser' }).first().waitFor()
      const at = of(`/templates/${here.planted.service.templates.versioned}`)
      await page.goto(`${here.address}${CONSOLE}${at}/settings`)
      await page.selectOption('[name=folder]', { label: 'Made in a browser' })
      await button(page, 'Save settings').click()
      await page.getByRole('status').waitFor()
      await page.goto(`${here.address}${CONSOLE}${at}/versions/1`)
      await button(page, /^Restore/).click()
      expect(await done(page)).toMatch(/restored|in use/i)
      await page.goto(`${here.address}${CONSOLE}${at}/archive`)
      await button(page, 'Archive the template').click()
      expect(await done(page)).toMatch(/archived/i)
      expect(complaints()).toEqual([])
    }, 60_000)
  })

  describe('people', () => {
    test('somebody is invited, gets another role, and goes', async () => {
      const page = await openAs('manager', of('/team'))
      await link(page, 'Invite somebody').click()
      await page.fill('[name=address]', 'r.abara@eastmere.example')
      await page.getByRole('radio', { name: /^Sender/ }).check()
      await button(page, 'Send the invitation').click()
      expect(await done(page)).toMatch(/invit/i)
      await page.getByText('r.abara@eastmere.example').first().waitFor()
      await page
        .getByRole('row', { name: /Ada Brandt/ })
        .getByRole('link', { name: /Change/ })
        .click()
      await page.getByRole('radio', { name: /^Author/ }).check()
      await button(page, 'Save the role').click()
      expect(await done(page)).toMatch(/role/i)
      expect(complaints()).toEqual([])
    }, 60_000)

    test('an operator adds a service and joins another one', async () => {
      const page = await openAs('operator', '/operator/services')
      await link(page, 'Add a service').click()
      await page.fill('[name=name]', 'Made in a browser')
      await button(page, 'Add the service').click()
      await page.getByRole('status').waitFor()
      await page.goto(`${here.address}${CONSOLE}/s/${here.planted.other.id}/team`)
      await button(page, 'Join the service').click()
      expect(await done(page)).toContain('You belong to this service now')
      await page.goto(`${here.address}${CONSOLE}/s/${here.planted.other.id}/messages`)
      await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
      expect(complaints()).toEqual([])
    }, 60_000)
  })

  test('a menu opens by Enter and closes by Esc, and the focus is back at its button', async () => {
    const page = await openAs('manager', of(''))
    await tabTo(page, '[popovertarget=account]')
    await page.keyboard.press('Enter')
    await link(page, 'My account').waitFor()
    await page.keyboard.press('Escape')
    expect(await link(page, 'My account').isVisible()).toBe(false)
    expect(await focused(page)).toContain('Account')
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL(/\/messages$/)
    expect(complaints()).toEqual([])
  }, 60_000)
})

/** What a screen reader would call it, roughly. */
const focused = (page: Page) =>
  inOwnWorld<string>(
    page,
    "(one => one.getAttribute('aria-label') || one.innerText || one.textContent || one.value || '')(document.activeElement)",
  )

/** Tabs until an element with this name or selector has the focus. */
async function tabTo(page: Page, target: string): Promise<void> {
  const isSelector = /^[#[]/.test(target)
  for (let at = 0; at < 120; at++) {
    await page.keyboard.press('Tab')
    const isThere = isSelector
      ? await inOwnWorld<boolean>(page, `document.activeElement.matches(${JSON.stringify(target)})`)
      : (await focused(page)).trim().replaceAll(/\s+/g, ' ').startsWith(target)
    if (isThere) return
  }
  throw new Error(`${target} cannot be reached with Tab`)
}

/** Reaches a link or a button with Tab, and presses Enter. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
}
