// Pictures of every page of the console with planted data: light, dark and as wide as a phone, into shots/ with an index.html.
// `npm run shots -- messages editor` makes only those whose name contains one of the words; `--docs` makes only those of
// docs/console.md and writes them there, too; `--language fr` opens them in French. Everything that it starts ends with it.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { readConfig } from '../src/config/index.ts'
import { pages } from '../src/console/routes.ts'
import { startEmbedded } from '../src/db/embedded.ts'
import { start } from '../src/main.ts'
import { BROWSER, launch, openContext } from '../test/console/support/browser.ts'
import { pagesOf } from '../test/console/support/examples.ts'
import { type Planted, plant, type Who } from '../test/console/support/plant.ts'
import { CONSOLE, signIn } from '../test/console/support/session.ts'

const FOLDER = 'shots'
const LOOKS = [
  { look: 'light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { look: 'dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { look: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const

/** The pictures of docs/console.md: what fits into the window. */
const DOCS = [
  { file: 'overview', name: 'overview', look: 'light' },
  { file: 'messages', name: 'messages', look: 'light' },
  { file: 'message', name: 'messages-id', look: 'light' },
  { file: 'editor', name: 'templates-id-text', look: 'light' },
  { file: 'message-dark', name: 'messages-id-sms', look: 'dark' },
  { file: 'messages-phone', name: 'messages-failed', look: 'phone' },
]
if (!BROWSER) throw new Error('No browser is installed; run scripts/install-file-tools.sh.')
const { values, positionals: words } = parseArgs({
  options: { docs: { type: 'boolean', default: false }, language: { type: 'string', default: 'en' } },
  allowPositionals: true,
})
const { docs: isForDocs, language: locale } = values
const ends: (() => unknown)[] = []
try {
  const { address, planted, cookieOf } = await startPlanted()
  const browser = await launch()
  ends.push(() => browser.close())
  const names = await shoot(browser, address, planted, cookieOf)
  writeFileSync(join(FOLDER, 'index.html'), index(names))
  console.log(`${names.length} pages, each ${LOOKS.map(({ look }) => look).join(', ')}: ${FOLDER}/index.html`)
} finally {
  for (const end of ends.reverse()) await end()
}

async function startPlanted() {
  const home = mkdtempSync(join(tmpdir(), 'herald-shots-'))
  chmodSync(home, 0o711) // the server runs as nobody when we are root
  ends.push(() => rmSync(home, { recursive: true, force: true }))
  const server = await startEmbedded(join(home, 'postgres'))
  ends.push(server.stop)
  const config = readConfig({
    DATABASE_URL: `postgresql://${server.user}@/${server.database}?host=${encodeURIComponent(server.host)}`,
    HERALD_DATA: join(home, 'data'),
    HERALD_PORT: '0',
    HERALD_CAPTURE: '1',
    HERALD_LOG_LEVEL: 'silent',
  })
  const http = await start(config, { only: 'http' })
  ends.push(http.stop)
  const address = `http://127.0.0.1:${http.port}`
  const planted = await plant({ parts: http.parts, address })
  const engine = await start(config, { only: 'engine' })
  ends.push(engine.stop)
  await isFinished(planted, http.parts.db.sql)
  const cookieOf = async (who: Who) => (await signIn(http.parts, planted.people[who])).cookie
  return { address, planted, cookieOf }
}

/** The planted job is sent by the engine. */
async function isFinished({ service }: Planted, sql: Awaited<ReturnType<typeof start>>['parts']['db']['sql']) {
  for (;;) {
    const [row] = await sql<{ left: number }>`
      select count(*)::integer as left from states where job_id = ${service.jobs.finished} and status <> 'delivered'`
    if (row?.left === 0) return
    await new Promise(resume => setTimeout(resume, 100))
  }
}

async function shoot(
  browser: Browser,
  address: string,
  planted: Planted,
  cookieOf: (who: Who) => Promise<{ name: string; value: string }>,
): Promise<string[]> {
  mkdirSync(FOLDER, { recursive: true })
  const views = pagesOf(pages, planted.service, planted).filter(({ name }) =>
    isForDocs && words.length === 0
      ? DOCS.some(one => one.name === name)
      : words.length === 0 || words.some(word => name.includes(word)),
  )
  for (const who of new Set(views.map(view => view.who))) {
    const cookie = who && (await cookieOf(who))
    for (const { look, ...options } of LOOKS) {
      const context = await openContext(browser, address, { ...options, locale, ...(cookie && { cookie }) })
      const page = await context.newPage()
      for (const { name, path } of views.filter(view => view.who === who)) {
        await page.goto(`${address}${CONSOLE}${path}`)
        await settle(page)
        const picture = isForDocs && DOCS.find(one => one.name === name && one.look === look)
        if (picture) await page.screenshot({ path: `docs/console/${picture.file}.png` })
        await page.screenshot({ path: join(FOLDER, `${name}.${look}.png`), fullPage: true })
      }
      for (const complaint of context.complaints()) console.error(complaint)
      await context.close()
    }
  }
  return views.map(({ name }) => name)
}

/** Frames and what the script adds. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load')
  await page.waitForTimeout(150)
}

function index(names: readonly string[]): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Pages of the console</title>
<style>body{font:16px system-ui;margin:2rem}section{margin-bottom:3rem}img{vertical-align:top;border:1px solid #ccc;max-width:40vw;margin:0 1rem 1rem 0}img.phone{max-width:15vw}</style>
<h1>Pages of the console</h1>
${names
  .map(
    name =>
      `<section><h2>${name}</h2>${LOOKS.map(({ look }) => `<a href="${name}.${look}.png"><img class="${look}" src="${name}.${look}.png" alt="${name}, ${look}"></a>`).join('')}</section>`,
  )
  .join('\n')}
</html>
`
}
