// A real browser for the tests of the console. The policy of the pages stays in force; whatever the browser complains about (a
// violation of the policy, an error of a script, a request to another origin, a part that cannot be loaded) is collected.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core'

export const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path =>
  existsSync(path),
)

/** Says once in a test file that its tests are skipped. */
export function warnWithoutBrowser(subject: string): void {
  if (!BROWSER)
    console.warn(`SKIPPED: no browser is installed; run scripts/install-file-tools.sh for the tests of ${subject}`)
}

/** Tests may run as root, where the browser's own sandbox does not work. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: BROWSER ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] })

export type Cookie = { name: string; value: string }

/** A browser of one person: its own cookies. `complaints` is emptied by reading it. */
export async function openContext(
  browser: Browser,
  address: string,
  { cookie, ...options }: BrowserContextOptions & { cookie?: Cookie } = {},
): Promise<BrowserContext & { complaints(): string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  if (cookie) await context.addCookies([{ ...cookie, url: address, httpOnly: true, sameSite: 'Lax' }])
  const complaints: string[] = []
  // Also violations that a page may report before its console is read.
  if (options.javaScriptEnabled !== false)
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
    )
  context.on('console', message => {
    if (['error', 'warning'].includes(message.type()) && !isStatusOfPage(message.text(), message.location().url))
      complaints.push(`${message.page()?.url() ?? ''}: ${message.text()}`)
  })
  context.on('weberror', error => complaints.push(`${error.page()?.url() ?? ''}: ${error.error().message}`))
  context.on('request', request => {
    const url = request.url()
    if (!url.startsWith(`${address}/`) && !/^(data|about|blob):/.test(url)) complaints.push(`request to ${url}`)
  })
  context.on('response', response => {
    if (response.status() >= 400 && !response.request().isNavigationRequest())
      complaints.push(`${response.url()} is answered with ${response.status()}`)
  })
  return Object.assign(context, { complaints: () => complaints.splice(0) })

  // The browser also logs the status of a page that is meant to be an error.
  function isStatusOfPage(text: string, url: string): boolean {
    return text.startsWith('Failed to load resource') && context.pages().some(page => page.url() === url)
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Violation = { id: string; help: string; nodes: { html: string; failureSummary: string }[] }

/**
 * What axe finds (WCAG 2.0 to 2.2 A and AA, best practice), one line each. It runs in a world of its own: the policy stays. `rule`:
 * only this one. `within`: the id of the element to look at, instead of the whole page.
 */
export async function violationsOf(
  page: Page,
  { rule, within }: { rule?: string; within?: string } = {},
): Promise<string[]> {
  if (!(await inOwnWorld<boolean>(page, "typeof axe === 'object'"))) await inOwnWorld(page, `${AXE};0`)
  const options = { iframes: false, runOnly: rule ? [rule] : TAGS, resultTypes: ['violations'] }
  const found = await inOwnWorld<Violation[]>(
    page,
    `axe.run(${within ? `document.getElementById(${JSON.stringify(within)})` : 'document'}, ${JSON.stringify(options)}).then(result => result.violations)`,
  )
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html.slice(0, 300)} ${failureSummary.split('\n')[1]}`),
  )
}

type World = { session: CDPSession; contextId: number; isOver: boolean }
const worlds = new WeakMap<Page, World>()

/** Evaluates an expression in an isolated world of the page, which no policy and no script of the page reaches. */
export async function inOwnWorld<T>(page: Page, expression: string): Promise<T> {
  const { session, contextId } = await worldOf(page)
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    ...{ expression, contextId, awaitPromise: true, returnByValue: true },
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as T
}

/** A world ends with its document. */
async function worldOf(page: Page): Promise<World> {
  const known = worlds.get(page)
  if (known && !known.isOver) return known
  const session = known?.session ?? (await page.context().newCDPSession(page))
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'proof',
  })
  const world = { session, contextId, isOver: false }
  worlds.set(page, world)
  page.once('framenavigated', function look(frame) {
    if (frame === page.mainFrame()) world.isOver = true
    else page.once('framenavigated', look)
  })
  return world
}

export type Shape = { title: string; h1: number; main: number; lang: string; gaps: string[]; ids: string[] }

/** What every page must have once, and what it must not have. */
export const shapeOf = (page: Page): Promise<Shape> =>
  inOwnWorld(
    page,
    `(() => {
      const levels = [...document.querySelectorAll('main h1, main h2, main h3, main h4')].map(h => Number(h.tagName[1]))
      const ids = [...document.querySelectorAll('[id]')].map(one => one.id)
      return {
        title: document.title,
        h1: document.querySelectorAll('h1').length,
        main: document.querySelectorAll('main').length,
        lang: document.documentElement.lang,
        gaps: levels.flatMap((level, at) => at > 0 && level > levels[at - 1] + 1 ? ['h' + levels[at - 1] + ' to h' + level] : []),
        ids: ids.filter((id, at) => ids.indexOf(id) !== at),
      }
    })()`,
  )

/** The elements that make the page wider than its window; empty when it does not scroll sideways. */
export const widerThanWindow = (page: Page): Promise<string[]> =>
  inOwnWorld(
    page,
    `(() => {
      const root = document.documentElement
      if (root.scrollWidth <= root.clientWidth) return []
      const wide = [...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > root.clientWidth + 0.5)
      return ['scrollWidth ' + root.scrollWidth + ' > ' + root.clientWidth, ...wide.slice(-3).map(one => one.outerHTML.slice(0, 160))]
    })()`,
  )
