// Small things of the console that only a real browser shows: what a page says when Herald is gone, fields that belong to a choice,
// dialogs, and print.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerWith } from '../support/world.ts'
import { BROWSER, launch, openContext, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('details of the console')

describe.skipIf(!BROWSER)('in a browser', () => {
  let here: ConsolePlace
  let browser: Browser
  let at: string

  beforeAll(async () => {
    here = await place()
    browser = await launch()
    at = `${CONSOLE}/s/${here.planted.service.id}`
  }, 120_000)
  afterAll(() => browser?.close())

  async function open(
    who: 'sender' | 'author' | 'manager',
    work: (page: Page) => Promise<void>,
    address = here.address,
  ) {
    const { cookie } = await here.signIn(who)
    const context = await openContext(browser, address, { cookie })
    try {
      await work(await context.newPage())
    } finally {
      await context.close()
    }
  }

  /** In front of Herald; what it passes on ends when it is cut. */
  async function proxy() {
    let isCut = false
    const server: Server = createServer((request, reply) => {
      if (isCut) return void request.socket.destroy()
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk))
      request.on('end', () => {
        const { origin: _, ...headers } = request.headers as Record<string, string>
        void fetch(here.address + request.url, {
          method: request.method ?? 'GET',
          redirect: 'manual',
          headers: { ...headers, ...(request.method === 'POST' && { origin: here.address }) },
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        })
          .then(async answer => {
            const {
              'content-length': _length,
              'content-encoding': _encoding,
              ...rest
            } = Object.fromEntries(answer.headers)
            reply.writeHead(answer.status, rest)
            for await (const chunk of answer.body ?? []) reply.write(chunk)
            reply.end()
          })
          .catch(() => reply.destroy())
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return {
      address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      cut() {
        isCut = true
        server.closeAllConnections()
      },
      restore() {
        isCut = false
      },
      stop: () => {
        server.closeAllConnections()
        server.close()
      },
    }
  }

  test('a page of a job says that its numbers are old while Herald is gone', async () => {
    const key = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const { body } = await key.post('/v2/notifications/bulk', {
      ...{ name: 'gone.csv', template_id: here.planted.service.templates.rightToLeft },
      rows: [
        ['email address', 'name'],
        ['a@example.org', 'A'],
      ],
    })
    const between = await proxy()
    try {
      await open(
        'sender',
        async page => {
          await page.goto(`${between.address}${at}/jobs/${body.data.id}`)
          await page.locator('[data-again]').waitFor({ state: 'hidden', timeout: 10_000 })
          const before = await page.locator('[data-put="note"]').innerText()
          between.cut()
          await page.getByText('No connection to Herald. These numbers are old.').first().waitFor({ timeout: 20_000 })
          expect(await page.locator('[data-pulse]').isVisible()).toBe(false)
          between.restore()
          await page.locator('[data-put="note"]', { hasText: before }).waitFor({ timeout: 30_000 })
          await page.locator('[data-again]').waitFor({ state: 'hidden', timeout: 10_000 })
        },
        between.address,
      )
    } finally {
      between.stop()
    }
  }, 90_000)

  test('the preview of the editor says that it is old while Herald is gone', async () => {
    const between = await proxy()
    try {
      await open(
        'author',
        async page => {
          await page.goto(`${between.address}${at}/templates/${here.planted.service.templates.email}`)
          const lost = page.getByText('No connection to Herald. The preview shows an earlier text.')
          expect(await lost.isVisible()).toBe(false)
          between.cut()
          await page.locator('#body').press('End')
          await page.locator('#body').pressSequentially(' more')
          await lost.waitFor({ state: 'visible', timeout: 10_000 })
          between.restore()
          // It asks again by itself.
          await lost.waitFor({ state: 'hidden', timeout: 20_000 })
        },
        between.address,
      )
    } finally {
      between.stop()
    }
  }, 90_000)

  test('day and time are only there for “Later”', async () => {
    await open('sender', async page => {
      await page.goto(`${here.address}${at}/send?template=${here.planted.service.templates.email}`)
      const day = page.getByLabel('Day', { exact: true })
      expect(await day.isVisible()).toBe(false)
      await page.getByText('Later, up to 4 days ahead').click()
      expect(await day.isVisible()).toBe(true)
    })
  }, 60_000)

  test('the buttons of a dialog have space above them', async () => {
    await open('sender', async page => {
      await page.goto(`${here.address}${at}/messages/${here.planted.service.messages.scheduled}`)
      await page.getByRole('button', { name: 'Cancel this message' }).first().click()
      const space = await page.locator('dialog#cancel .dialog-body').evaluate(body => {
        const [text, form] = [body.querySelector('p'), body.querySelector('form')]
        return (form?.getBoundingClientRect().top ?? 0) - (text?.getBoundingClientRect().bottom ?? 0)
      })
      expect(space).toBeGreaterThanOrEqual(12)
    })
  }, 60_000)

  test('a printed e-mail has a page for its frame, and can be opened alone to print all of it', async () => {
    await open('sender', async page => {
      await page.goto(`${here.address}${at}/messages/${here.planted.service.messages.delivered}`)
      const alone = page.getByRole('link', { name: 'Open alone, to print all of it' })
      expect(await alone.getAttribute('href')).toMatch(/\/rendered$/)
      await page.emulateMedia({ media: 'print' })
      const height = await page.locator('.mail iframe').evaluate(frame => frame.getBoundingClientRect().height)
      expect(height).toBeGreaterThan(800)
    })
  }, 60_000)
})
