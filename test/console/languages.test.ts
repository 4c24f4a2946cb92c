// The console in other languages. Every page is opened in a pseudo language, in which each translated text stands in ⟦ ⟧: what
// stands outside is data, or a text that was forgotten.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pages } from '../../src/console/routes.ts'
import { french } from '../../src/console/words/fr.ts'
import {
  BROWSER,
  launch,
  openContext,
  shapeOf,
  violationsOf,
  warnWithoutBrowser,
  widerThanWindow,
} from './support/browser.ts'
import { EXAMPLES, filled, pagesOf } from './support/examples.ts'
import { place } from './support/place.ts'
import type { Who } from './support/plant.ts'
import { CONSOLE, type SignedInAs } from './support/session.ts'
import { untranslatedIn } from './support/untranslated.ts'

const here = await place()
const headers = { 'accept-language': 'fr-CA, fr;q=0.9, en;q=0.5' }
const sessions = new Map<Who, SignedInAs>()
async function sessionOf(who: Who): Promise<SignedInAs> {
  const session = sessions.get(who) ?? (await here.signIn(who))
  sessions.set(who, session)
  return session
}

describe('the language', () => {
  test('is that of the browser until the person chooses one', async () => {
    const author = await here.signIn('author')
    const read = async () => (await here.request(author, '/account', { headers })).text
    expect(await read()).toMatch(/<html lang="fr".*<h1>Mon compte<\/h1>/s)
    expect((await here.request(author, '/account')).text).toMatch(/<html lang="en".*<h1>My account<\/h1>/s)

    const form = { name: 'Ada', time_zone_name: 'Europe/Paris', theme: 'auto', language: 'en' }
    const saved = await here.request(author, '/account', { form, headers })
    expect(saved.location).toContain('done=saved')
    expect(await read()).toMatch(/<html lang="en".*<h1>My account<\/h1>/s)
    expect(await read()).toContain('<option value="en" selected>English</option>')

    await here.request(author, '/account', { form: { ...form, language: 'fr' } })
    expect((await here.request(author, '/account?done=saved')).text).toContain('Votre compte est enregistré.')
    const wrong = await here.request(author, '/account', { form: { ...form, language: 'tlh' } })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('Choisissez une langue de la liste.')
  })

  test('is chosen by a link where nobody is signed in, and the browser keeps it', async () => {
    const { text } = await here.request(null, '/sign-in?return=%2Faccount')
    const link = /<a href="\/console([^"]+)" lang="fr" hreflang="fr"[^>]*>Français<\/a>/.exec(text)?.[1] ?? ''
    const french = await here.request(null, link.replaceAll('&amp;', '&'))
    expect(french.text).toContain('<html lang="fr"')
    expect(french.text).toContain('name="return" value="/account"')
    expect(french.text).toContain('>English</a>')
    const cookie = french.headers.getSetCookie().find(one => one.startsWith('herald-language='))
    expect(cookie).toMatch(/^herald-language=fr; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const kept = { cookie: 'herald-language=fr', 'accept-language': 'en' }
    expect((await here.request(null, '/sign-in/sent', { headers: kept })).text).toContain('<html lang="fr"')
    const unknown = await here.request(null, '/sign-in?language=tlh', { headers })
    expect([unknown.text.includes('<html lang="fr"'), unknown.headers.getSetCookie().join()]).toEqual([
      true,
      expect.not.stringContaining('language'),
    ])
    const strange = { cookie: 'herald-language=<b>', 'accept-language': 'en' }
    expect((await here.request(null, '/sign-in', { headers: strange })).text).toContain('<html lang="en"')
    // A person who has chosen a language keeps it.
    const chosen = await here.signIn('viewer')
    const form = { name: 'Vi', time_zone_name: 'Europe/Paris', theme: 'auto', language: 'en' }
    await here.request(chosen, '/account', { form })
    const both = { ...headers, cookie: `${chosen.cookie.name}=${chosen.cookie.value}; herald-language=fr` }
    expect((await here.request(chosen, '/account', { headers: both })).text).toContain('<html lang="en"')
    await here.request(chosen, '/account', { form: { ...form, language: 'auto' } })
  })

  test('is that of the browser where nobody is signed in, also for errors', async () => {
    expect((await here.request(null, '/sign-in', { headers })).text).toContain('Se connecter')
    const unknown = await here.request(null, '/nothing', { headers })
    expect(unknown.text).toContain('Il n’y a rien ici')
    expect(unknown.text).toContain('<html lang="fr"')
    const foreign = await here.request(null, '/sign-in', {
      form: {},
      headers: { ...headers, origin: 'https://elsewhere.example' },
    })
    expect(foreign.text).toContain('Ce formulaire ne vient pas de Herald')
  })

  test('also writes times and numbers', async () => {
    const manager = await here.signIn('manager')
    const { text } = await here.request(manager, `/s/${here.planted.service.id}`, { headers })
    expect(text).toMatch(/<p class="lede">(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) \d/)
  })
})

