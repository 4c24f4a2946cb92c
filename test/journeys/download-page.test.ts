// The download page in a real browser: display, screen reader text and clicks.
import { existsSync, readFileSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pdf } from '../support/documents.ts'
import { EMAIL, emailTemplate } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path =>
  existsSync(path),
)
if (!BROWSER)
  console.warn('SKIPPED: no browser is installed; run scripts/install-file-tools.sh for the tests of the download page')

describe.skipIf(!BROWSER)('the download page', () => {
  let here: World
  let browser: Browser
  let url: string

  beforeAll(async () => {
    here = await world()
    const key = await (await here.service({ name: 'Tax & Sons <b>', may_send_files: true })).key()
    const template = await emailTemplate(key, '((link))', 'A file')
    const reply = await key.post(EMAIL, {
      email_address: 'ann@example.net',
      template_id: template,
      personalisation: {
        link: {
          file: pdf('for you').toString('base64'),
          filename: 'Bescheid für José <1>.pdf',
          sending_method: 'link',
        },
      },
    })
    url = reply.body.content.body
    // Tests may run as root, where the browser's own sandbox does not work.
    browser = await chromium.launch({
      executablePath: BROWSER ?? '',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    })
  }, 120_000)
  afterAll(() => browser?.close())

  const open = async (viewport = { width: 1_000, height: 800 }) => {
    const page = await browser.newPage({ viewport, acceptDownloads: true })
    const complaints: string[] = []
    page.on(
      'console',
      message => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())),
    )
    page.on('request', request => void (!request.url().startsWith(here.address) && complaints.push(request.url())))
    const response = await page.goto(url)
    return { page, response, complaints }
  }

  test('shows the file, its sender and its expiry; the button downloads it, by mouse and by keyboard', async () => {
    const { page, response, complaints } = await open()
    expect(response?.status()).toBe(200)
    expect(await page.title()).toBe('Download your file from Tax & Sons <b>')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Download your file from Tax & Sons <b>')
    expect(await page.getByRole('main').textContent()).toContain('Bescheid für José <1>.pdf')
    expect(await page.locator('time').getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    const button = page.getByRole('button', { name: 'Download this file' })

    const [byMouse] = await Promise.all([page.waitForEvent('download'), button.click()])
    expect(byMouse.suggestedFilename()).toMatch(/^Bescheid für José .1.\.pdf$/)
    expect(readFileSync(await byMouse.path())).toEqual(pdf('for you'))

    await page.keyboard.press('Tab')
    await button.focus()
    const [byKey] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    expect(readFileSync(await byKey.path())).toEqual(pdf('for you'))
    expect(complaints).toEqual([])
    await page.close()
  })

  test('fits a small phone, and its style is allowed by its own policy', async () => {
    const { page } = await open({ width: 320, height: 560 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    const box = await page.getByRole('button').boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate("getComputedStyle(document.querySelector('button')).fontWeight")).toBe('700')
    await page.close()
  })

  test('after eight days the page says that the file is no longer available', async () => {
    here.moveClock(8 * 86_400_000)
    const { page, response } = await open()
    expect(response?.status()).toBe(404)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('File not found')
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await page.content()).not.toContain('Tax')
    await page.close()
    here.moveClock(-8 * 86_400_000)
  })
})
