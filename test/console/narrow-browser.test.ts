// Every page with data as it is in real services, on small screens: a long sender name, a subject of 80 characters, a reference of
// 20 digits and a long address. Nothing scrolls sideways and no text is broken into columns of single letters.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pages } from '../../src/console/routes.ts'
import type { Id } from '../../src/core/id.ts'
import { change } from '../../src/services/change.ts'
import { callerWith } from '../support/world.ts'
import { BROWSER, inOwnWorld, launch, openContext, warnWithoutBrowser, widerThanWindow } from './support/browser.ts'
import { pagesOf } from './support/examples.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { Who } from './support/plant.ts'
import { CONSOLE } from './support/session.ts'

const WIDTHS = [320, 390, 768]
const SENDER = 'Parking permits and residents’ services of the City of Eastmere North'
const SUBJECT = 'Your appointment on 3 December at the residents’ parking counter of the City Hal'
const REFERENCE = '20261119000418273645'
const ADDRESS = 'maximiliane.von-hohenberg-lindgren@residents.eastmere-north.example'
const JOB = 'renewals-of-residents-permits-2026-12-zone-c-second-reminder-final.csv'

warnWithoutBrowser('narrow screens')

describe.skipIf(!BROWSER)('pages with long texts on small screens', { timeout: 240_000 }, () => {
  let here: ConsolePlace
  let browser: Browser
  let message: Id

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
    const { service } = here.planted
    await change(here.parts, { kind: 'operator', name: 'tests' }, service.id, { name: SENDER })
    message = await plantLongTexts()
  }, 120_000)
  afterAll(() => browser?.close())

  /** A message, a job and a template with long texts, in the place of planted ones. */
  async function plantLongTexts(): Promise<Id> {
    const { service } = here.planted
    const key = callerWith(here.address, String(service.keys[0]?.key))
    const { body: template } = await key.post('/v2/manage-template', {
      ...{
        name: SUBJECT,
        template_type: 'email',
        subject: '((subject))',
        content: 'Dear ((name)), come to the counter.',
      },
      template_category_id: '207b293c-2ae5-48e8-836d-fcabd60b2153',
    })
    const { body: sent } = await key.post('/v2/notifications/email', {
      ...{ email_address: ADDRESS, template_id: template.id, reference: REFERENCE },
      personalisation: { subject: SUBJECT, name: 'Maximiliane' },
    })
    const { body: job } = await key.post('/v2/notifications/bulk', {
      ...{ template_id: template.id, name: JOB, reference: REFERENCE },
      rows: [
        ['email address', 'subject', 'name'],
        [ADDRESS, SUBJECT, 'Maximiliane'],
      ],
    })
    const isDelivered = async () => (await key.get(`/v2/notifications/${sent.id}`)).body.status === 'delivered'
    await vi.waitUntil(isDelivered, { timeout: 30_000 })
    Object.assign(service.messages, { 'permanent-failure': sent.id, delivered: sent.id })
    Object.assign(service.templates, { email: template.id })
    Object.assign(service.jobs, { mixed: job.data.id })
    return sent.id
  }

  async function openAs(who: Who | null): Promise<Page> {
    const context = await openContext(browser, here.address, who ? { cookie: (await here.signIn(who)).cookie } : {})
    return context.newPage()
  }

  /** What is wrong with the page at each width. */
  async function problemsOf(page: Page): Promise<string[]> {
    const problems: string[] = []
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const found = [...(await widerThanWindow(page)), ...(await squeezedIn(page))]
      problems.push(...found.map(problem => `${width} px: ${problem}`))
    }
    return problems
  }

  test.each(['manager', 'developer', 'sender', 'operator', null] as const)('every page of a %s', async who => {
    const { planted } = here
    const page = await openAs(who)
    const problems: string[] = []
    for (const one of pagesOf(pages, planted.service, planted).filter(one => one.who === who)) {
      await page.goto(`${here.address}${CONSOLE}${one.path}`)
      problems.push(...(await problemsOf(page)).map(problem => `${one.name} at ${problem}`))
    }
    expect(problems).toEqual([])
  })

  test('the subject above an e-mail is as wide as the e-mail, the sender stands below it', async () => {
    const { service } = here.planted
    const page = await openAs('manager')
    for (const [path, preview] of [
      [`/messages/${message}`, 'main .mail'],
      [`/templates/${service.templates.email}`, '.preview-wide .mail'],
    ]) {
      await page.goto(`${here.address}${CONSOLE}/s/${service.id}${path}`)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const [mail, subject, sender] = await Promise.all(
          [preview, `${preview} .mail-head > :first-child`, `${preview} .mail-head > :last-child`].map(
            async selector => {
              const box = await page.locator(String(selector)).first().boundingBox()
              if (!box) throw new Error(`${selector} is not there`)
              return box
            },
          ),
        )
        const at = `${path} at ${width} px`
        expect(subject?.width, at).toBeGreaterThan((mail?.width ?? 0) - 48)
        expect(sender?.y, at).toBeGreaterThanOrEqual((subject?.y ?? 0) + (subject?.height ?? 0))
      }
    }
  })
})

/** Texts of ten characters or more that are broken into lines of fewer than six on average. */
const squeezedIn = (page: Page): Promise<string[]> =>
  inOwnWorld(
    page,
    `(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const squeezed = []
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const words = text.data.trim()
        const style = getComputedStyle(text.parentElement)
        if (words.length < 10 || style.clipPath !== 'none' || !text.parentElement.checkVisibility()) continue
        const range = document.createRange()
        range.selectNodeContents(text)
        const lines = new Set([...range.getClientRects()].map(one => Math.round(one.top))).size
        if (lines >= 3 && words.length / lines < 6)
          squeezed.push(lines + ' lines: ' + words.slice(0, 60) + ' in ' + text.parentElement.outerHTML.slice(0, 80))
      }
      return squeezed
    })()`,
  )
