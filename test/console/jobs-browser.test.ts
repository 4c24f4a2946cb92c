// Jobs in a real browser: a bar that follows a running engine, cancelling, the report, and sending again.
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { start } from '../../src/main.ts'
import { settleRows, spreadJob } from '../support/jobs.ts'
import { callerWith } from '../support/world.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('jobs in the console')

describe.skipIf(!BROWSER)('jobs in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  let at: string

  beforeAll(async () => {
    here = await place()
    browser = await launch()
    at = `${here.address}${CONSOLE}/s/${here.planted.service.id}/jobs`
  }, 120_000)
  afterAll(() => browser?.close())

  async function job(many: number, more: object = {}): Promise<Id> {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const rows = Array.from({ length: many }, (_, row) => [`p${row + 1}@example.org`, '=1+1'])
    const { body } = await key.post('/v2/notifications/bulk', {
      ...{ name: 'browser.csv', template_id: here.planted.service.templates.rightToLeft },
      rows: [['email address', 'name'], ...rows],
      ...more,
    })
    return body.data.id
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

  test('the bar moves while an engine sends, and the page shows the end by itself', async () => {
    const id = await job(400)
    await open({}, async page => {
      await page.goto(`${at}/${id}`)
      expect(await page.locator('#progress').innerText()).toBe('0 % handed over')
      const link = page.getByRole('link', { name: 'Refresh' })
      await link.waitFor({ state: 'hidden', timeout: 10_000 })
      const engine = await start(here.config, { only: 'engine' })
      try {
        await page.getByText('All 400 messages have their outcome').waitFor({ timeout: 60_000 })
        await page.locator('.page-head .badge', { hasText: 'Finished' }).waitFor({ timeout: 20_000 })
        expect(await page.locator('[data-put="delivered"]').innerText()).toBe('400')
        expect(await page.locator('[data-progress]').count()).toBe(0)
      } finally {
        await engine.stop()
      }
    })
  }, 120_000)

  test('two people watch one job, each in their own language', async () => {
    const id = await job(6)
    await open({}, async english => {
      await open({ locale: 'fr' }, async french => {
        for (const page of [english, french]) {
          await page.goto(`${at}/${id}`)
          await page.locator('[data-again]').waitFor({ state: 'hidden', timeout: 20_000 })
        }
        expect(await english.locator('.page-head .badge').innerText()).toBe('Waiting')
        await spreadJob(here.parts, id)
        await settleRows(here.parts, id, row => (row <= 4 ? { status: 'delivered', moves: ['sending'] } : null))
        for (const page of [english, french])
          await page.locator('[data-put="delivered"]', { hasText: /^4$/ }).waitFor({ timeout: 20_000 })
        expect(await english.locator('#progress').innerText()).toContain('handed over')
        expect(await french.locator('#progress').innerText()).not.toContain('handed over')
        expect(await english.locator('.page-head .badge').innerText()).toBe('Sending')
        expect(await english.locator('.page-head .badge use').getAttribute('href')).toMatch(/#transit$/)
      })
    })
  }, 60_000)

  test('when the stream breaks for good, the link is there, and after a while the page is loaded again', async () => {
    const id = await job(2)
    const { cookie } = await here.signIn('sender')
    // The browser complains about the answer that breaks the stream.
    const context = await openContext(browser, here.address, { cookie })
    try {
      const page = await context.newPage()
      await page.clock.install()
      await page.route('**/events', route => route.fulfill({ status: 502, body: 'a proxy that knows no streams' }))
      await page.goto(`${at}/${id}`)
      await page.getByRole('link', { name: 'Refresh' }).waitFor({ state: 'visible' })
      await spreadJob(here.parts, id)
      await settleRows(here.parts, id, () => ({ status: 'delivered', moves: ['sending'] }))
      expect(await page.locator('[data-put="delivered"]').innerText()).toBe('0')
      await Promise.all([page.waitForEvent('load'), page.clock.runFor(11_000)])
      expect(await page.locator('[data-put="delivered"]').innerText()).toBe('2')
    } finally {
      await context.close()
    }
  }, 60_000)

  test('without script the page has the time of its numbers and a link that loads it again', async () => {
    await open({ javaScriptEnabled: false }, async page => {
      await page.goto(`${at}/${here.planted.service.jobs.mixed}`)
      expect(await page.locator('.card-foot time').first().innerText()).toMatch(/^\d\d:\d\d:\d\d$/)
      await page.getByRole('link', { name: 'Refresh' }).click()
      expect(page.url()).toBe(`${at}/${here.planted.service.jobs.mixed}`)
    })
  })

  test.each([true, false])(
    'a scheduled job is cancelled after a question; Esc keeps it. Script: %s',
    async javaScriptEnabled => {
      const id = await job(2, { scheduled_for: new Date(Date.now() + 7_200_000).toISOString().slice(0, 19) })
      await open({ javaScriptEnabled }, async page => {
        await page.goto(`${at}/${id}`)
        await page.getByRole('button', { name: 'Cancel this job' }).click()
        const dialog = page.getByRole('dialog', { name: 'Cancel this job?' })
        await dialog.waitFor()
        if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([])
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'hidden' })
        await page.getByRole('button', { name: 'Cancel this job' }).click()
        await page.getByRole('button', { name: 'Cancel the job' }).click()
        await page.waitForURL(`${at}/${id}?done=cancelled`)
        expect(await page.getByRole('status').first().innerText()).toContain('The job is cancelled. Nothing was sent.')
      })
    },
    60_000,
  )

  test('the report and the file are downloaded', async () => {
    await open({ acceptDownloads: true }, async page => {
      await page.goto(`${at}/${here.planted.service.jobs.mixed}`)
      const download = async (name: string) => {
        const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()])
        return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
      }
      const report = await download('Download the report')
      expect(report.name).toBe('renewals-october-late report.csv')
      expect(report.text.trim().split('\r\n')).toHaveLength(21)
      const rows = await download('Download the rows as CSV')
      expect(rows.text.split('\r\n')[1]).toContain('"resident.0@example.org","Kim","ZC-20500"')
    })
  }, 60_000)

  test('those that failed for a time are sent again, by keyboard', async () => {
    const id = await job(3)
    await spreadJob(here.parts, id)
    await settleRows(here.parts, id, row => ({
      status: row === 1 ? 'delivered' : 'temporary-failure',
      moves: ['sending'],
    }))
    await open({}, async page => {
      await page.goto(`${at}/${id}`)
      await page.getByRole('link', { name: 'Send 2 messages again' }).press('Enter')
      await page.waitForURL(`${at}/${id}/again`)
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Send 2 messages again' }).press('Enter')
      await page.waitForURL(/done=again$/)
      expect(await page.locator('main').innerText()).toContain(
        'It repeats rows of browser.csv that failed temporarily.',
      )
      await page.getByRole('link', { name: 'browser.csv' }).click()
      await page.waitForURL(`${at}/${id}`)
      expect(await page.locator('main').innerText()).toContain('2 messages were sent again on')
    })
  }, 60_000)
})
