// Sending in a real browser, as somebody who has never seen it: a file with 37 planted problems, mended and sent; other formats; by
// keyboard, without script, on a phone; 50,000 rows.
import { readFileSync } from 'node:fs'
import { utils, write } from '@e965/xlsx'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { change } from '../../src/services/change.ts'
import { longestWork } from '../support/loop.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('sending in the console')

const HEADER = ['email address', 'first name', 'permit number', 'zone', 'end date', 'discount']
const row = (n: number) => [`resident.${n}@example.org`, 'Kim', `ZC-${n}`, 'C', '30 November 2026', 'yes']
const csv = (rows: readonly (readonly string[])[], delimiter = ',') =>
  rows.map(cells => cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(delimiter)).join('\r\n')
const put = (cells: readonly string[], at: number, value: string) => cells.map((cell, i) => (i === at ? value : cell))

/** 200 rows, 37 of which have one problem each. */
const ADDRESSES = ['p.ilves@example', 'two@@example.org', '01632 960 118', 'nobody', 'a b@example.org', '@example.org']
const planted = Array.from({ length: 200 }, (_, n) => {
  if (n % 5 !== 0 || n / 5 >= 37) return row(n)
  const at = n / 5
  if (at < 12) return put(row(n), 0, ADDRESSES[at % 6] ?? '')
  if (at < 17) return put(row(n), 0, ' ')
  return put(row(n), 1 + (at % 5), '')
})

