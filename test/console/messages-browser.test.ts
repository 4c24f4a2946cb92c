// The list and the page of a message in a real browser: what the script adds, and everything else without it.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { callerWith } from '../support/world.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('the messages in the console')

describe.skipIf(!BROWSER)('messages in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  let at: string

  beforeAll(async () => {
    here = await place()
    browser = await launch()
    at = `${here.address}${CONSOLE}/s/${here.planted.service.id}/messages`
  }, 120_000)
  afterAll(() => browser?.close())

  const send = async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const { body } = await key.post('/v2/notifications/email', {
      email_address: 'browser@example.org',
      template_id: here.planted.service.templates.rightToLeft,
      personalisation: { name: 'B' },
      scheduled_for: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19),
    })
    return body.id as Id
  }

  async function open<T>(options: Parameters<typeof openContext>[2], work: (page: Page) => Promise<T>): Promise<T> {
    const { cookie } = await here.signIn('sender')
    const context = await openContext(browser, here.address, { cookie, ...options })
    try {
      const result = await work(await context.newPage())
      expect(context.complaints()).toEqual([])
      return result
    } finally {
      await context.close()
    }
  }

  test('new messages wait behind a link and nothing moves until it is followed', async () => {
    await open({}, async page => {
      await page.goto(at)
      const first = await page.locator('main tbody tr').first().getAttribute('data-id')
      const id = await send()
      const link = page.getByRole('link', { name: '1 new message' })
      await link.waitFor({ timeout: 15_000 })
      expect(await page.locator('main tbody tr').first().getAttribute('data-id')).toBe(first)
      expect(await violationsOf(page)).toEqual([])
      await link.click()
      await page.locator(`tr[data-id="${id}"]`).waitFor()
    })
  }, 60_000)

  test('without script: search by recipient, filter, open, cancel', async () => {
    const id = await send()
    await open({ javaScriptEnabled: false }, async page => {
      await page.goto(at)
      await page.getByLabel('Recipient, reference or id').last().fill('k.lindgren@example.net')
      await page.getByRole('button', { name: 'Filter' }).click()
      expect(page.url()).toBe(`${at}/${here.planted.service.messages['permanent-failure']}`)
      await page.goto(at)
      await page.getByLabel('Status').selectOption('scheduled')
      await page.getByRole('button', { name: 'Filter' }).click()
      expect(page.url()).toBe(`${at}?status=scheduled`)
      await page.locator(`tr[data-id="${id}"] a`).click()
      await page.getByRole('button', { name: 'Cancel this message' }).click()
      await page.getByRole('button', { name: 'Cancel the message' }).click()
      expect(page.url()).toBe(`${at}/${id}?done=cancelled`)
      expect(await page.getByRole('status').innerText()).toContain('The message is cancelled. It was not sent.')
    })
  }, 60_000)

  test('by keyboard: search, rows, pages', async () => {
    await open({}, async page => {
      await page.goto(at)
      await page.keyboard.press('/')
      await page.keyboard.type('delivered-2026')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${at}/${here.planted.service.messages.delivered}`)
      await page.keyboard.press('g')
      await page.keyboard.press('m')
      await page.waitForURL(at)
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      const second = await page.locator('main tbody tr').nth(1).getAttribute('data-id')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${at}/${second}`)
    })
  }, 60_000)

  test.each(['', '?status=failed', '?key=team'])('as wide as a small phone: list%s', async query => {
    await open({ viewport: { width: 320, height: 700 } }, async page => {
      await page.goto(at + query)
      expect(await widerThanWindow(page)).toEqual([])
    })
  })

  test.each(['light', 'dark'] as const)(
    'dialogs that are open have no defects that axe finds: %s',
    async colorScheme => {
      await open({ colorScheme }, async page => {
        await page.goto(`${at}/${here.planted.service.messages.delivered}`)
        await page.getByRole('button', { name: 'Send a copy' }).click()
        await page.getByRole('dialog').waitFor()
        expect(await violationsOf(page)).toEqual([])
      })
    },
  )
})
