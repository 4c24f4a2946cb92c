// One message by hand: over HTTP, as the browser asks.
import { beforeAll, describe, expect, test } from 'vitest'
import { entries } from '../../src/audit/sql.ts'
import type { Id } from '../../src/core/id.ts'
import { change } from '../../src/services/change.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let sender: SignedInAs
let at: string

beforeAll(async () => {
  here = await place()
  sender = await here.signIn('sender')
  at = `/s/${here.planted.service.id}/send`
}, 60_000)

const get = (path: string, who = sender) => here.request(who, path)
const post = (form: Record<string, string>, path = at) => here.request(sender, path, { form })

const VALUES = {
  ...{ 'name-0': 'permit number', 'value-0': 'ZC-1' },
  ...{ 'name-1': 'end date', 'value-1': '30 November' },
  ...{ 'name-2': 'first name', 'value-2': 'Joy' },
  ...{ 'name-3': 'zone', 'value-3': 'C' },
  ...{ 'name-4': 'discount', 'value-4': 'yes' },
}
const email = (more: Record<string, string> = {}) => ({
  ...{ template: here.planted.service.templates.email, to: 'j.osei@example.org', when: 'now' },
  ...VALUES,
  ...more,
})
const onceIn = (text: string) => /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
const countSent = async () => {
  const [row] = await here.parts.db.sql<{ many: number }>`
    select count(*)::integer as many from notifications where service_id = ${here.planted.service.id}`
  return row?.many ?? 0
}

describe('choose a template', () => {
  test('lists templates that can be sent, finds them by words and by folder', async () => {
    const { templates, folders } = here.planted.service
    const { status, text } = await get(at)
    expect(status).toBe(200)
    expect(text).toContain(`/send?template=${templates.email}`)
    expect(text).not.toContain(templates.archived)
    expect((await get(`${at}?q=nothing-has-this`)).text).toContain('Nothing matches')
    const inFolder = (await get(`${at}?folder=${folders.empty}`)).text
    expect(inFolder).not.toContain(`/send?template=${templates.email}`)
  })

  test('a template that is archived, or of another service, is not there', async () => {
    expect((await get(`${at}?template=${here.planted.service.templates.archived}`)).status).toBe(404)
    expect((await get(`${at}?template=${here.planted.other.templates.email}`)).status).toBe(404)
  })
})

describe('the form', () => {
  test('has a field for each placeholder, and a choice for one that is only a condition', async () => {
    const { text } = await get(`${at}?template=${here.planted.service.templates.email}`)
    for (const name of ['permit number', 'end date', 'first name', 'zone'])
      expect(text).toMatch(new RegExp(`name="name-\\d" value="${name}"`))
    expect(text).toMatch(/<select[^>]*name="value-4"/)
    expect(text).toContain('e-mails left today.')
    expect(text).toContain('Times are those of ')
  })

  test('says everything that is missing, and keeps what was entered', async () => {
    const { status, text } = await post(
      email({ act: 'check', to: 'nobody', 'value-1': ' ', 'value-4': '', reference: 'kept-2026' }),
    )
    expect(status).toBe(422)
    expect(text).toContain('<title>Error: Send one message')
    expect(text).toContain('<a href="#to">Enter an e-mail address like name@example.org</a>')
    expect(text).toContain('<a href="#value-1">Enter a value for end date</a>')
    expect(text).toContain('<a href="#value-4">Choose yes or no for discount</a>')
    for (const kept of ['kept-2026', 'nobody', 'ZC-1']) expect(text).toContain(kept)
  })

  test('a preview shows the message with what is entered, in a frame without values in its address', async () => {
    const { text } = await post(email({ act: 'preview', 'value-2': 'Gwendolyn' }))
    expect(text).toContain('Your permit ZC-1 ends on 30 November')
    const frame = /<iframe[^>]*src="\/console([^"]+)"/.exec(text)?.[1] ?? ''
    expect(frame).not.toContain('Gwendolyn')
    const shown = await get(frame)
    expect(shown.text).toContain('Dear Gwendolyn')
    // It is the sender's own.
    expect((await get(frame, await here.signIn('manager'))).text).not.toContain('Gwendolyn')
  })

  test('the parts of a text message are shown', async () => {
    const { text } = await post({
      ...{ template: here.planted.service.templates.sms, act: 'preview', to: '+447911123456' },
      ...{ 'name-0': 'code', 'value-0': 'x'.repeat(200) },
    })
    expect(text).toContain('charged as 6 text messages')
    expect(text).toContain('EASTMERE')
  })

  test('the own address is filled in', async () => {
    const { text } = await post(email({ act: 'self', to: '' }))
    expect(text).toContain(`value="${here.planted.people.sender.email_address}"`)
  })
})

