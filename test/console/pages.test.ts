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
  const tabs = new Map<Who | null, { page: Page; complaints(): string[] }>()

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  /** Everybody stays in one tab, as people do; a new one for each page takes three times as long. */
  async function tabOf(who: Who | null) {
    const there = tabs.get(who)
    if (there) return there
    const context = await openContext(browser, here.address, who ? { cookie: (await here.signIn(who)).cookie } : {})
    const made = { page: await context.newPage(), complaints: context.complaints }
    tabs.set(who, made)
    return made
  }

  for (const [at, { name }] of namesOf().entries())
    test(name, async () => {
      const shown = pagesOf(pages, here.planted.service, here.planted)[at]
      const { page, complaints } = await tabOf(shown?.who ?? null)
      const bytes = countBytes(page)
      try {
        const response = await page.goto(`${here.address}${CONSOLE}${shown?.path}`)
        expect(response?.status()).toBe(shown?.status)
        await checkShape(page, shown?.status === 404 ? '' : (shown?.path ?? ''))
        await checkLook(page, shown?.isView !== true)
        expect(complaints()).toEqual([])
        expect(await bytes(), 'bytes of the page without frames').toBeLessThan(MOST_BYTES)
      } finally {
        complaints()
        page.removeAllListeners('requestfinished')
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

/**
 * `isWhole`: all sizes and colours, menus and dialogs, and the keyboard. Every rule runs at both sizes; where only the colours have
 * changed since, only the rule about colours runs again.
 */
async function checkLook(page: Page, isWhole: boolean): Promise<void> {
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size)
    const [main, other] = size === DESKTOP ? (['light', 'dark'] as const) : (['dark', 'light'] as const)
    await page.emulateMedia({ colorScheme: main, reducedMotion: 'reduce' })
    const at = `${size.width} px, ${main}`
    expect(await violationsOf(page), at).toEqual([])
    if (!isWhole) continue
    await checkOverlays(page, size, at)
    await page.emulateMedia({ colorScheme: other, reducedMotion: 'reduce' })
    expect(await violationsOf(page, { rule: 'color-contrast' }), `${size.width} px, ${other}`).toEqual([])
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    expect(await widerThanWindow(page), `${width} px`).toEqual([])
  }
  await page.setViewportSize(DESKTOP)
  if (isWhole) await checkFocus(page)
}

/** What has been opened already, at one size: most menus are the same on every page. */
const opened = new Set<string>()

/** Opens each menu and dialog; of several that differ only by numbers, ids or addresses, one. */
async function checkOverlays(page: Page, { width }: { width: number }, at: string): Promise<void> {
  const overlays = await inOwnWorld<{ id: string; html: string }[]>(
    page,
    "[...document.querySelectorAll('[popover], dialog')].map(one => ({ id: one.id, html: one.outerHTML }))",
  )
  for (const { id, html } of overlays) {
    if (id === 'menu' && width > 992) continue // there it is a part of the page
    const kind = `${width} ${html.replaceAll(/(?:href|value|action)="[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, '#')}`
    if (opened.has(kind)) continue
    opened.add(kind)
    const one = `document.getElementById(${JSON.stringify(id)})`
    await inOwnWorld(page, `(one => one.popover ? one.showPopover() : one.showModal())(${one})`)
    expect(await violationsOf(page, { within: id }), `${at}, ${id} is open`).toEqual([])
    expect(await widerThanWindow(page), `${at}, ${id} is open`).toEqual([])
    await inOwnWorld(page, `(one => one.popover ? one.hidePopover() : one.close())(${one})`)
  }
}

/** Tab through the page: what has the focus is visible, and so is its ring. */
async function checkFocus(page: Page): Promise<void> {
  await inOwnWorld(
    page,
    `(() => {
      const root = document.documentElement
      globalThis.focused = []
      document.addEventListener('focusin', ({ target: one }) => {
        if (one.tagName === 'IFRAME' || one === root) return
        const box = one.getBoundingClientRect()
        const rings = [one, one.parentElement, one.closest('tr, [role=row], li, label, .stat'), one.nextElementSibling].filter(Boolean)
        const hasRing = rings.some(ring => ['', '::after', '::before'].some(part => {
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(ring, part || null)
          return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none'
        }))
        const isSeen = one.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && box.width > 0 && box.height > 0
        focused.push(isSeen && hasRing ? '' : (isSeen ? 'no ring: ' : 'hidden: ') + one.outerHTML.slice(0, 200))
      })
      // The first Tab goes to the first element, wherever the focus was.
      root.tabIndex = -1
      root.focus()
      root.removeAttribute('tabindex')
    })()`,
  )
  for (let step = 0; step < 60; step += 10)
    await Promise.all(Array.from({ length: 10 }, () => page.keyboard.press('Tab')))
  const focused = await inOwnWorld<string[]>(page, 'focused')
  expect(focused.length, 'elements that had the focus').toBeGreaterThan(0)
  expect(new Set(focused.filter(Boolean)), 'while tabbing').toEqual(new Set())
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
