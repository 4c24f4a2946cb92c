// Pages of templates over HTTP: folders, search, new template, versions with their differences, settings, archive.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { change } from '../../src/services/change.ts'
import { find } from '../../src/services/find.ts'
import { create } from '../../src/templates/create.ts'
import { read } from '../../src/templates/read.ts'
import { update } from '../../src/templates/update.ts'
import { OPERATOR } from '../support/world.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

const REMINDER = 'edb966f3-4a4c-47a4-96ab-05ff259b919c'
const ALERT = '1d8ce435-a7e5-431b-aaa2-a418bc4d14f9'
const NOBODY = '01990000-0000-7000-8000-000000000000'

let here: ConsolePlace
let author: SignedInAs
let viewer: SignedInAs
let base: string

beforeAll(async () => {
  here = await place()
  author = await here.signIn('author')
  viewer = await here.signIn('viewer')
  base = `/s/${here.planted.service.id}/templates`
})

const get = (path: string, who = author) => here.request(who, base + path)
const post = (path: string, form: Record<string, string>, who = author) => here.request(who, base + path, { form })

/** What a person reads: tags and line breaks are spaces, entities characters. */
const wordsIn = (html: string) =>
  html
    .replace(/^[\s\S]*<main/, '<main')
    .replace(/<footer[\s\S]*$/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

const stored = (id: Id) => read(here.parts.db.sql, here.planted.service.id, id)

async function newTemplate(fields: { name?: string; content?: string; subject?: string; folder?: Id } = {}) {
  const { name = 'Made for a test', content = 'Dear ((name))', subject = 'Hello', folder } = fields
  return create(here.parts, OPERATOR, await find(here.parts, here.planted.service.id), {
    ...{ name, content, subject, template_type: 'email', template_category_id: REMINDER },
    ...(folder && { parent_folder_id: folder }),
  })
}

describe('the list', () => {
  test('shows folders with counts, templates by name, what was sent, and the API call', async () => {
    const { status, text } = await get('')
    expect(status).toBe(200)
    const words = wordsIn(text)
    expect(words).toMatch(/Permits\s+\d+ Renewals\s+\d+ Visitors/)
    expect(words).toContain('Permit renewal reminder')
    expect(words).toContain('Reminder · Permits / Renewals')
    expect(words).toMatch(/curl "http[^"]*\/v2\/templates"/)
    expect(text).toContain('<title>Templates – Parking permits – Herald</title>')
  })

  test('of a folder has those of folders inside it, not those elsewhere', async () => {
    const words = wordsIn((await get(`?folder=${here.planted.service.folders.top}`)).text)
    expect(words).toContain('Permit renewal reminder')
    expect(words).not.toContain('Visitor code')
  })

  test('finds words in all folders, whatever the case; archived ones on request', async () => {
    const found = wordsIn((await get(`?q=VISITOR+code&folder=${here.planted.service.folders.top}`)).text)
    expect(found).toContain('Visitor code')
    expect(found).toMatch(/in all folders/)
    expect(wordsIn((await get('?q=proof+of+address')).text)).toContain('Permit renewal reminder')
    expect(wordsIn((await get('?q=nowhere+at+all')).text)).toContain('Nothing matches')
    expect(wordsIn((await get(`?category=${REMINDER}`)).text)).not.toContain('Visitor code')
    expect(wordsIn((await get('')).text)).not.toContain('Monthly list')
    expect(wordsIn((await get('?folder=archived')).text)).toContain('Monthly list')
    expect(wordsIn((await get('?folder=archived&q=monthly')).text)).toContain('Monthly list')
  })

  test('odd questions are answered', async () => {
    for (const query of [
      '?q=%00',
      '?q=%25_%5C',
      `?q=${'x'.repeat(5000)}`,
      '?category=x',
      '?after=x',
      `?after=${NOBODY}`,
      '?before=',
      '?folder=',
    ])
      expect((await get(query)).status, query).toBe(200)
    expect((await get('?folder=x')).status).toBe(404)
    expect((await get(`?folder=${here.planted.other.folders.top}`)).status).toBe(404)
  })

  test('names of 254 characters, from right to left, with emoji and with markup are shown as text', async () => {
    const names = [
      'n'.repeat(254),
      '\u{1f4ee}\u{1f1ea}\u{1f1fa} \u0645\u0631\u062d\u0628\u0627',
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
    ]
    for (const name of names) {
      const { id } = await newTemplate({ name, content: `${name} ((<b>name</b>))` })
      for (const path of [
        '?q=',
        `/${id}/versions`,
        `/${id}/versions/1`,
        `/${id}/settings`,
        `/${id}/archive`,
        `/${id}/api`,
      ]) {
        const { status, text } = await get(path === '?q=' ? `?q=${encodeURIComponent(name)}` : path)
        expect(status, path).toBe(200)
        expect(wordsIn(text), path).toContain(name)
        expect(text, path).not.toMatch(/<script>alert|<img|<b>name/)
      }
    }
  })

  test('a viewer sees it without the buttons', async () => {
    const { status, text } = await get('', viewer)
    expect(status).toBe(200)
    expect(wordsIn(text)).not.toMatch(/New folder|New template/)
  })

  test('pages of 50', async () => {
    for (let n = 0; n < 60; n++) await newTemplate({ name: `Page ${String(n).padStart(2, '0')}` })
    const first = await get('?q=Page')
    expect(wordsIn(first.text)).toContain('Page 49')
    expect(wordsIn(first.text)).not.toContain('Page 50')
    const next = /rel="next" href="[^"]*\/templates(\?[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await get(next)
    expect(wordsIn(second.text)).toContain('Page 59')
    const back = /rel="prev" href="[^"]*\/templates(\?[^"]*)"/.exec(second.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(wordsIn((await get(back)).text)).toContain('Page 00')
  })
})

describe('folders', () => {
  test('are created, renamed, moved and removed', async () => {
    const made = await post('/folders/new', { name: 'Street works', folder: '' })
    expect(made.status).toBe(303)
    const id = /folder=([0-9a-f-]+)/.exec(made.location ?? '')?.[1] ?? ''
    expect(made.location).toContain('done=folder-created')
    expect(wordsIn((await get(`?folder=${id}&done=folder-created`)).text)).toContain('The folder is there.')
    const inner = await post('/folders/new', { name: 'Signs', folder: id })
    const innerId = /folder=([0-9a-f-]+)/.exec(inner.location ?? '')?.[1] ?? ''
    expect((await get(`/folders/${innerId}`)).status).toBe(200)
    expect((await post(`/folders/${innerId}`, { name: 'Road signs', folder: '' })).status).toBe(303)
    expect(wordsIn((await get(`?folder=${innerId}`)).text)).toMatch(/Road signs/)
    const removed = await post(`/folders/${id}/remove`, {})
    expect(removed.status).toBe(303)
    expect((await get(`?folder=${id}`)).status).toBe(404)
  })

  test('what is wrong stands at the field, with the values kept and status 422', async () => {
    const empty = await post('/folders/new', { name: ' ', folder: '' })
    expect(empty.status).toBe(422)
    expect(empty.text).toContain('<title>Error: New folder')
    expect(wordsIn(empty.text)).toContain('Enter a name for the folder.')
    const taken = await post('/folders/new', { name: 'Permits', folder: '' })
    expect(taken.status).toBe(422)
    expect(wordsIn(taken.text)).toContain('There is already a folder named "Permits" in this place.')
    expect(taken.text).toContain('value="Permits"')
    const long = await post('/folders/new', { name: 'x'.repeat(10_000), folder: '' })
    expect(long.status).toBe(422)
    const { top, nested } = here.planted.service.folders
    const cycle = await post(`/folders/${top}`, { name: 'Permits', folder: nested })
    expect(cycle.status).toBe(422)
    expect(wordsIn(cycle.text)).toContain('A folder cannot be moved into itself')
  })

  test('of other services do not exist, and viewers may not change any', async () => {
    const theirs = here.planted.other.folders.top
    expect((await get(`/folders/${theirs}`)).status).toBe(404)
    expect((await post(`/folders/${theirs}`, { name: 'Mine', folder: '' })).status).toBe(404)
    expect((await post(`/folders/${theirs}/remove`, {})).status).toBe(404)
    expect((await post('/folders/new', { name: 'Inside', folder: theirs })).status).toBe(404)
    expect((await get('/folders/x')).status).toBe(404)
    for (const path of ['/folders/new', `/folders/${here.planted.service.folders.top}`, '/new'])
      expect((await get(path, viewer)).status, path).toBe(403)
    expect((await post('/folders/new', { name: 'No', folder: '' }, viewer)).status).toBe(403)
  })
})

describe('a new template', () => {
  test('has first words and opens in the editor', async () => {
    const { top } = here.planted.service.folders
    const form = { name: '  Renewed \u{1f389}  ', category: REMINDER, folder: top }
    for (const type of ['email', 'sms']) {
      const made = await post('/new', { ...form, type })
      expect(made.status).toBe(303)
      const id = /templates\/([0-9a-f-]+)\?/.exec(made.location ?? '')?.[1] as Id
      expect(await stored(id)).toMatchObject({ name: 'Renewed \u{1f389}', type, version: 1, folder_id: top })
    }
  })

  test('what is missing stands at its field', async () => {
    const { status, text } = await post('/new', { name: '', category: '', folder: '' })
    expect(status).toBe(422)
    for (const sentence of ['Choose e-mail or text message.', 'Enter a name.', 'Choose what the messages are for.'])
      expect(wordsIn(text)).toContain(sentence)
    const long = await post('/new', { type: 'sms', name: 'x'.repeat(255), category: REMINDER, folder: '' })
    expect(long.status).toBe(422)
    expect(wordsIn(long.text)).toContain('Enter a name of at most 254 characters.')
    expect(long.text).toContain('x'.repeat(255))
    const gone = await post('/new', { type: 'sms', name: 'x', category: REMINDER, folder: NOBODY })
    expect(wordsIn(gone.text)).toContain('Choose another folder')
    await change(here.parts, OPERATOR, here.planted.service.id, { may_send_sms: false })
    const kind = await post('/new', { type: 'sms', name: 'x', category: REMINDER, folder: '' })
    await change(here.parts, OPERATOR, here.planted.service.id, { may_send_sms: true })
    expect(kind.status).toBe(422)
    expect(wordsIn(kind.text)).toContain('This service may not send them.')
    const category = await post('/new', { type: 'sms', name: 'x', category: NOBODY, folder: '' })
    expect(wordsIn(category.text)).toContain('Choose another category.')
  })
})

describe('versions', () => {
  test('the last change is shown first, with words inside lines, signs and placeholders', async () => {
    const { id } = await newTemplate({ content: 'Good day\n\nDear ((name)), your permit ends on ((end date)).' })
    await update(here.parts, OPERATOR, here.planted.service.id, id, {
      content: 'Good day\n\nDear ((first name)), your permit ends on ((end date)).\nA <b>new</b> line',
    })
    const { status, text } = await get(`/${id}/versions`)
    expect(status).toBe(200)
    expect(text).toContain('<ins>first </ins>')
    expect(text).toContain('<ins>A &lt;b>new&lt;/b> line</ins>')
    expect(wordsIn(text)).toMatch(/\+ 2 lines added − 1 line removed Placeholders: first name is new, name is gone/)
    expect(wordsIn(text)).toMatch(/from Version 2 Version 1 to Version 2 Version 1 Compare/)
    expect(wordsIn((await get(`/${id}/versions?from=2&to=1`)).text)).toContain('name is new')
    expect(wordsIn((await get(`/${id}/versions?from=2&to=2`)).text)).toContain('have the same words')
    for (const query of ['?from=9', '?to=9', '?to=2147483648', '?to=9999999999'])
      expect((await get(`/${id}/versions${query}`)).status, query).toBe(404)
    for (const query of ['?from=x', '?below=1', '?below=9999999999', '?to=0'])
      expect((await get(`/${id}/versions${query}`)).status, query).toBe(200)
  })

  test('hostile texts are answered soon and as text', async () => {
    const line = (letter: string) =>
      Array.from({ length: 6000 }, (_, n) => `<${letter}${n}>\n`)
        .join('')
        .slice(0, 50_000)
    const { id } = await newTemplate({ content: line('x') })
    await update(here.parts, OPERATOR, here.planted.service.id, id, { content: line('y') })
    const { status, text } = await get(`/${id}/versions`)
    expect(status).toBe(200)
    expect(text.includes('<del>&lt;x100></del>')).toBe(true)
    expect(text.includes('<ins>&lt;y100></ins>')).toBe(true)
    expect(text.includes('<x1')).toBe(false)
    expect(text.length).toBeLessThan(200_000)
    expect(/5,800 more lines/.test(text)).toBe(true)
  })

  test('one is restored as a new version; when somebody saved meanwhile, 409 and nothing is written', async () => {
    const { id } = await newTemplate({ name: 'Old name', content: 'Old words' })
    const { service } = here.planted
    await update(here.parts, OPERATOR, service.id, id, { name: 'New name', content: 'New words' })
    const page = await get(`/${id}/versions/1`)
    expect(wordsIn(page.text)).toContain('Restore version 1')
    expect(page.text).toContain('name="version" value="2"')
    await update(here.parts, OPERATOR, service.id, id, { content: 'Newest words' })
    const late = await post(`/${id}/versions/1`, { version: '2' })
    expect(late.status).toBe(409)
    expect(wordsIn(late.text)).toMatch(/Somebody saved version 3 meanwhile/)
    expect(late.text).toContain('name="version" value="3"')
    expect(await stored(id)).toMatchObject({ version: 3 })
    const done = await post(`/${id}/versions/1`, { version: '3' })
    expect(done.status).toBe(303)
    expect(await stored(id)).toMatchObject({ version: 4, name: 'Old name', content: 'Old words' })
    expect(wordsIn((await get(`/${id}/versions?done=restored`)).text)).toContain('The old words are in use again')
    for (const version of ['0', 'x', '99', '99999999999'])
      expect((await post(`/${id}/versions/${version}`, { version: '4' })).status).toBe(404)
  })

  test('before restoring, the page names who used the template when placeholders differ', async () => {
    const { email } = here.planted.service.templates
    const page = wordsIn((await get(`/${email}/versions/1`)).text)
    expect(page).toMatch(/Restoring (adds|removes) /)
    expect(page).toContain('Who used this template in the last 7 days')
    expect(page).toContain('Production')
    expect(wordsIn((await get(`/${email}/versions/1`, viewer)).text)).not.toContain('Who used this template')
  })

  test('a viewer sees versions and cannot restore', async () => {
    const { email } = here.planted.service.templates
    expect(wordsIn((await get(`/${email}/versions/1`, viewer)).text)).not.toContain('Restore version')
    expect((await post(`/${email}/versions/1`, { version: '3' }, viewer)).status).toBe(403)
    expect(await stored(email)).toMatchObject({ version: 3 })
  })
})

describe('settings', () => {
  test('a new folder alone makes no version; another name does', async () => {
    const { id } = await newTemplate()
    const { top } = here.planted.service.folders
    const form = { name: 'Made for a test', category: REMINDER, folder: top, values: 'formatted', version: '1' }
    expect((await post(`/${id}/settings`, form)).location).toContain('done=moved')
    expect(await stored(id)).toMatchObject({ version: 1, folder_id: top })
    expect((await post(`/${id}/settings`, form)).location).toContain('done=same')
    const changed = { ...form, name: 'Another name', category: ALERT, folder: '', values: 'plain' }
    expect((await post(`/${id}/settings`, changed)).location).toContain('done=saved')
    const after = { version: 2, name: 'Another name', category_id: ALERT, folder_id: null, literal_values: true }
    expect(await stored(id)).toMatchObject(after)
    // Edited before the other was saved.
    const late = await post(`/${id}/settings`, { ...form, name: 'Late <i>name</i>' })
    expect(late.status).toBe(409)
    expect(wordsIn(late.text)).toContain('From version 2 to yours')
    expect(late.text).toContain('value="Late &lt;i>name&lt;/i>"')
    expect(await stored(id)).toMatchObject(after)
  })

  test('what is wrong stands at its field', async () => {
    const { id } = await newTemplate()
    const form = { name: '', category: 'x', folder: '', values: 'formatted', version: '1' }
    const { status, text } = await post(`/${id}/settings`, form)
    expect(status).toBe(422)
    expect(wordsIn(text)).toContain('Enter a name.')
    const long = await post(`/${id}/settings`, { ...form, category: REMINDER, name: 'x'.repeat(10_000) })
    expect(long.status).toBe(422)
    const folder = here.planted.other.folders.top
    const foreign = await post(`/${id}/settings`, { ...form, category: REMINDER, name: 'Made for a test', folder })
    expect(foreign.status).toBe(422)
    expect(await stored(id)).toMatchObject({ version: 1, folder_id: null })
  })

  test('viewers read them', async () => {
    const { email } = here.planted.service.templates
    const { status, text } = await get(`/${email}/settings`, viewer)
    expect(status).toBe(200)
    expect(text).not.toContain('Save settings')
    expect(wordsIn(text)).toContain('Permits / Renewals')
    expect((await post(`/${email}/settings`, { name: 'x' }, viewer)).status).toBe(403)
  })
})

describe('archive', () => {
  test('first says what uses it, then archives, once', async () => {
    const { email } = here.planted.service.templates
    const used = wordsIn((await get(`/${email}/archive`)).text)
    expect(used).toMatch(/[\d,]+ messages were accepted with it in the last seven days/)
    expect(used).toMatch(/Keep it Archive the template/)
    const { id } = await newTemplate()
    expect(wordsIn((await get(`/${id}/archive`)).text)).toContain('No message was accepted with it')
    expect((await post(`/${id}/archive`, {}, viewer)).status).toBe(403)
    expect((await post(`/${id}/archive`, {})).status).toBe(303)
    expect((await post(`/${id}/archive`, {})).status).toBe(303)
    expect(await stored(id)).toMatchObject({ archived: true })
    expect((await get(`/${id}/archive`)).status).toBe(303)
    expect(wordsIn((await get(`/${id}/settings`)).text)).toContain('This template is archived.')
    const rows = await here.parts.db.sql`select 1 from audit where subject_id = ${id} and action = 'template archived'`
    expect(rows).toHaveLength(1)
  })
})

test('use by API: the request that sends it works as it is printed', async () => {
  const { email } = here.planted.service.templates
  const { text } = await get(`/${email}/api`, viewer)
  const words = wordsIn(text)
  expect(words).toContain('/v2/notifications/email')
  const json = /-d '(\{.*?\})'/.exec(words)?.[1] ?? ''
  const body = JSON.parse(json)
  expect(body).toMatchObject({ template_id: email, personalisation: { 'first name': '…', 'permit number': '…' } })
  const sent = await here.call('POST', '/v2/notifications/email', {
    body,
    headers: { authorization: `ApiKey-v1 ${here.planted.service.keys[0]?.key}` },
  })
  expect(sent.status).toBe(201)
})

test('templates of other services, and ids that are none, are not there', async () => {
  for (const id of [here.planted.other.templates.email, NOBODY, 'x', "'", '%00'])
    for (const path of ['/versions', '/versions/1', '/settings', '/archive', '/api']) {
      expect((await get(`/${id}${path}`)).status, `${id}${path}`).toBe(404)
      if (['/versions/1', '/settings', '/archive'].includes(path))
        expect((await post(`/${id}${path}`, { version: '1', name: 'x', category: REMINDER })).status).toBe(404)
    }
  const theirs = await here.request(author, `/s/${here.planted.other.id}/templates`)
  expect(theirs.status).toBe(404)
})