describe('sending', () => {
  test('asks first, then sends once however often the form arrives', async () => {
    const before = await countSent()
    const confirm = await post(email({ act: 'check', reference: 'by-hand-1' }))
    expect(confirm.status).toBe(200)
    expect(confirm.text).toContain('Send this message?')
    expect(confirm.text).toMatch(/Send to <bdi>j\.osei@example\.org<\/bdi>/)
    expect(await countSent()).toBe(before)

    const form = email({ act: 'send', reference: 'by-hand-1', once: onceIn(confirm.text) })
    // A double click, and later the way back.
    const answers = [...(await Promise.all([post(form), post(form), post(form)])), await post(form)]
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303])
    const locations = new Set(answers.flatMap(({ location }) => location ?? []))
    expect([...locations]).toHaveLength(1)
    expect(await countSent()).toBe(before + 1)
    const page = await get(String([...locations][0]).slice('/console'.length))
    expect(page.text).toContain('j.osei@example.org')
    expect(page.text).toContain('The message is accepted')
    const audited = (await entries(here.parts.db.sql, here.planted.service.id, 20)).filter(
      one => one.action === 'message sent',
    )
    expect(audited).toHaveLength(1)
  })

  test('a second submit leads to the first message, also when it would be refused now', async () => {
    const due = new Date(Date.now() + 3_600_000).toISOString()
    const later = email({ when: 'later', day: due.slice(0, 10), time: due.slice(11, 16) })
    const zone = 'UTC'
    await here.parts.db.sql`update people set time_zone = ${zone} where id = ${here.planted.people.sender.id}`
    const { text } = await post({ ...later, act: 'check' })
    const form = { ...later, act: 'send', once: onceIn(text) }
    const { location } = await post(form)
    // As if the time had passed meanwhile.
    const again = await post({ ...form, day: '2020-01-01' })
    expect(again.status).toBe(303)
    expect(again.location?.split('?')[0]).toBe(location?.split('?')[0])
  })

  test('a second submit to a recipient of smoke tests leads to the same words as the first', async () => {
    const smoke = email({ to: `simulate-delivered@${here.parts.sendingDomain}` })
    const { text } = await post({ ...smoke, act: 'check' })
    const form = { ...smoke, act: 'send', once: onceIn(text) }
    const answers = [...(await Promise.all([post(form), post(form)])), await post(form)]
    const [first] = answers
    expect(first?.location).toContain('done=simulated')
    expect(answers.map(({ location }) => location)).toEqual([first?.location, first?.location, first?.location])
    expect((await get(String(first?.location).slice('/console'.length))).text).toContain('one for smoke tests')
  })

  test('another form sends another message', async () => {
    const before = await countSent()
    for (const _ of [1, 2]) {
      const { text } = await post(email({ act: 'check' }))
      await post(email({ act: 'send', once: onceIn(text) }))
    }
    expect(await countSent()).toBe(before + 2)
  })

  test('without a confirmation nothing is sent', async () => {
    const before = await countSent()
    expect((await post(email({ act: 'send' }))).text).toContain('Send this message?')
    expect(await countSent()).toBe(before)
  })

  test('a time of the person’s clock is stored as a moment', async () => {
    await here.parts.db
      .sql`update people set time_zone = 'America/St_Johns' where id = ${here.planted.people.sender.id}`
    const zoned = await here.signIn('sender')
    const due = new Date(Date.now() + 30 * 3_600_000)
    const local = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'America/St_Johns',
      dateStyle: 'short',
      timeStyle: 'short',
    })
    const [day = '', time = ''] = local.format(due).split(' ')
    const form = email({ when: 'later', day, time })
    const confirm = await here.request(zoned, at, { form: { ...form, act: 'check' } })
    expect(confirm.text).toContain('Schedule this message?')
    expect(confirm.text).toContain('America/St_Johns')
    const { location } = await here.request(zoned, at, {
      form: { ...form, act: 'send', once: onceIn(confirm.text) },
    })
    const id = /messages\/([0-9a-f-]+)\?done=scheduled/.exec(location ?? '')?.[1] as Id
    const [row] = await here.parts.db.sql<{ due: string }>`
      select scheduled_for as due from notifications where id = ${id}`
    expect(Date.parse(String(row?.due))).toBe(Math.floor(due.getTime() / 60_000) * 60_000)
  })

  test.each([
    ['a passed time', { day: '2020-01-01', time: '10:00' }, 'This time has passed'],
    ['too far ahead', { day: '2099-01-01', time: '10:00' }, 'at most 4 days ahead'],
    ['no day', { day: '', time: '10:00' }, 'Enter the day'],
  ])('%s is refused', async (_name, when, sentence) => {
    const { status, text } = await post(email({ act: 'check', ...when, when: 'later' }))
    expect(status).toBe(422)
    expect(text).toContain(sentence)
  })

  test('in trial mode others than the team are refused, and the page says so before', async () => {
    const operator = { kind: 'operator', name: 'tests' } as const
    const { id } = here.planted.service
    await change(here.parts, operator, id, { mode: 'trial' })
    await here.parts.services.get(id)
    try {
      const form = await get(`${at}?template=${here.planted.service.templates.email}`)
      expect(form.text).toContain('This service is in trial mode')
      const before = await countSent()
      const checked = await post(email({ act: 'check' }))
      expect(checked.status).toBe(422)
      expect(checked.text).toContain('In trial mode, enter somebody of the team or of the safelist')
      const answer = await post(email({ act: 'send', once: 'trial-1' }))
      expect(answer.status).toBe(422)
      expect(await countSent()).toBe(before)
    } finally {
      await change(here.parts, operator, id, { mode: 'live' })
    }
  })
})

test('the page is French for who reads French', async () => {
  const { text } = await here.request(sender, `${at}?template=${here.planted.service.templates.email}`, {
    headers: { 'accept-language': 'fr' },
  })
  expect(text).toContain('Vérifier le message')
})
