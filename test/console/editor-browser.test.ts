// The editor of templates in a real browser: live preview, the marked copy under the fields, the keyboard, and no script at all.
import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { locate } from '../../src/rendering/placeholders.ts'
import { find } from '../../src/templates/sql.ts'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'

warnWithoutBrowser('the editor of templates')

describe.skipIf(!BROWSER)('the editor in a browser', { timeout: 120_000 }, () => {
  let here: ConsolePlace
  let browser: Browser
  let author: SignedInAs
  let service: Id

  beforeAll(async () => {
    here = await place()
    author = await here.signIn('author')
    service = here.planted.service.id
    browser = await launch()
  }, 120_000)
  afterAll(() => browser?.close())

  const open = async (path: string, options: Parameters<typeof openContext>[2] = {}) => {
    const context = await openContext(browser, here.address, { cookie: author.cookie, ...options })
    const page = await context.newPage()
    await page.goto(here.address + CONSOLE + path)
    return { page, context }
  }
  const pathOf = (id: Id) => `/s/${service}/templates/${id}`
  const frameText = (page: Page, name: string) =>
    page.frameLocator(`iframe[data-frame="${name}"]`).locator('body').innerText()
  /** Pictures to look at, when a folder is named. */
  const shot = async (page: Page, name: string) => {
    const folder = process.env.EDITOR_SHOTS
    if (!folder) return
    mkdirSync(folder, { recursive: true })
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
  }

  test('the preview follows what is typed, and the marked copy stays equal', async () => {
    const { page, context } = await open(pathOf(here.planted.service.templates.email))
    const body = page.locator('#body')
    await body.focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('\n\nBring ((documents)) (or copies).')
    const copy = () => page.locator('[data-marks="body"]').textContent()
    expect(await copy()).toBe(`${await body.inputValue()}\n`)
    const field = page.getByLabel('Example for documents')
    await field.fill('a passport\na bill')
    await expect.poll(() => frameText(page, 'wide')).toContain('a passport')
    expect(await copy()).toBe(`${await body.inputValue()}\n`)
    const [source, marks] = [await body.boundingBox(), await page.locator('[data-marks="body"]').boundingBox()]
    expect(marks?.height).toBeCloseTo(source?.height ?? 0, 0)
    // An answer that comes late does not replace a newer one.
    await body.press('Control+End')
    for (const word of ['one', 'two', 'three']) {
      await page.keyboard.type(` ${word}`)
      await page.waitForTimeout(320)
    }
    await expect.poll(() => frameText(page, 'wide')).toContain('one two three')
    await page.getByText('Plain text', { exact: true }).click()
    expect(await page.locator('.preview-text').innerText()).toContain('one two three')
    await page.getByText('Dark', { exact: true }).click()
    await expect.poll(() => frameText(page, 'dark')).toContain('one two three')
    await shot(page, 'email-dark-preview')
    await page.getByText('Phone', { exact: true }).click()
    await expect.poll(() => frameText(page, 'phone')).toContain('one two three')
    expect(await violationsOf(page)).toEqual([])
    await page.goBack().catch(() => {})
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('marks what the server calls a placeholder', async () => {
    const { page, context } = await open(pathOf(here.planted.service.templates.email))
    const letters = ['(', '((', ')', '))', '?', '??', 'a', ' ', '\n']
    let seed = 17
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return letters[seed % letters.length] ?? ''
    }
    const texts = Array.from({ length: 500 }, () => Array.from({ length: 14 }, next).join(''))
    const marked = await page.evaluate(texts => {
      const field = document.querySelector('#body') as HTMLTextAreaElement
      return texts.map(text => {
        field.value = text
        field.dispatchEvent(new Event('input', { bubbles: true }))
        return [...document.querySelectorAll('[data-marks="body"] mark')].map(mark => mark.textContent ?? '')
      })
    }, texts)
    const expected = texts.map(text =>
      locate(text).flatMap(({ from, end, part }) => (typeof part === 'string' ? [] : [text.slice(from, end)])),
    )
    expect(marked).toEqual(expected)
    expect(expected.flat().length).toBeGreaterThan(100)
    await context.close()
  })

  test('saves by the keyboard, warns about a new placeholder, and keeps the text on the way back', async () => {
    const { email } = here.planted.service.templates
    const { page, context } = await open(pathOf(email))
    await page.keyboard.press('e')
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' ((car park))')
    await page.keyboard.press('Control+s')
    await page.waitForURL(/\/confirm\?/)
    expect(await page.locator('h1').innerText()).toBe('This change breaks sends')
    expect(await violationsOf(page)).toEqual([])
    await shot(page, 'confirm')
    await page.getByText('Back to editing').click()
    expect(await page.locator('#body').inputValue()).toContain('((car park))')
    await page.keyboard.press('Control+s')
    await page.waitForURL(/\/confirm\?/)
    await page.getByRole('button', { name: /^Save as version/ }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/done=saved/)
    expect(await page.getByRole('status').innerText()).toContain('The new version is in use')
    expect((await find(here.parts.db.sql, service, email))?.content).toContain('((car park))')
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('works without the script', async () => {
    const { page, context } = await open(pathOf(here.planted.service.templates.email), { javaScriptEnabled: false })
    await page.locator('#body').fill('Hello ((nobody)) **there**')
    await page.getByRole('button', { name: 'Update preview' }).click()
    expect(await page.locator('#body').inputValue()).toBe('Hello ((nobody)) **there**')
    await page.getByLabel('Example for nobody').fill('Kim')
    await page.getByText('Phone', { exact: true }).click()
    await page.getByRole('button', { name: 'Update preview' }).click()
    await expect.poll(() => frameText(page, 'phone')).toContain('Hello Kim there')
    await page.getByText('Plain text', { exact: true }).click()
    expect(await page.locator('.preview-text').innerText()).toContain('Hello Kim **there**')
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test('a text message: bubble, alphabet and parts while typing', async () => {
    const { page, context } = await open(pathOf(here.planted.service.templates.sms))
    await page.locator('#body').fill(`Call ((number)) – à bientôt! ${'Lorem ipsum '.repeat(12)}`)
    await expect.poll(() => page.locator('[data-part="alphabet"]').innerText()).toContain('ô in line 1')
    await expect.poll(() => page.locator('.source-marks .odd').allInnerTexts()).toEqual(['ô'])
    expect(await page.locator('.bubble').innerText()).toContain('part 3')
    expect(await violationsOf(page)).toEqual([])
    await shot(page, 'text')
    await page.getByRole('button', { name: 'Use “o” for “ô”' }).click()
    expect(await page.locator('#body').inputValue()).toContain('bientot')
    expect(context.complaints()).toEqual([])
    await context.close()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('is accessible and fits: %s, %i px', async (colorScheme, width) => {
    for (const [name, id] of Object.entries(here.planted.service.templates)) {
      const { page, context } = await open(pathOf(id), { colorScheme, viewport: { width, height: 900 } })
      expect(await widerThanWindow(page)).toEqual([])
      expect(await violationsOf(page)).toEqual([])
      await shot(page, `${name}-${colorScheme}-${width}`)
      await context.close()
    }
  })

  test('readers see it, too', async () => {
    const viewer = await here.signIn('viewer')
    const { page, context } = await open(pathOf(here.planted.service.templates.email), { cookie: viewer.cookie })
    expect(await violationsOf(page)).toEqual([])
    await expect.poll(() => frameText(page, 'wide')).toContain('permit')
    await shot(page, 'viewer')
    expect(context.complaints()).toEqual([])
    await context.close()
  })
})
