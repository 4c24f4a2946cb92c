// Every page of the console in a real browser: the checklist of the design. The pages come from the table of contents; one without
// an example (support/examples.ts) fails.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages } from '../../src/console/routes.ts'
import {
  BROWSER,
  inOwnWorld,
  launch,
  openContext,
  shapeOf,
  violationsOf,
  warnWithoutBrowser,
  widerThanWindow,
} from './support/browser.ts'
import { EXAMPLES, pagesOf, type ShownPage } from './support/examples.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { Planted, PlantedService, Who } from './support/plant.ts'
import { CONSOLE } from './support/session.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
/** The last is 1280 at a zoom of 200 %. */
const WIDTHS = [320, 390, 820, 1024, 1920, 640]
const MOST_BYTES = 100_000

warnWithoutBrowser('the console')

test('every row of the table of contents has an example, and every example its row', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(pages.map(([method, path]) => `${method} ${path}`).sort())
})

describe.skipIf(!BROWSER)('pages', () => {
  let here: ConsolePlace
  let browser: Browser
  const contexts = new Map<Who | null, Awaited<ReturnType<typeof openContext>>>()

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  async function contextOf(who: Who | null) {
    const there = contexts.get(who)
    if (there) return there
    const made = await openContext(browser, here.address, who ? { cookie: (await here.signIn(who)).cookie } : {})
    contexts.set(who, made)
    return made
  }

  for (const [at, { name }] of namesOf().entries())
    test(name, async () => {
      const shown = pagesOf(pages, here.planted.service, here.planted)[at]
      const context = await contextOf(shown?.who ?? null)
      const page = await context.newPage()
      try {
        const bytes = countBytes(page)
        const response = await page.goto(`${here.address}${CONSOLE}${shown?.path}`)
        expect(response?.status()).toBe(shown?.status)
        await checkShape(page, shown?.status === 404 ? '' : (shown?.path ?? ''))
        await checkLook(page, shown?.isView !== true)
        expect(context.complaints()).toEqual([])
        expect(await bytes(), 'bytes of the page without frames').toBeLessThan(MOST_BYTES)
      } finally {
        context.complaints()
        await page.close()
      }
    }, 60_000)

  async function checkShape(page: Page, path: string): Promise<void> {
    const { title, ...shape } = await shapeOf(page)
    expect(shape).toEqual({ h1: 1, main: 1, lang: 'en', gaps: [], ids: [] })
    expect(title).toMatch(
      path.startsWith('/s/')
        ? new RegExp(`^[^–]+ – (?:${here.planted.service.name}|Library reminders|Road closures) – Herald$`)
        : /^[^–]+(?: – Installation)? – Herald$/,
    )
  }
})

/** Names of the pages, before anything is planted. */
function namesOf(): ShownPage[] {
  const anything: object = new Proxy(() => '', {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : anything),
  })
  return pagesOf(pages, anything as PlantedService, anything as Planted)
}

/** `isWhole`: all sizes and colours, menus and dialogs, and the keyboard. */
async function checkLook(page: Page, isWhole: boolean): Promise<void> {
  for (const size of [DESKTOP, PHONE])
    for (const colorScheme of ['light', 'dark'] as const) {
      const isMain = (size === DESKTOP) === (colorScheme === 'light')
      if (!isWhole && !isMain) continue
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const at = `${size.width} px, ${colorScheme}`
      expect(await violationsOf(page), at).toEqual([])
      if (isWhole && isMain) await checkOverlays(page, size, at)
    }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    expect(await widerThanWindow(page), `${width} px`).toEqual([])
  }
  await page.setViewportSize(DESKTOP)
  if (isWhole) await checkFocus(page)
}

/** Opens each menu and dialog once; of several that differ only by a number or an id, two. */
async function checkOverlays(page: Page, { width }: { width: number }, at: string): Promise<void> {
  const ids = await inOwnWorld<string[]>(page, "[...document.querySelectorAll('[popover], dialog')].map(one => one.id)")
  const opened = new Map<string, number>()
  for (const id of ids) {
    if (id === 'menu' && width > 992) continue // there it is a part of the page
    const kind = id.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#')
    opened.set(kind, (opened.get(kind) ?? 0) + 1)
    if ((opened.get(kind) ?? 0) > 2) continue
    const one = `document.getElementById(${JSON.stringify(id)})`
    await inOwnWorld(page, `(one => one.popover ? one.showPopover() : one.showModal())(${one})`)
    expect(await violationsOf(page), `${at}, ${id} is open`).toEqual([])
    expect(await widerThanWindow(page), `${at}, ${id} is open`).toEqual([])
    await inOwnWorld(page, `(one => one.popover ? one.hidePopover() : one.close())(${one})`)
  }
}

/** Tab through the page: what has the focus is visible, and so is its ring. */
async function checkFocus(page: Page): Promise<void> {
  const problems: string[] = []
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab')
    const found = await inOwnWorld<string | null>(
      page,
      `(() => {
        const one = document.activeElement
        if (!one || one === document.body) return 'end'
        if (one.tagName === 'IFRAME') return null
        const box = one.getBoundingClientRect()
        const rings = [one, one.parentElement, one.closest('tr, [role=row], li, label, .stat'), one.nextElementSibling].filter(Boolean)
        const hasRing = rings.some(ring => ['', '::after', '::before'].some(part => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(ring, part || null)
          return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none'
        }))
        const isSeen = one.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && box.width > 0 && box.height > 0
        return isSeen && hasRing ? null : (isSeen ? 'no ring: ' : 'hidden: ') + one.outerHTML.slice(0, 200)
      })()`,
    )
    if (found === 'end') break
    if (found) problems.push(found)
  }
  expect(problems, 'while tabbing').toEqual([])
}

/** As they are sent: the stylesheet and the script are compressed. */
function countBytes(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = []
  page.on('requestfinished', request => {
    if (request.frame() === page.mainFrame())
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  return async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
