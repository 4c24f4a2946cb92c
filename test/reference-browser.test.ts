// The reference in a real browser: axe, widths, light and dark, without script, and what the script adds.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  BROWSER,
  launch,
  openContext,
  violationsOf,
  warnWithoutBrowser,
  widerThanWindow,
} from './console/support/browser.ts'
import { CATEGORY, type World, world } from './support/world.ts'

warnWithoutBrowser('the reference')

describe.skipIf(!BROWSER)('the reference', { timeout: 120_000 }, () => {
  let here: World
  let browser: Browser

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([world(), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  test('has no violation and is nowhere wider than the window', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await openContext(browser, here.address, { colorScheme })
      const page = await context.newPage()
      await page.goto(`${here.address}/docs/api`)
      expect(await violationsOf(page)).toEqual([])
      for (const width of [320, 390, 820, 1920]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await widerThanWindow(page), `${width} px`).toEqual([])
      }
      expect(context.complaints()).toEqual([])
      await context.close()
    }
  })

  test('pages of the documentation have no violation and are nowhere wider than the window', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await openContext(browser, here.address, { colorScheme })
      const page = await context.newPage()
      for (const slug of [
        '',
        '/tutorial',
        '/guides/send',
        '/clients',
        '/settings',
        '/console',
        '/running',
        '/changelog',
      ]) {
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.goto(`${here.address}/docs${slug}`)
        expect(await violationsOf(page), slug).toEqual([])
        for (const width of [320, 1920]) {
          await page.setViewportSize({ width, height: 800 })
          expect(await widerThanWindow(page), `${slug} ${width} px`).toEqual([])
        }
      }
      expect(context.complaints()).toEqual([])
      await context.close()
    }
  })

  test('an anchor of the reference at its old address leads to the new one', async () => {
    const context = await openContext(browser, here.address)
    const page = await context.newPage()
    const idsOf = async (path: string) => {
      const text = await (await fetch(`${here.address}${path}`)).text()
      return [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
    }
    const first = new Set(await idsOf('/docs'))
    const anchors = (await idsOf('/docs/api')).filter(id => !/^(main|find|found|key|in-.*)$/.test(id))
    // None of them is an anchor of the first page, where it would stay.
    expect(anchors.filter(id => first.has(id))).toEqual([])
    const operation = anchors.find(id => anchors.includes(`${id}-title`)) ?? ''
    for (const anchor of ['start', 'refusals', operation, `${operation}-title`]) {
      await page.goto('about:blank')
      await page.goto(`${here.address}/docs#${anchor}`)
      await page.waitForURL(`${here.address}/docs/api#${anchor}`)
      await page.locator(`[id="${anchor}"]`).waitFor()
    }
    // The address before it is not in the history: a step back does not come here again.
    await page.goBack()
    expect(page.url()).toBe('about:blank')
    for (const anchor of ['main', 'nothing-has-this-id']) {
      await page.goto('about:blank')
      await page.goto(`${here.address}/docs#${anchor}`, { waitUntil: 'networkidle' })
      expect(page.url()).toBe(`${here.address}/docs#${anchor}`)
    }
    await page.goto(`${here.address}/docs/tutorial#${operation}`, { waitUntil: 'networkidle' })
    expect(page.url()).toBe(`${here.address}/docs/tutorial#${operation}`)
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('no page is wider than a phone, and its list of pages is closed there', async () => {
    const context = await openContext(browser, here.address)
    const page = await context.newPage()
    await page.setViewportSize({ width: 375, height: 812 })
    await page.goto(`${here.address}/docs`)
    const paths = await page.locator('nav li a').evaluateAll(all => all.map(link => link.getAttribute('href') ?? ''))
    expect(paths.length).toBeGreaterThan(35)
    for (const path of paths) {
      await page.goto(`${here.address}${path}`)
      expect(await widerThanWindow(page), path).toEqual([])
      expect(await page.locator('.menu').getAttribute('open'), path).toBe(null)
    }
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('the documentation is searched by keyboard, and a block is copied', async () => {
    const context = await openContext(browser, here.address)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await context.newPage()
    await page.goto(`${here.address}/docs`)
    await page.keyboard.press('/')
    await page.keyboard.type('verify webhook')
    const first = page.locator('#results a').first()
    await first.waitFor()
    expect(await first.innerText()).toContain('How do I verify a webhook?')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/interface#how-do-i-verify-a-webhook')
    // Enter in the field opens the first result, also when nobody has waited for the results.
    await page.goto(`${here.address}/docs`)
    await page.keyboard.press('/')
    await page.keyboard.type('verify webhook')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/interface#how-do-i-verify-a-webhook')
    await page.goto(`${here.address}/docs/api`)
    await page.keyboard.press('/')
    await page.keyboard.type('delete inbox')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/api#delete\w+$/)
    await page.goto(`${here.address}/docs/tutorial`)
    await page.locator('.copy').first().click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npm ci && npm start\n')
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('without script the language can be chosen, and a link leads to its operation', async () => {
    const context = await openContext(browser, here.address, { javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${here.address}/docs/api#listCapturedMessages`)
    expect(await page.locator('#listCapturedMessages-curl').isVisible()).toBe(true)
    await page.getByRole('radio', { name: 'Python' }).check({ force: true })
    expect(await page.locator('#listCapturedMessages-curl').isVisible()).toBe(false)
    expect(await page.locator('#listCapturedMessages-python').isVisible()).toBe(true)
    expect(await page.locator('.try').first().isVisible()).toBe(false)
  })

  test('with script: the language is remembered, operations are found, and a call is tried with a key', async () => {
    const service = await here.service()
    const key = await service.key({ type: 'test' })
    await key.post('/v2/manage-template', {
      ...{ name: 'Seen in the answer', template_type: 'sms', content: 'Hi', template_category_id: CATEGORY.general },
    })
    const context = await openContext(browser, here.address)
    const page = await context.newPage()
    await page.goto(`${here.address}/docs/api`)
    await page.getByRole('radio', { name: 'Ruby' }).check({ force: true })
    await page.reload()
    expect(await page.getByRole('radio', { name: 'Ruby' }).isChecked()).toBe(true)
    await page.keyboard.press('/')
    await page.keyboard.type('delete inbox')
    expect(await page.locator('#found').innerText()).toBe('2 operations')
    expect(await page.locator('nav li:visible', { hasText: 'DELETE' }).count()).toBe(2)
    const tried = page.locator('#listTemplates .try')
    await tried.locator('summary').click()
    await tried.getByRole('button', { name: 'Send the request' }).click()
    expect(await tried.locator('.answer').innerText()).toContain('Enter your key first')
    await page.locator('#key').fill(key.key)
    await tried.getByRole('button', { name: 'Send the request' }).click()
    await tried.locator('.answer pre').waitFor()
    expect(await tried.locator('.answer').innerText()).toMatch(/^200, after \d+ ms/)
    expect(await tried.locator('.answer').innerText()).toContain('Seen in the answer')
    expect(
      await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie),
    ).not.toContain(key.key)
    expect(context.complaints()).toEqual([])
  })
})
