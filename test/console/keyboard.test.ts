// The keyboard map of the design, in a real browser.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, launch, openContext, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('the keyboard')

describe.skipIf(!BROWSER)('the keyboard', { timeout: 60_000 }, () => {
  let here: ConsolePlace
  let browser: Browser
  let page: Page
  let complaints: () => string[]

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place(), launch()])
    const context = await openContext(browser, here.address, { cookie: (await here.signIn('manager')).cookie })
    complaints = context.complaints
    page = await context.newPage()
  }, 120_000)
  afterAll(() => browser?.close())

  const at = (path: string) => `${here.address}${CONSOLE}${path}`
  const focused = () => page.evaluate("document.activeElement?.getAttribute('name') ?? document.activeElement?.tagName")
  const isOpen = (id: string) => page.evaluate(`document.getElementById('${id}').matches(':popover-open')`)

  test('? lists the shortcuts, Esc closes the list', async () => {
    await page.goto(at(`/s/${here.planted.service.id}`))
    await page.keyboard.press('?')
    expect(await isOpen('shortcuts')).toBe(true)
    await page.keyboard.press('Escape')
    expect(await isOpen('shortcuts')).toBe(false)
  })

  test('/ goes to the search, where letters are letters', async () => {
    await page.goto(at(`/s/${here.planted.service.id}`))
    await page.keyboard.press('/')
    expect(await focused()).toBe('q')
    await page.keyboard.type('gm?')
    expect(await page.inputValue('.topbar input[name=q]')).toBe('gm?')
    expect(await isOpen('shortcuts')).toBe(false)
    await page.fill('.topbar input[name=q]', '')
    await page.keyboard.press('Escape')
    expect(await focused()).toBe('BODY')
  })

  test('g and a letter opens a page; j, k and Enter walk through rows', async () => {
    await page.goto(at(`/s/${here.planted.service.id}`))
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL(at(`/s/${here.planted.service.id}/messages`))
    const row = () => page.evaluate("document.activeElement?.closest('tr')?.rowIndex ?? null")
    for (const [key, expected] of [
      ['j', 1],
      ['j', 2],
      ['k', 1],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key)
      expect(await row()).toBe(expected)
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/messages\/[0-9a-f-]{36}$/)
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.waitForURL(at(`/s/${here.planted.service.id}`))
  })

  test('letters do nothing for people who have turned them off', async () => {
    await page.goto(at('/account'))
    await page.uncheck('input[name=shortcuts]')
    await page.focus('input[name=shortcuts]')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(/done=/)
    await page.goto(at(`/s/${here.planted.service.id}`))
    await page.keyboard.press('?')
    await page.keyboard.press('/')
    expect([await isOpen('shortcuts'), await focused()]).toEqual([false, 'BODY'])
    await page.click('footer button')
    expect(await isOpen('shortcuts')).toBe(true)
    expect(complaints()).toEqual([])
  })
})