describe.skipIf(!BROWSER)('sending in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  let at: string

  beforeAll(async () => {
    here = await place()
    browser = await launch()
    at = `${here.address}${CONSOLE}/s/${here.planted.service.id}`
    const operator = { kind: 'operator', name: 'tests' } as const
    await change(here.parts, operator, here.planted.service.id, { email_daily_limit: 200_000 })
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(options: Parameters<typeof openContext>[2], work: (page: Page) => Promise<void>): Promise<void> {
    const { cookie } = await here.signIn('sender')
    const context = await openContext(browser, here.address, { cookie, ...options })
    try {
      await work(await context.newPage())
      expect(context.complaints()).toEqual([])
    } finally {
      await context.close()
    }
  }

  const main = (page: Page) => page.locator('main').innerText()
  const file = (name: string, content: string | Buffer) => ({
    name,
    mimeType: 'text/csv',
    buffer: Buffer.from(content),
  })
  const choose = async (page: Page, content: Parameters<typeof file>[1], name = 'people.csv') => {
    await page.getByLabel('File', { exact: true }).setInputFiles(file(name, content))
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.waitForURL(/\/send\/file\/[0-9a-f-]{36}/)
    await page.getByRole('heading', { name: /^Check: / }).waitFor({ timeout: 60_000 })
  }
  const toUpload = async (page: Page) => {
    await page.goto(at)
    await page.getByRole('link', { name: 'Upload a file' }).click()
    await page.getByRole('link', { name: 'Permit renewal reminder' }).click()
  }

  test('37 planted problems are all shown, mended, and the file is sent', async () => {
    await open({}, async page => {
      const began = performance.now()
      await toUpload(page)
      await choose(page, csv([HEADER, ...planted]))
      expect(await main(page)).toContain('37 rows have errors')
      expect(await page.locator('#problems').locator('xpath=ancestor::section').locator('tbody tr').count()).toBe(37)
      expect(await violationsOf(page)).toEqual([])

      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download these rows' }).first().click(),
      ])
      const text = readFileSync(await download.path(), 'utf8')
      expect(text.trim().split('\r\n')).toHaveLength(38)

      await page.getByRole('link', { name: 'Upload a corrected file' }).click()
      await choose(page, csv([HEADER, ...planted.map((_, n) => row(n))]), 'corrected.csv')
      expect(await main(page)).toContain('No row has errors.')
      await page.getByRole('button', { name: 'Go on with 200 messages' }).click()
      await page.getByRole('button', { name: 'Send 200 messages' }).click()
      await page.waitForURL(/job/)
      console.log(`37 planted problems: found, corrected and sent in ${Math.round(performance.now() - began)} ms`)
    })
    const [job] = await here.parts.db.sql<{ many: number }>`
      select notification_count as many from jobs where name = 'corrected.csv'`
    expect(job?.many).toBe(200)
  }, 120_000)

  test('or goes on without the bad rows, after a question', async () => {
    await open({}, async page => {
      await toUpload(page)
      await choose(page, csv([HEADER, ...planted]), 'without.csv')
      await page.getByRole('button', { name: 'Go on without these 37 rows' }).click()
      expect(await main(page)).toContain('163 messages remain.')
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Leave out 37 rows' }).click()
      await page.getByRole('button', { name: 'Go on with 163 messages' }).click()
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Send 163 messages' }).click()
      await page.waitForURL(/job/)
    })
  }, 120_000)

  test('.xlsx, Windows-1252 with semicolons, and names from right to left', async () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([HEADER, put(row(1), 1, 'ليلى'), row(2)]), 'People')
    await open({}, async page => {
      await toUpload(page)
      await choose(page, write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer, 'people.xlsx')
      expect(await main(page)).toContain('Read from sheet People of an .xlsx file.')
      expect(await main(page)).toContain('ليلى')
      await toUpload(page)
      await choose(page, Buffer.from(csv([HEADER, put(row(1), 1, 'Zoë')], ';'), 'latin1'))
      expect(await main(page)).toContain('Read as CSV with semicolons, Windows-1252.')
    })
  }, 120_000)

  test('a dropped file is uploaded; one that is too large is refused before the upload', async () => {
    await open({}, async page => {
      await page.goto(`${at}/send/file?template=${here.planted.service.templates.email}`)
      await page.getByLabel('File', { exact: true }).setInputFiles({
        ...{ name: 'large.csv', mimeType: 'text/csv', buffer: Buffer.alloc(26 * 1024 * 1024, 'x') },
      })
      await page.getByRole('button', { name: 'Check the file' }).click()
      expect(await page.locator('[data-upload-state]').innerText()).toContain('The file is larger than 25 MB.')
      const data = await page.evaluateHandle(
        text => {
          const given = new DataTransfer()
          given.items.add(new File([text], 'dropped.csv', { type: 'text/csv' }))
          return given
        },
        csv([HEADER, row(1)]),
      )
      await page.dispatchEvent('body', 'drop', { dataTransfer: data })
      await page.getByRole('heading', { name: 'Check: dropped.csv' }).waitFor({ timeout: 30_000 })
    })
  }, 120_000)

  test('without script: one message with its preview, and a file', async () => {
    await open({ javaScriptEnabled: false }, async page => {
      await page.goto(`${at}/send?template=${here.planted.service.templates.rightToLeft}`)
      await page.getByLabel('name', { exact: true }).fill('ليلى')
      await page.getByRole('button', { name: 'Update preview' }).click()
      expect(await page.frameLocator('iframe').locator('body').innerText()).toContain('ليلى')
      await page.getByLabel('To, e-mail address').fill('laila@example.org')
      await page.getByRole('button', { name: 'Check the message' }).click()
      await page.getByRole('button', { name: 'Send to laila@example.org' }).click()
      expect(page.url()).toMatch(/\/messages\/[0-9a-f-]{36}\?done=accepted$/)

      await page.goto(`${at}/send/file?template=${here.planted.service.templates.email}`)
      await page.getByLabel('File', { exact: true }).setInputFiles(file('plain.csv', csv([HEADER, row(1)])))
      await page.getByRole('button', { name: 'Check the file' }).click()
      await here.parts.sheets.idle()
      await page.goto(page.url())
      await page.getByRole('button', { name: 'Go on with 1 message' }).click()
      await page.getByRole('button', { name: 'Send 1 message' }).click()
      expect(page.url()).toMatch(/job/)
    })
  }, 120_000)

  test('by keyboard: one message, with a preview that follows', async () => {
    await open({}, async page => {
      await page.goto(at)
      await page.keyboard.press('g')
      await page.keyboard.press('s')
      await page.waitForURL(`${at}/send`)
      await page.goto(`${at}/send?template=${here.planted.service.templates.rightToLeft}`)
      await page.getByLabel('To, e-mail address').focus()
      await page.keyboard.type('laila@example.org')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.type('Laila')
      await page.frameLocator('iframe').getByText('Laila').last().waitFor({ timeout: 15_000 })
      await page.keyboard.press('Control+Enter')
      await page.getByRole('heading', { name: 'Send this message?' }).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Send to laila@example.org' }).press('Enter')
      await page.waitForURL(/done=accepted/)
    })
  }, 120_000)

  test('as wide as a small phone', async () => {
    await open({ viewport: { width: 320, height: 700 } }, async page => {
      for (const path of [
        '/send',
        `/send?template=${here.planted.service.templates.email}`,
        `/send/file?template=${here.planted.service.templates.email}`,
        `/send/file/${here.planted.service.uploads.errors}`,
        `/send/file/${here.planted.service.uploads.columns}`,
      ]) {
        await page.goto(at + path)
        expect([path, await widerThanWindow(page)]).toEqual([path, []])
      }
    })
  }, 120_000)

  test('50,000 rows: the program stays responsive', async () => {
    const rows = Array.from({ length: 50_000 }, (_, n) => (n % 1_000 === 0 ? put(row(n), 0, 'nobody') : row(n)))
    const content = csv([HEADER, ...rows])
    await open({}, async page => {
      await toUpload(page)
      const began = performance.now()
      const longest = await longestWork(() => choose(page, content, 'large.csv'))
      const seconds = (performance.now() - began) / 1000
      expect(await main(page)).toContain('50 rows have errors')
      console.log(
        `50,000 rows: uploaded, read and checked in ${seconds.toFixed(1)} s; longest turn ${Math.round(longest)} ms`,
      )
      expect(longest).toBeLessThan(500)
    })
  }, 180_000)
})