// French words are longer: pages with narrow places, such as tables, tabs and rows of buttons.
const NARROW = [
  'overview',
  'messages',
  'messages-id',
  'templates',
  'templates-id',
  'templates-id-text',
  'templates-id-versions',
  'team',
  'account',
  'operator-services',
  'sign-in',
]

warnWithoutBrowser('French pages')
describe.skipIf(!BROWSER)('pages in French', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, 120_000)
  afterAll(() => browser?.close())

  test.each(NARROW)('%s', { timeout: 60_000 }, async name => {
    const shown = pagesOf(pages, here.planted.service, here.planted).find(one => one.name === name)
    const cookie = shown?.who ? { cookie: (await sessionOf(shown.who)).cookie } : {}
    const context = await openContext(browser, here.address, { locale: 'fr-FR', ...cookie })
    try {
      const page = await context.newPage()
      await page.goto(`${here.address}${CONSOLE}${shown?.path}`)
      expect((await shapeOf(page)).lang).toBe('fr')
      for (const width of [320, 390, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await widerThanWindow(page), `${width} px`).toEqual([])
      }
      expect(await violationsOf(page)).toEqual([])
      expect(context.complaints()).toEqual([])
    } finally {
      await context.close()
    }
  })
})

describe('every text goes through the catalogue', () => {
  // Other files of this thread have the same catalogue.
  const real = { ...french }
  beforeAll(pretend)
  afterAll(() => void Object.assign(french, real))

  test('of pages', { timeout: 120_000 }, async () => {
    const found: string[] = []
    for (const { name, path, who } of pagesOf(pages, here.planted.service, here.planted)) {
      const { text } = await here.request(who && (await sessionOf(who)), path, { headers })
      found.push(...untranslatedIn(text).map(one => `${name}: ${one}`))
    }
    expect(found).toEqual([])
  })

  test('of what forms answer that were sent empty', { timeout: 120_000 }, async () => {
    const found: string[] = []
    const acts = Object.entries(EXAMPLES).filter(([, { kind }]) => kind === 'act')
    for (const [row, example] of acts.sort(([, a], [, b]) => (a.order ?? 0) - (b.order ?? 0))) {
      const path = row.slice('POST '.length)
      if (path === '/sign-out') continue
      const who = path.startsWith('/operator') ? 'operator' : 'manager'
      const { service } = here.planted
      const address = filled(path, service, example.ids?.(service, here.planted))
      const { text, headers: sent } = await here.request(await sessionOf(who), address, { form: {}, headers })
      if (sent.get('content-type')?.startsWith('text/html'))
        found.push(...untranslatedIn(text).map(one => `${row}: ${one}`))
    }
    expect(found).toEqual([])
  })
})

/** Every text becomes its English in ⟦ ⟧; values stand outside. */
function pretend(): void {
  const catalogue = french as Record<string, string>
  for (const key of Object.keys(catalogue)) catalogue[key] = `⟦${key.replace(/\{\d+\}/g, '⟧$&⟦')}⟧`
}
