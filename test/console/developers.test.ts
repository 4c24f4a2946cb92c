// Keys, safelist, request log and webhooks over HTTP, as a person without scripts uses them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { find } from '../../src/services/find.ts'
import { create } from '../../src/templates/create.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { CATEGORY, callerWith, OPERATOR } from '../support/world.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let receiver: Receiver
let developer: SignedInAs
let at: string
beforeAll(async () => {
  receiver = await startReceiver()
  here = await place(
    {
      HERALD_WEBHOOK_ALLOW: '127.0.0.1',
      HERALD_WEBHOOK_PORTS: '1-65535',
      HERALD_WEBHOOK_SCHEMES: 'http,https',
    },
    { engine: true },
  )
  developer = await here.signIn('developer')
  at = `/s/${here.planted.service.id}`
})
afterAll(() => receiver?.stop())

const get = (path: string, who: SignedInAs = developer) => here.request(who, at + path)
const post = (path: string, form: Record<string, string> = {}, who: SignedInAs = developer) =>
  here.request(who, at + path, { form })

const field = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''
const plain = (text: string) => text.replaceAll('&#39;', "'").replaceAll('&amp;', '&').replaceAll('&quot;', '"')

describe('keys', () => {
  const make = async (more: Record<string, string> = {}) => {
    const id = field((await get('/keys/new')).text, 'id')
    const form = { id, name: 'Continuous integration', type: 'test', ends: '90', ...more }
    return { id, form, page: await post('/keys/new', form) }
  }
  const keyIn = (text: string) => /<code id="key">([^<]+)<\/code>/.exec(text)?.[1] ?? ''

  test('a key is made, shown once, and works', async () => {
    const { id, form, page } = await make()
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-store')
    const key = keyIn(page.text)
    expect(key).toMatch(/^herald-continuous_integration-[0-9a-f-]{73}$/)
    expect(page.text).toContain(`Authorization: ApiKey-v1 ${key}`)
    expect((await callerWith(here.address, key).get('/v2/templates')).status).toBe(200)

    // Loaded again, the same form makes no second key and does not show it.
    const again = await post('/keys/new', form)
    expect([again.status, again.location]).toEqual([303, `/console${at}/keys?done=created-before`])
    const list = await get('/keys?done=created-before')
    expect(list.text).toContain('Continuous integration')
    expect(list.text).toContain('It is shown only once')
    expect(list.text).not.toContain(key.slice(-36))
    const [row] = await here.parts.db.sql<{ days: number; type: string }>`
      select key_type as type, round(extract(epoch from expires_at - created_at) / 86400)::integer as days
      from keys where id = ${id}`
    expect(row).toEqual({ days: 90, type: 'test' })
    const [entry] = await here.parts.db.sql<{ actor_kind: string; actor_id: string }>`
      select actor_kind, actor_id from audit where subject_id = ${id} and action = 'key created'`
    expect(entry).toEqual({ actor_kind: 'person', actor_id: here.planted.people.developer.id })
  })

  test.each([
    ['test', 'email'],
    ['team', 'email'],
    ['normal', 'email'],
    ['test', 'sms'],
  ] as const)('the first call of a %s key sends the newest template (%s) as it is printed', async (type, kind) => {
    const { parts, planted } = here
    const isEmail = kind === 'email'
    const manager = await here.signIn('manager')
    const made = await create(parts, OPERATOR, await find(parts, planted.service.id), {
      name: `First call of ${type}`,
      template_type: kind,
      ...(isEmail && { subject: "((name))'s permit" }),
      content: "Dear ((Name)), it is ((colour))'s.((late??\n\nYou are late.))",
      template_category_id: CATEGORY.general,
    })
    const id = field((await get('/keys/new', manager)).text, 'id')
    const { text } = await post('/keys/new', { id, name: 'First call', type, ends: '90' }, manager)
    const [, path = ''] = /curl -X POST "http[^"]*?(\/v2[^"]*)"/.exec(plain(text)) ?? []
    const json = /-d '([\s\S]*?)'<\/pre>/.exec(plain(text))?.[1]?.replaceAll("'\\''", "'") ?? ''
    expect(JSON.parse(json)).toMatchObject({
      template_id: made.id,
      personalisation: { [isEmail ? 'name' : 'Name']: '…', colour: '…', late: 'yes' },
    })
    const sent = await callerWith(here.address, keyIn(text)).post(path, JSON.parse(json))
    expect([sent.status, sent.body]).toEqual([201, expect.objectContaining({ id: expect.any(String) })])
  })

  test('the first call of a team key goes to the address of its maker where the team knows no number of theirs', async () => {
    const { parts, planted } = here
    await create(parts, OPERATOR, await find(parts, planted.service.id), {
      name: 'Newest, by text message',
      template_type: 'sms',
      content: 'Hello ((name))',
      template_category_id: CATEGORY.general,
    })
    const { page } = await make({ name: 'First call by e-mail', type: 'team' })
    const json = /-d '([\s\S]*?)'<\/pre>/.exec(plain(page.text))?.[1]?.replaceAll("'\\''", "'") ?? ''
    expect(JSON.parse(json).email_address).toBe(planted.people.developer.email_address)
    expect(
      (await callerWith(here.address, keyIn(page.text)).post('/v2/notifications/email', JSON.parse(json))).status,
    ).toBe(201)
  })

  test('no one gives a key a permission that they do not have themselves', async () => {
    const form = await get('/keys/new')
    expect(form.text).not.toContain('value="templates"')
    expect(form.text).toContain('Only a manager can create a key that manages templates.')
    expect((await here.request(await here.signIn('manager'), `${at}/keys/new`)).text).toContain('value="templates"')
    const before = await here.changes()
    for (const type of ['normal', 'team', 'test']) {
      const { page } = await make({ name: 'More than I may', type, may: 'templates' })
      expect(page.status).toBe(403)
      expect(page.text).toContain('You do not have the permission for this: manage-templates.')
    }
    expect(await here.changes()).toEqual(before)
  })

  test('it has the permissions that were chosen, and ends at the end of its last day', async () => {
    const manager = await here.signIn('manager')
    const id = field((await get('/keys/new')).text, 'id')
    const fields = new URLSearchParams([
      ...Object.entries({ id, name: 'Back office', type: 'team', ends: 'day', day: '2031-01-31' }),
      ...[['form_token', manager.formToken] as [string, string], ['may', 'templates'] as [string, string]],
      ['may', 'webhooks'],
    ])
    const page = await fetch(`${here.address}/console${at}/keys/new`, {
      method: 'POST',
      headers: {
        ...{ cookie: `${manager.cookie.name}=${manager.cookie.value}`, origin: here.address },
        ...{ 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      },
      body: fields.toString(),
    })
    expect(page.status).toBe(200)
    const [row] = await here.parts.db.sql`
      select manage_templates, manage_webhooks, created_by, expires_at = '2031-02-01T00:00:00Z' as is_end from keys
      where id = ${id}`
    expect(row).toEqual({
      ...{ manage_templates: true, manage_webhooks: true, is_end: true },
      created_by: here.planted.people.manager.email_address,
    })
  })

  test.each([
    [{ name: ' ' }, 'Enter a name'],
    [{ ends: 'day', day: '2020-01-01' }, 'Enter the last day'],
    [{ ends: 'day', day: 'soon' }, 'Enter the last day'],
    [{ name: 'x'.repeat(256) }, 'must have at most 255 characters'],
  ])('%j is refused at its field and the rest is kept', async (wrong, sentence) => {
    const { page } = await make({ name: 'Kept "name"', ...wrong })
    expect(page.status).toBe(422)
    expect(page.text).toContain('<title>Error: Make a key')
    expect(page.text).toContain(sentence)
    if (!('name' in wrong)) expect(page.text).toContain('value="Kept &quot;name&quot;"')
  })

  test('a key is revoked after a question, and refused from then on', async () => {
    const { id, page } = await make({ name: 'Short-lived' })
    const caller = callerWith(here.address, keyIn(page.text))
    expect((await caller.get('/v2/templates')).status).toBe(200)
    const question = await get(`/keys/${id}/revoke`)
    expect(question.text).toContain('Revoke “<bdi>Short-lived</bdi>”?')
    expect((await caller.get('/v2/templates')).status).toBe(200)
    expect((await post(`/keys/${id}/revoke`)).location).toBe(`/console${at}/keys?done=revoked`)
    await expect.poll(async () => (await caller.get('/v2/templates')).status).toBe(403)
    expect((await get('/keys')).text).toMatch(/Short-lived[\s\S]*?Revoked/)
    expect((await get(`/keys/${id}/revoke`)).status).toBe(303)

    // The developer sees why.
    await here.parts.requests.flush()
    const log = await get(`/requests?status=4xx&key=${id}`)
    expect(log.text).toContain('AuthError')
    expect(log.text).toContain('Invalid token: API key revoked')
  })

  test('the list has the messages of each key in 7 days', async () => {
    const key = here.planted.service.keys[0]
    const listed = async () => {
      const row = (await get('/keys')).text.split('<tr ').find(one => one.includes(`data-id="${key?.id}"`))
      return Number(/data-label="Messages, 7 days"><span>([\d,]+)</.exec(row ?? '')?.[1]?.replaceAll(',', ''))
    }
    const before = await listed()
    const { status } = await callerWith(here.address, String(key?.key)).post('/v2/notifications/email', {
      ...{ email_address: 'counted@example.org', template_id: here.planted.service.templates.rightToLeft },
      personalisation: { name: 'C' },
    })
    expect(status).toBe(201)
    expect(await listed()).toBe(before + 1)
  })

  test('in French', async () => {
    const page = await here.request(developer, `${at}/keys`, { headers: { 'accept-language': 'fr' } })
    expect(page.text).toContain('Créer une clé')
    expect(page.text).toContain('Équipe et liste autorisée')
  })
})

describe('safelist', () => {
  test('is saved in normal form; twice the same is once; the audit log has numbers only', async () => {
    const page = await get('/safelist')
    const recipients = ' Kim@Example.org \n07911 123456\n\nkim@example.org\n'
    const saved = await post('/safelist', { recipients, seen: field(page.text, 'seen') })
    expect(saved.location).toBe(`/console${at}/safelist?done=saved`)
    const after = await get('/safelist?done=saved')
    expect(after.text).toContain('The safelist is saved')
    expect(after.text).toMatch(/<textarea[^>]*>\n+Kim@example\.org\n\+447911123456<\/textarea>/i)
    const [entry] = await here.parts.db.sql<{ detail: object }>`
      select detail from audit where action = 'safelist changed' and service_id = ${here.planted.service.id}
      order by id desc limit 1`
    expect(entry?.detail).toEqual({ added: 2, removed: 0 })
  })

  test('lines that are no recipients are named, and nothing is changed', async () => {
    const { text } = await get('/safelist')
    const before = await here.parts.db.sql`select recipient from safelist order by id`
    const wrong = await post('/safelist', {
      recipients: 'lea@example.org\n<b>nobody</b>\n12',
      seen: field(text, 'seen'),
    })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('2 lines are not recipients')
    expect(plain(wrong.text)).toContain('Line 2: "&lt;b>nobody&lt;/b>" is neither')
    expect(wrong.text).toContain('Line 3:')
    expect(wrong.text).toContain('lea@example.org')
    expect(await here.parts.db.sql`select recipient from safelist order by id`).toEqual(before)
  })

  test('a list that somebody else changed meanwhile is not overwritten without a word', async () => {
    const seen = field((await get('/safelist')).text, 'seen')
    expect((await post('/safelist', { recipients: 'first@example.org', seen })).status).toBe(303)
    const late = await post('/safelist', { recipients: 'second@example.org', seen })
    expect(late.status).toBe(422)
    expect(late.text).toContain('Somebody else changed the safelist meanwhile')
    expect(late.text).toContain('second@example.org')
    const sure = await post('/safelist', { recipients: 'second@example.org', seen: field(late.text, 'seen') })
    expect(sure.status).toBe(303)
    expect((await get('/safelist')).text).toContain('second@example.org')
  })

  test('has at most 1,000 recipients', async () => {
    const recipients = Array.from({ length: 1_001 }, (_, one) => `r${one}@example.org`).join('\n')
    const full = await post('/safelist', { recipients, seen: field((await get('/safelist')).text, 'seen') })
    expect([full.status, full.text.includes('at most 1000 recipients')]).toEqual([422, true])
  })
})

describe('request log', () => {
  test('shows what keys called, filtered, in pages, and what was only counted', async () => {
    const key = here.planted.service.keys[0]
    const caller = callerWith(here.address, String(key?.key))
    for (let one = 0; one < 55; one++) await caller.get('/v2/templates')
    // More than the allowance in the same moment, whatever the speed of the machine.
    const listed = {
      key_id: key?.id as Id,
      method: 'GET',
      path: '/v2/templates',
      error: null,
      reason: null,
      took_ms: 1,
    }
    for (let one = 0; one < 500; one++) here.parts.requests.note(here.planted.service.id, 200, () => listed)
    await caller.post('/v2/notifications/email', { email_address: 'secret.person@example.org' })
    await here.parts.requests.flush()
    const all = await get('/requests')
    expect(all.text).toContain('POST /v2/notifications/email')
    expect(plain(all.text)).toContain('template_id is a required property')
    expect(all.text).toMatch(/\d+ more requests were counted and not listed/)
    expect(all.text).not.toContain('secret.person')
    const older = /rel="next" href="([^"]+)"/.exec(all.text)?.[1] ?? ''
    const next = await here.request(developer, plain(older).replace('/console', ''))
    expect(next.status).toBe(200)
    expect(next.text).toContain('GET /v2/templates')
    const refused = await get(`/requests?status=4xx&key=${key?.id}`)
    expect(refused.text).toContain('/v2/notifications/email')
    expect(refused.text).not.toContain('GET /v2/templates')
    expect((await get('/requests?status=5xx')).text).toContain('No request matches')
    expect((await get('/requests?status=<b>&key=x&before=y')).status).toBe(200)
  })
})

