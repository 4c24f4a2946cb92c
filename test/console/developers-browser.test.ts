// Keys and webhooks in a real browser: what is shown once is not shown again by going back or loading again.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { callerWith } from '../support/world.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('the corner of developers')

describe.skipIf(!BROWSER)('developers in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  let receiver: Receiver
  let at: string

  beforeAll(async () => {
    receiver = await startReceiver()
    here = await place({
      HERALD_WEBHOOK_ALLOW: '127.0.0.1',
      HERALD_WEBHOOK_PORTS: '1-65535',
      HERALD_WEBHOOK_SCHEMES: 'http,https',
    })
    browser = await launch()
    at = `${here.address}${CONSOLE}/s/${here.planted.service.id}`
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await receiver?.stop()
  })

  async function open<T>(
    options: Parameters<typeof openContext>[2],
    work: (page: Page) => Promise<T>,
    who: 'developer' | 'manager' = 'developer',
  ): Promise<T> {
    const { cookie } = await here.signIn(who)
    const context = await openContext(browser, here.address, { cookie, ...options })
    try {
      const result = await work(await context.newPage())
      expect(context.complaints()).toEqual([])
      return result
    } finally {
      await context.close()
    }
  }

  test.each([true, false])(
    'a key is made and shown once; with script: %s',
    async javaScriptEnabled => {
      // A developer may not manage templates, and grants only what they have.
      const make = async (page: Page) => {
        const name = `Shop ${javaScriptEnabled}`
        await page.goto(`${at}/keys`)
        await page.getByRole('link', { name: 'Make a key' }).click()
        await page.getByLabel('Name').fill(name)
        await page.getByRole('radio', { name: 'Test' }).last().check()
        await page.getByLabel('Manage templates').check()
        await page.getByRole('button', { name: 'Make the key' }).click()
        const key = await page.locator('#key').innerText()
        expect(page.url()).not.toContain(key.slice(-36))
        expect((await callerWith(here.address, key).get('/v2/templates')).status).toBe(200)
        if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([])
        expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(javaScriptEnabled ? 1 : 0)

        await page.reload()
        expect(await page.content()).not.toContain(key.slice(-36))
        expect(await page.getByRole('status').innerText()).toContain('It is shown only once')
        await page.goBack()
        expect(await page.content()).not.toContain(key.slice(-36))
        const [made] = await here.parts.db.sql`select count(*)::integer as n from keys where name = ${name}`
        expect(made).toEqual({ n: 1 })
      }
      await open({ javaScriptEnabled }, make, 'manager')
    },
    60_000,
  )

  test('a key is revoked after a question', async () => {
    await open({ javaScriptEnabled: false }, async page => {
      await page.goto(`${at}/keys`)
      await page.getByRole('link', { name: 'Revoke Staging' }).click()
      await page.getByRole('link', { name: 'Keep it' }).click()
      await page.getByRole('link', { name: 'Revoke Staging' }).click()
      await page.getByRole('button', { name: 'Revoke the key' }).click()
      expect(await page.getByRole('status').innerText()).toContain('The key is revoked')
      expect(await page.getByRole('link', { name: 'Revoke Staging' }).count()).toBe(0)
    })
  }, 60_000)

  test('an endpoint is added, tested, given a new secret and removed', async () => {
    await open({}, async page => {
      await page.goto(`${at}/webhooks`)
      await page.getByRole('link', { name: 'Add an endpoint' }).click()
      await page.getByLabel('Address').fill(receiver.url)
      await page.getByRole('button', { name: 'Add the endpoint' }).click()
      const secret = await page.locator('#secret').innerText()
      expect(secret).toMatch(/^whsec_/)
      await page.reload()
      expect(await page.content()).not.toContain(secret)
      await page.getByRole('link', { name: receiver.url }).click()
      await page.getByRole('button', { name: 'Send a test event' }).click()
      await page.getByText('The test event was answered with 204').waitFor()
      expect(receiver.hooks.at(-1)?.body).toContain('webhook.test')
      expect(await violationsOf(page)).toEqual([])

      await page.getByRole('button', { name: 'Replace the secret' }).first().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click()
      expect(await page.locator('#secret').innerText()).not.toBe(secret)
      await page.getByRole('link', { name: 'Go to the endpoint' }).click()
      await page.getByRole('link', { name: 'Remove the endpoint' }).click()
      await page.getByRole('button', { name: 'Remove the endpoint' }).click()
      expect(await page.getByRole('status').innerText()).toContain('The endpoint is removed')
    })
  }, 60_000)

  test('the safelist and the request log, as wide as a small phone', async () => {
    await open({ viewport: { width: 320, height: 700 }, javaScriptEnabled: true }, async page => {
      await page.goto(`${at}/safelist`)
      await page.getByLabel('Recipients').fill('kim@example.org\nnobody')
      await page.getByRole('button', { name: 'Save the safelist' }).click()
      expect(await page.getByRole('alert').innerText()).toContain('One line is not a recipient')
      expect(await page.getByLabel('Recipients').inputValue()).toBe('kim@example.org\nnobody')
      expect(await widerThanWindow(page)).toEqual([])
      await page.getByLabel('Recipients').fill('kim@example.org')
      await page.getByRole('button', { name: 'Save the safelist' }).click()
      expect(await page.getByRole('status').innerText()).toContain('The safelist is saved')
      await page.goto(`${at}/requests`)
      await page.getByLabel('Answer').selectOption('4xx')
      await page.getByRole('button', { name: 'Filter' }).click()
      expect(page.url()).toContain('status=4xx')
      expect(await widerThanWindow(page)).toEqual([])
    })
  }, 60_000)
})
