// The captured inbox in a real browser: messages arrive, are found, read in every view, and deleted.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, launch, openContext, violationsOf, warnWithoutBrowser } from './support/browser.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { Who } from './support/plant.ts'
import { CONSOLE } from './support/session.ts'

warnWithoutBrowser('the captured inbox')

describe.skipIf(!BROWSER)('the captured inbox', { timeout: 120_000 }, () => {
  let here: ConsolePlace
  let browser: Browser
  const contexts: Awaited<ReturnType<typeof openContext>>[] = []

  beforeAll(async () => {
    ;[here, browser] = await Promise.all([place({}, { engine: true }), launch()])
  }, 120_000)
  afterAll(() => browser?.close())

  async function openAs(who: Who, path: string, options: Parameters<typeof openContext>[2] = {}): Promise<Page> {
    const context = await openContext(browser, here.address, { cookie: (await here.signIn(who)).cookie, ...options })
    contexts.push(context)
    const page = await context.newPage()
    await page.goto(`${here.address}${CONSOLE}${path}`)
    return page
  }
  const complaints = () => contexts.flatMap(context => context.complaints())
  const inbox = () => `/s/${here.planted.service.id}/inbox`

  async function send(to: string, personalisation: object, template = here.planted.service.templates.email) {
    const response = await fetch(`${here.address}/v2/notifications/email`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey-v1 ${here.planted.service.keys[1]?.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ email_address: to, template_id: template, personalisation }),
    })
    expect(response.status).toBe(201)
    return ((await response.json()) as { id: string }).id
  }
  const values = { 'first name': 'Kim', 'permit number': 'QX-9', zone: 'C', 'end date': '1 May 2027', discount: 'no' }

  test('a new message waits behind a link, is unread, and opens with every view', async () => {
    const page = await openAs('developer', inbox())
    await send('new.one@example.org', values)
    const news = page.getByRole('status').getByRole('link', { name: '1 new message' })
    await news.waitFor({ timeout: 20_000 })
    await news.click()
    const mail = page.locator('.mails a').first()
    expect(await mail.innerText()).toContain('new.one@example.org')
    expect(await mail.textContent()).toContain('Unread:')
    expect(await mail.textContent()).toContain('Test key')
    await mail.click()
    await page.getByRole('heading', { level: 2, name: 'Your permit QX-9 ends on 1 May 2027' }).waitFor()
    expect(page.url()).not.toContain('example.org')
    expect(await page.getByText('Simulated (test key)').count()).toBe(1)
    expect(await page.locator('.mails a').first().textContent()).not.toContain('Unread:')
    await page.frameLocator('.mail iframe').getByRole('heading', { name: 'Your permit ends soon' }).waitFor()
    const tab = (name: string) => page.locator('.tabs').getByRole('link', { name })
    await tab('Phone').click()
    await page.frameLocator('.mail-phone iframe').getByRole('heading', { name: 'Your permit ends soon' }).waitFor()
    expect((await page.locator('.mail-phone').boundingBox())?.width).toBeLessThan(400)
    await tab('Text').click()
    expect(await page.locator('article pre').innerText()).toContain('Dear Kim, your permit')
    await tab('Source').click()
    expect(await page.locator('article pre').innerText()).toMatch(/^From: Parking permits <permits@/)
    await tab('Headers').click()
    expect(await page.locator('article').innerText()).toContain('Message-ID')
    await tab('Links').click()
    expect(await page.locator('article').innerText()).toContain('https://permits.eastmere.example/renew')
    await tab('Links').click()
    expect(await page.getByText('Form is right').count()).toBe(1)
    expect(complaints()).toEqual([])
  })

  test('an attachment is a file to save, never a page', async () => {
    const file = {
      file: Buffer.from('<b>a</b>,b\n').toString('base64'),
      filename: 'Liste é.csv',
      sending_method: 'attach',
    }
    const template = await made('Files', 'Dear ((name)) ((file))')
    const id = await send('files@example.org', { name: 'Kim', file }, template)
    const page = await openAs('manager', inbox())
    await page.waitForFunction(
      ([path]) => fetch(String(path)).then(answer => answer.ok),
      [`${CONSOLE}${inbox()}/${id}`],
      { timeout: 20_000, polling: 200 },
    )
    await page.goto(`${here.address}${CONSOLE}${inbox()}/${id}?view=attachments`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Liste é.csv' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('Liste é.csv')
    const manager = await here.signIn('manager')
    const answer = await fetch(`${here.address}${CONSOLE}${inbox()}/${id}/files/0`, {
      headers: { cookie: `${manager.cookie.name}=${manager.cookie.value}` },
    })
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    expect(await answer.text()).toBe('<b>a</b>,b\n')
    const [source] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download', exact: true }).click(),
    ])
    expect(source.suggestedFilename()).toBe(`${id}.eml`)
  })

  test('a recipient and words are found without standing in the address; without script', async () => {
    const page = await openAs('developer', inbox(), { javaScriptEnabled: false })
    const search = async (words: string) => {
      await page.getByRole('searchbox', { name: 'To, subject or words' }).fill(words)
      const before = page.url()
      await page.keyboard.press('Enter')
      await page.waitForURL(url => url.href !== before)
    }
    await search('K.Lindgren@example.net')
    expect(await page.locator('.mails li').count()).toBe(1)
    expect(page.url()).toMatch(/\?to=[0-9a-f]{14}(\.[0-9a-f]{14}){3}$/)
    await search('VISITOR code')
    expect(page.url()).toMatch(/\?words=[\w-]+$/)
    expect(decodeURIComponent(page.url())).not.toMatch(/visitor/i)
    expect(await page.locator('.mails li').count()).toBe(1)
    await page.locator('.mails a').first().click()
    expect(await page.locator('.bubble').innerText()).toContain('your visitor code is 4471')
    expect(await page.locator('article .hint').first().innerText()).toMatch(
      /^\d parts?, \d+ of \d+ characters, (GSM-7|UCS-2)$/,
    )
    await search('nobody wrote these words')
    expect(await page.getByText('No message matches.').count()).toBe(1)
    await page.getByRole('link', { name: 'Show all' }).click()
    expect(await page.locator('.mails li').count()).toBeGreaterThan(3)
  })

  test('what was searched for is deleted after a question, and nothing else; live and test are marked', async () => {
    const page = await openAs('developer', inbox())
    await send('gone.one@example.org', { ...values, 'permit number': 'GONE-1' })
    await send('gone.one@example.org', { ...values, 'permit number': 'GONE-2' })
    await send('gone.two@example.org', { ...values, 'permit number': 'GONE-3' })
    await page.getByRole('status').getByRole('link', { name: '3 new messages' }).click({ timeout: 20_000 })
    const tags = await page.locator('.mails .tag').allInnerTexts()
    expect(new Set(tags)).toEqual(new Set(['Test key', 'Live']))
    const before = await countOf(page)
    const search = async (words: string) => {
      await page.getByRole('searchbox', { name: 'To, subject or words' }).fill(words)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Show all' }).waitFor()
    }
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete these', exact: true }).click()
      await page.getByRole('dialog', { name: 'Delete these messages?' }).waitFor()
      await page.getByRole('button', { name: 'Delete the messages' }).click()
      await page.getByText('The messages that you searched for are deleted from the inbox.').waitFor()
    }
    await search('gone.one@example.org')
    expect(await countOf(page)).toBe(2)
    expect(await violationsOf(page)).toEqual([])
    await remove()
    expect(await countOf(page)).toBe(before - 2)
    await search('permit GONE-3')
    expect(await countOf(page)).toBe(1)
    await remove()
    expect(await countOf(page)).toBe(before - 3)
    expect(complaints()).toEqual([])
  })

  test('an address that was changed deletes nothing', async () => {
    const developer = await here.signIn('developer')
    const count = async () => {
      const [row] = await here.parts.db.sql<{ many: number }>`select count(*)::integer as many from inbox`
      return row?.many
    }
    const before = await count()
    for (const [name, value] of [
      ['words', 'changed'],
      ['to', 'nothing'],
    ] as const)
      expect((await here.request(developer, `${inbox()}/empty`, { form: { [name]: value } })).status).toBe(303)
    expect(await count()).toBe(before)
  })

  const countOf = (page: Page) => page.locator('.mails li').count()

  test('one message is deleted after a question, then all; the list of messages keeps them', async () => {
    const page = await openAs('manager', `${inbox()}/${here.planted.service.messages.delivered}`)
    await page.getByRole('button', { name: 'Delete this message' }).click()
    await page.getByRole('button', { name: 'Keep it' }).click()
    const before = await page.locator('.mails li').count()
    await page.getByRole('button', { name: 'Delete this message' }).click()
    await page.getByRole('button', { name: 'Delete the message' }).click()
    await page.getByText('The message is deleted from the inbox.').waitFor()
    expect(await page.locator('.mails li').count()).toBe(before - 1)
    await page.getByRole('button', { name: 'Empty the inbox' }).first().click()
    await page.locator('dialog').getByRole('button', { name: 'Empty the inbox' }).click()
    await page.getByText('The inbox is empty.').waitFor()
    expect(await page.getByText('Nothing was captured yet').count()).toBe(1)
    await page.goto(
      `${here.address}${CONSOLE}/s/${here.planted.service.id}/messages/${here.planted.service.messages.delivered}`,
    )
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    const { sql } = here.parts.db
    const acts = await sql<{ action: string; actor_kind: string }>`
      select action, actor_kind from audit where action in ('captured message deleted', 'inbox emptied') order by id`
    // By words, by recipient, this one, then all.
    expect(acts.map(({ action, actor_kind }) => [action, actor_kind])).toEqual([
      ['captured message deleted', 'person'],
      ['captured message deleted', 'person'],
      ['captured message deleted', 'person'],
      ['inbox emptied', 'person'],
    ])
  })

  test('the key Delete asks about the message that has the focus, else about the open one', async () => {
    await send('kept@example.org', values)
    await send('deleted@example.org', values)
    const page = await openAs('manager', inbox())
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.locator('.mails li').count()
        },
        { interval: 300, timeout: 20_000 },
      )
      .toBe(2)
    const asked = page.locator('#delete-listed')
    await page.keyboard.press('Delete')
    expect(await asked.isVisible()).toBe(false)
    const names = await page.locator('.mails a bdi:first-of-type').allInnerTexts()
    const at = names.findIndex(name => name.includes('deleted@example.org'))
    for (let one = 0; one <= at; one++) await page.keyboard.press('j')
    await page.keyboard.press('Delete')
    await asked.getByText('deleted@example.org').waitFor()
    await page.keyboard.press('Escape')
    expect(await asked.isVisible()).toBe(false)
    expect(await page.locator(':focus').innerText()).toContain('deleted@example.org')
    await page.keyboard.press('Delete')
    await asked.getByRole('button', { name: 'Delete the message' }).click()
    await page.getByText('The message is deleted from the inbox.').waitFor()
    expect(await page.locator('.mails').innerText()).not.toContain('deleted@example.org')
    await page.locator('.mails a').first().click()
    await page.locator('main h1').click()
    await page.keyboard.press('Delete')
    await asked.getByText('kept@example.org').waitFor()
    await asked.getByRole('button', { name: 'Keep it' }).click()
    expect(await page.locator('.mails li').count()).toBe(1)
    expect(complaints()).toEqual([])
  })

  test('an operator sees mails of Herald itself, and no messages of services', async () => {
    const page = await openAs('operator', '/operator/inbox')
    const mails = await page.locator('.mails a').allInnerTexts()
    expect(mails.join()).toContain('Sign in to Herald')
    expect(mails.join()).not.toContain('permit ends')
    await page.locator('.mails a', { hasText: 'Sign in to Herald' }).first().click()
    await page.getByRole('link', { name: 'Text', exact: true }).click()
    expect(await page.locator('article pre').innerText()).toContain('within 15 minutes')
    expect(complaints()).toEqual([])
  })

  async function made(name: string, content: string): Promise<typeof here.planted.service.templates.email> {
    const response = await fetch(`${here.address}/v2/manage-template`, {
      method: 'POST',
      headers: {
        authorization: `ApiKey-v1 ${here.planted.service.keys[0]?.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        ...{ name, template_type: 'email', subject: name, content },
        template_category_id: '207b293c-2ae5-48e8-836d-fcabd60b2153',
      }),
    })
    return ((await response.json()) as { id: typeof here.planted.service.templates.email }).id
  }
})