describe('webhooks', () => {
  const idIn = (text: string) => /\/webhooks\/([0-9a-f-]{36})/.exec(text)?.[1] ?? ''
  const secretIn = (text: string) => /<code id="secret">(whsec_[^<]+)<\/code>/.exec(text)?.[1] ?? ''
  const add = async (more: Record<string, string> = {}) => {
    const id = field((await get('/webhooks/new')).text, 'id')
    const form = { id, url: receiver.url, key_type: 'normal', format: 'standard', batch: '1', events: 'all', ...more }
    return { form, page: await post('/webhooks/new', form) }
  }

  test('an endpoint is added, its secret is shown once, and a test event reaches it', async () => {
    const { form, page } = await add()
    expect(page.status).toBe(200)
    const [id, secret] = [idIn(page.text), secretIn(page.text)]
    expect(secret).not.toBe('')
    expect((await post('/webhooks/new', form)).location).toBe(`/console${at}/webhooks?done=created-before`)
    expect((await get(`/webhooks/${id}`)).text).not.toContain(secret)

    receiver.answer(status(202, {}, 'thank <you>'))
    const tested = await post(`/webhooks/${id}/test`)
    expect(tested.text).toContain('The test event was answered with 202')
    expect(tested.text).toContain('thank &lt;you>')
    expect(receiver.hooks.at(-1)?.body).toContain('webhook.test')
    receiver.answer(status(500))
    expect((await post(`/webhooks/${id}/test`)).text).toContain('An endpoint must answer with a status from 200 to 299')
    receiver.answer(status(204))
    await post(`/webhooks/${id}/remove`)
  })

  test('attempts are shown with the request and the answer; events are sent again', async () => {
    const id = idIn((await add({ recipient: 'yes' })).page.text)
    receiver.answer(status(200, {}, 'noted'))
    const before = receiver.hooks.length
    const caller = callerWith(here.address, String(here.planted.service.keys[0]?.key))
    const sent = await caller.post('/v2/notifications/email', {
      ...{ email_address: 'hooked@example.org', template_id: here.planted.service.templates.rightToLeft },
      personalisation: { name: 'H' },
    })
    await expect
      .poll(async () => (await get(`/webhooks/${id}`)).text.includes('notification.delivered'), { timeout: 20_000 })
      .toBe(true)
    const page = plain((await get(`/webhooks/${id}`)).text)
    expect(page).toContain('POST /hooks HTTP/1.1')
    expect(page).toContain('Webhook-Signature: v1,…')
    expect(page).toContain(sent.body.id)
    expect(page).toContain('hooked@example.org')
    expect(page).toContain('noted')
    // As it was sent.
    const hook = receiver.hooks.slice(before).find(one => one.body.includes('notification.delivered'))
    const shown = /\n\n(\{[\s\S]*?\n\})<\/pre>/.exec(page)?.[1] ?? '{}'
    const bodies = receiver.hooks.slice(before).map(one => JSON.stringify(JSON.parse(one.body)))
    expect(bodies).toContain(JSON.stringify(JSON.parse(shown)))

    const event = JSON.parse(hook?.body ?? '{}').id
    const count = () => receiver.hooks.filter(one => one.body.includes(event)).length
    const first = count()
    expect((await post(`/webhooks/${id}/replay`, { event })).location).toContain('done=replayed')
    await expect.poll(count, { timeout: 20_000 }).toBe(first + 1)
    const moment = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '')
    expect((await post(`/webhooks/${id}/replay`, { from: moment })).location).toContain('done=replayed')
    await expect.poll(count, { timeout: 20_000 }).toBe(first + 2)
    const wrong = await post(`/webhooks/${id}/replay`, { from: 'yesterday' })
    expect([wrong.status, wrong.text.includes('Enter a time such as')]).toEqual([422, true])
    await post(`/webhooks/${id}/remove`)
  }, 60_000)

  test('a secret is replaced once by a form, and both sign until the earlier one ends', async () => {
    const id = idIn((await add()).page.text)
    const seen = field((await get(`/webhooks/${id}`)).text, 'seen')
    const replaced = await post(`/webhooks/${id}/secret`, { seen })
    expect(secretIn(replaced.text)).not.toBe('')
    expect((await post(`/webhooks/${id}/secret`, { seen })).status).toBe(409)
    await post(`/webhooks/${id}/test`)
    expect(receiver.hooks.at(-1)?.headers['webhook-signature']?.split(' ').length).toBe(2)
    expect((await get(`/webhooks/${id}`)).text).toContain('2 sign each request')
    await post(`/webhooks/${id}/remove`)
  })

  test('it is paused, resumed, changed and removed', async () => {
    const id = idIn((await add()).page.text)
    expect((await post(`/webhooks/${id}/state`, { state: 'paused' })).location).toContain('done=paused')
    expect((await get(`/webhooks/${id}`)).text).toContain('Resume')
    expect((await post(`/webhooks/${id}/state`, { state: 'active' })).location).toContain('done=resumed')
    const form = { url: `${receiver.url}/other`, batch: '5', events: 'some', types: 'job.finished' }
    expect((await post(`/webhooks/${id}/settings`, form)).location).toContain('done=saved')
    const changed = (await get(`/webhooks/${id}`)).text
    for (const text of ['/hooks/other', 'up to 5 events', 'job.finished']) expect(changed).toContain(text)
    expect((await get(`/webhooks/${id}/remove`)).text).toContain('This cannot be undone')
    expect((await post(`/webhooks/${id}/remove`)).location).toBe(`/console${at}/webhooks?done=removed`)
    expect((await get(`/webhooks/${id}`)).status).toBe(404)
  })

  test.each([
    [{ url: '' }, 'Enter the address of your program'],
    [{ url: 'https://10.0.0.1/x' }, 'The address must not be an address inside a network'],
    [{ url: 'ftp://example.org' }, 'The address must begin with'],
    [{ batch: '1000' }, 'Enter a whole number from 1 to 100.'],
    [{ events: 'some' }, 'Choose at least one type of event'],
    [{ format: 'callback' }, 'Enter the token'],
    [{ format: 'callback', token: 'short' }, 'Enter 10 to 500 letters, digits and signs of ASCII'],
    [
      { format: 'callback', token: 'long enough'.replace(' ', '-'), events: 'some', types: 'job.finished' },
      'A callback tells only the final statuses',
    ],
  ])('%j is refused at its field', async (wrong, sentence) => {
    const { page } = await add(wrong)
    expect(page.status).toBe(422)
    expect(page.text).toContain('<title>Error: Add an endpoint')
    expect(plain(page.text)).toContain(sentence)
  })

  test.each([
    [{ url: 'https://10.0.0.1/x' }, 'url', 'L’adresse ne doit pas être interne à un réseau'],
    [{ url: 'ftp://example.org' }, 'url', 'L’adresse doit commencer par https:// ou http://'],
    [{ batch: '1000' }, 'batch', 'Saisissez un nombre entier de 1 à 100.'],
    [{ format: 'callback', token: 'short' }, 'token', 'Saisissez de 10 à 500 lettres'],
  ])('%j is refused at its field in French, too', async (wrong, name, sentence) => {
    const id = field((await get('/webhooks/new')).text, 'id')
    const form = { id, url: receiver.url, key_type: 'normal', format: 'standard', batch: '1', events: 'all', ...wrong }
    const page = await here.request(developer, `${at}/webhooks/new`, { form, headers: { 'accept-language': 'fr' } })
    expect(page.status).toBe(422)
    expect(page.text).toContain(`<a href="#${name}">${sentence}`)
    expect(page.text).toMatch(new RegExp(`id="${name}-error"[^>]*>.*?${sentence.slice(0, 20)}`, 's'))
  })

  test('the time of a replay is refused with the same words in French', async () => {
    const id = here.planted.service.webhooks.active
    const replay = (from: string) =>
      here.request(developer, `${at}/webhooks/${id}/replay`, { form: { from }, headers: { 'accept-language': 'fr' } })
    const wrong = await replay('hier')
    expect([wrong.status, wrong.text.includes('Saisissez un moment tel que 2026-11-02T09:15:00Z.')]).toEqual([
      422,
      true,
    ])
    const ahead = await replay('2999-01-01T00:00:00Z')
    expect([ahead.status, ahead.text.includes('Saisissez un moment passé.')]).toEqual([422, true])
  })

  test('an attempt with several events says that it shows the first', async () => {
    const { text } = await get(`/webhooks/${here.planted.service.webhooks.active}`)
    expect(text).toContain('This request had 2 events. The first one is shown.')
    expect(text).toContain('Send the first event again')
  })

  test('a callback has a token that nobody sees again', async () => {
    const { page } = await add({ format: 'callback', token: 'a-token-of-ours' })
    const id = idIn(page.location ?? '')
    const detail = await get(`/webhooks/${id}`)
    expect(detail.text).toContain('with a token')
    expect(detail.text + (await get(`/webhooks/${id}/settings`)).text).not.toContain('a-token-of-ours')
    await post(`/webhooks/${id}/remove`)
  })

  test('a disabled endpoint says why, and a test of one that does not answer says so', async () => {
    const { webhooks } = here.planted.service
    expect((await get(`/webhooks/${webhooks.disabled}`)).text).toContain('Disabled: no success for 72 hours')
    const silent = await startReceiver()
    await silent.stop()
    const id = idIn((await add({ url: silent.url })).page.text)
    expect((await post(`/webhooks/${id}/test`)).text).toContain('connection refused')
    await post(`/webhooks/${id}/remove`)
  })
})
