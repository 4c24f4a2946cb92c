// Settings, going live and changes over HTTP, as people without scripts use them.
import { beforeAll, describe, expect, test } from 'vitest'
import { ACTIONS } from '../../src/audit/sql.ts'
import { run } from '../../src/cli/run.ts'
import { actionWords } from '../../src/console/changes/words.ts'
import { inLanguage } from '../../src/console/words/index.ts'
import { actorOf, type Person } from '../../src/people/person.ts'
import { change } from '../../src/services/change.ts'
import { listOrigins } from '../../src/services/sql/origins.ts'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let manager: SignedInAs
let operator: SignedInAs
let settings: string
beforeAll(async () => {
  here = await place({}, { engine: true })
  manager = await here.signIn('manager')
  operator = await here.signIn('operator')
  settings = `/s/${here.planted.service.id}/settings`
})

const get = (who: SignedInAs | null, path: string) => here.request(who, path)
const post = (who: SignedInAs | null, path: string, form: Record<string, string> = {}) =>
  here.request(who, path, { form })

type Message = { to: string; subject: string; text: string }
const mailsTo = async (address: string): Promise<Message[]> =>
  (await here.inbox()).body.messages.filter(({ to }: Message) => to === address)
async function mailTo(address: string, subject: RegExp): Promise<Message> {
  const found = async () => (await mailsTo(address)).find(mail => subject.test(mail.subject))
  await expect.poll(found, { interval: 50, timeout: 10_000 }).toBeDefined()
  return (await found()) as Message
}
const actionsOf = async (subject: string) =>
  (
    await here.parts.db.sql<{ action: string; actor_id: string | null }>`
      select action, actor_id from audit where subject_id = ${subject} order by id`
  ).map(({ action }) => action)

const WHOLE = {
  files: 'files',
  prefix: 'prefix',
  home_country: 'GB',
  email_retention_days: '7',
  sms_retention_days: '7',
}

describe('settings', () => {
  test('everybody sees them, managers change some, operators the limits', async () => {
    const seen = await get(await here.signIn('viewer'), settings)
    expect(seen.text).toContain('permits@eastmere.example')
    expect(seen.text).toContain('10,000 e-mails, 2,000 text messages')
    expect(seen.text).not.toContain('>Change<')
    const mine = await get(manager, settings)
    expect(mine.text).toContain('/settings/change#name')
    expect(mine.text).not.toContain('/settings/limits')
    expect((await get(operator, settings)).text).toContain('/settings/limits')
  })

  test('a change is saved and recorded with what is different only; a mistake stands at its field', async () => {
    const saved = await post(manager, `${settings}/change`, {
      ...WHOLE,
      name: 'Parking permits',
      sms_retention_days: '30',
    })
    expect(saved.location).toContain('done=saved')
    expect((await get(manager, `${settings}?done=saved`)).text).toContain('The settings are saved.')
    const [entry] = await here.parts.db.sql<{ detail: object }>`
      select detail from audit where action = 'service changed' order by id desc limit 1`
    expect(entry?.detail).toEqual({ may_send_international: false, sms_retention_days: 30 })
    const same = await post(manager, `${settings}/change`, {
      ...WHOLE,
      name: 'Parking permits',
      sms_retention_days: '30',
    })
    expect(same.location).toContain('done=same')
    for (const [form, field, sentence] of [
      [{ name: '' }, 'name', 'must not be empty'],
      [{ name: 'Council tax' }, 'name', 'There is already a service named'],
      [{ home_country: 'XX' }, 'home_country', 'is not a country'],
      [{ email_retention_days: '0' }, 'email_retention_days', 'from 1 to 365'],
      [{ sms_retention_days: 'soon' }, 'sms_retention_days', 'from 1 to 365'],
    ] as const) {
      const wrong = await post(manager, `${settings}/change`, { ...WHOLE, name: 'Parking permits', ...form })
      expect([form, wrong.status]).toEqual([form, 422])
      expect(wrong.text).toContain(`href="#${field}"`)
      expect(wrong.text).toContain(sentence)
      expect(wrong.text).toContain('<title>Error: ')
    }
  })

  test('limits, mode, state and mailbox are the operator’s, whatever a form says', async () => {
    const { service } = here.planted
    const person = { ...here.planted.people.manager, is_operator: false } as Person
    const membership = { service_id: service.id, service_name: '', mode: 'live', role: 'manager' } as const
    const actor = actorOf({ person, memberships: [membership] }, service.id)
    for (const changes of [
      { rate_limit: 9 },
      { mode: 'live' },
      { state: 'active' },
      { mailbox: 'tax' },
      { sms_daily_limit: 1 },
    ] as const)
      await expect(change(here.parts, actor, service.id, changes)).rejects.toMatchObject({ kind: 'ForbiddenError' })
    expect((await post(operator, `${settings}/limits`, { mailbox: 'permits', email_daily_limit: '500' })).status).toBe(
      303,
    )
    expect((await get(manager, settings)).text).toContain('500 e-mails')
    const wrong = await post(operator, `${settings}/limits`, { mailbox: 'No Mailbox', email_daily_limit: '500' })
    expect([wrong.status, wrong.text.includes('href="#mailbox"')]).toEqual([422, true])
    const number = await post(operator, `${settings}/limits`, { mailbox: 'permits', rate_limit: '-1' })
    expect([number.status, number.text.includes('href="#rate_limit"')]).toEqual([422, true])
    for (const field of ['mailbox', 'email_daily_limit', 'sms_daily_limit', 'rate_limit']) {
      const form = { mailbox: 'permits', [field]: 'x y' }
      const french = await here.request(operator, `${settings}/limits`, { form, headers: { 'accept-language': 'fr' } })
      expect([field, french.status, french.text.includes(`href="#${field}"`)]).toEqual([field, 422, true])
    }
  })
})

describe('addresses for replies', () => {
  const address = 'appeals@eastmere.example'
  const idOf = async () =>
    (await listOrigins(here.parts.db.sql, 'reply-to', here.planted.service.id)).find(one => one.value === address)
      ?.id ?? ''
  const sendWith = async (email_reply_to_id: string) => {
    const { keys, templates } = here.planted.service
    const response = await fetch(`${here.address}/v2/notifications/email`, {
      method: 'POST',
      headers: { authorization: `ApiKey-v1 ${keys[1]?.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ email_address: 'ana.petrov@example.org', template_id: templates.unused, email_reply_to_id },
        personalisation: { 'first name': 'Ana' },
      }),
    })
    return { status: response.status, text: await response.text() }
  }

  test('cannot be used before the link in the mail was opened', async () => {
    const asked = await post(manager, `${settings}/reply-to/new`, { value: address })
    expect(asked.location).toContain('done=reply-to-asked')
    const id = await idOf()
    expect((await get(manager, settings)).text).toContain('Waits for its link')
    const refused = await sendWith(id)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('does not exist in database')
    // Neither can it become the default.
    expect((await post(manager, `${settings}/reply-to/${id}/default`)).status).toBe(400)

    const mail = await mailTo(address, /^Confirm this address/)
    expect(mail.text).toContain('Mira Holt')
    const token = /\/console\/reply-to\/([\w-]+)/.exec(mail.text)?.[1] ?? ''
    // Opening the link changes nothing: programs that check mails do it.
    const page = await get(null, `/reply-to/${token}`)
    expect([page.status, page.text.includes(address)]).toEqual([200, true])
    expect((await sendWith(id)).status).toBe(400)
    const confirmed = await post(null, `/reply-to/${token}`)
    expect([confirmed.status, confirmed.text.includes('The address is confirmed')]).toEqual([200, true])
    expect((await get(null, `/reply-to/${token}`)).status).toBe(410)
    expect((await post(null, `/reply-to/${token}`)).status).toBe(410)
    await expect.poll(async () => (await sendWith(id)).status).toBe(201)
    expect(await actionsOf(id)).toEqual(['reply-to added', 'reply-to verified'])
  })

  test('one becomes the default, is removed, and cannot be used then', async () => {
    const id = await idOf()
    expect((await post(manager, `${settings}/reply-to/${id}/default`)).status).toBe(303)
    const origins = await listOrigins(here.parts.db.sql, 'reply-to', here.planted.service.id)
    expect(origins.filter(one => one.is_default).map(one => one.value)).toEqual([address])
    expect((await get(manager, settings)).text).toContain(`href="/console${settings}/reply-to/${id}/remove"`)
    const question = (await get(manager, `${settings}/reply-to/${id}/remove`)).text
    for (const words of [`Remove <bdi>${address}</bdi>?`, 'It is the default.', 'Keep it', 'Remove the address'])
      expect(question).toContain(words)
    expect((await sendWith(id)).status).toBe(201)
    expect((await post(manager, `${settings}/reply-to/${id}/remove`)).status).toBe(303)
    expect((await post(manager, `${settings}/reply-to/${id}/remove`)).status).toBe(404)
    expect((await get(manager, `${settings}/reply-to/${id}/remove`)).status).toBe(404)
    await expect.poll(async () => (await sendWith(id)).status).toBe(400)
    expect(await actionsOf(id)).toContain('reply-to removed')
  })

  test('a wrong or known one is refused; a new link replaces the one before; mails to one address are limited', async () => {
    for (const value of ['not an address', 'PERMITS@eastmere.example'])
      expect((await post(manager, `${settings}/reply-to/new`, { value })).status).toBe(422)
    const { unverified, link } = here.planted.service.settings
    expect((await get(null, `/reply-to/${link}`)).status).toBe(200)
    const again = () => post(manager, `${settings}/reply-to/${unverified}/again`)
    expect((await again()).status).toBe(303)
    expect((await get(null, `/reply-to/${link}`)).status).toBe(410)
    const statuses = []
    for (let at = 0; at < 5; at++) statuses.push((await again()).status)
    expect(statuses.at(-1)).toBe(429)
  })

  test('a text sender is added, made the default and removed', async () => {
    expect((await post(manager, `${settings}/senders/new`, { value: 'much too long a name' })).status).toBe(422)
    expect((await post(manager, `${settings}/senders/new`, { value: 'PERMIT' })).status).toBe(303)
    const list = () => listOrigins(here.parts.db.sql, 'sender', here.planted.service.id)
    const id = (await list()).find(one => one.value === 'PERMIT')?.id ?? ''
    expect((await post(manager, `${settings}/senders/${id}/default`)).status).toBe(303)
    expect((await list()).filter(one => one.is_default).map(one => one.value)).toEqual(['PERMIT'])
    expect((await post(manager, `${settings}/senders/${id}/remove`)).status).toBe(303)
    expect(await actionsOf(id)).toEqual(['sender added', 'default sender chosen', 'sender removed'])
  })
})

describe('going live', () => {
  const ask = { purpose: 'Notices about <b>closed</b> streets.', email_a_day: '1200', considered: 'yes' }

  test('a service without a template is told what is missing, and cannot ask', async () => {
    const live = `/s/${here.planted.trial}/settings/live`
    await here.parts.db.sql`delete from live_requests where service_id = ${here.planted.trial}`
    const page = await get(manager, live)
    expect(page.text).toContain('Missing, and needed.')
    expect(page.text).not.toContain('name="purpose"')
    const refused = await post(manager, live, ask)
    expect([refused.status, refused.text.includes('Not everything that a live service needs')]).toEqual([422, true])
  })

  test('a manager asks, the operator declines with a reason, then grants', async () => {
    const { service, people } = here.planted
    const live = `${settings}/live`
    expect((await post(operator, `${live}/end`)).status).toBe(303)
    expect((await post(manager, live, { ...ask, purpose: '' })).status).toBe(422)
    expect((await post(manager, live, { ...ask, considered: '' })).status).toBe(422)
    expect((await post(manager, live, { ...ask, email_a_day: 'many' })).status).toBe(422)
    expect((await post(manager, live, ask)).location).toContain('done=asked')
    const mail = await mailTo(people.operator.email_address, /asks to go live$/)
    expect(mail.text).toContain(`/console/s/${service.id}/settings/live`)
    expect((await get(operator, '/operator/services')).text).toContain('Asks to go live')
    const shown = await get(operator, live)
    expect(shown.text).toContain('Notices about &lt;b>closed&lt;/b> streets.')
    expect(shown.text).toContain('Mira Holt')

    expect((await post(manager, `${live}/grant`)).status).toBe(403)
    expect((await post(operator, `${live}/decline`, { reason: ' ' })).status).toBe(422)
    expect((await post(operator, `${live}/decline`, { reason: 'Add a second person.' })).status).toBe(303)
    expect((await post(operator, `${live}/decline`, { reason: 'Again' })).status).toBe(422)
    expect((await mailTo(people.manager.email_address, /stays in trial$/)).text).toContain('Add a second person.')
    expect((await get(manager, live)).text).toContain('Add a second person.')

    expect((await post(manager, live, ask)).status).toBe(303)
    expect((await post(operator, `${live}/grant`)).status).toBe(303)
    await mailTo(people.manager.email_address, /is live$/)
    expect((await get(manager, live)).text).toContain('This service is live')
    expect((await post(manager, live, ask)).location).toContain('done=live')
    const [found] = await here.parts.db.sql<{ mode: string }>`select mode from services where id = ${service.id}`
    expect(found?.mode).toBe('live')
    const rows = await here.parts.db.sql<{ action: string }>`
      select action from audit where service_id = ${service.id} and action like 'live %' order by id`
    expect(rows.map(({ action }) => action)).toEqual([
      'live requested',
      'live declined',
      'live requested',
      'live granted',
    ])
  })
})

describe('suspending', () => {
  test('needs a reason, which the team sees on every page until the service is resumed', async () => {
    expect((await post(operator, `${settings}/suspend`, { reason: '' })).status).toBe(422)
    expect((await post(operator, `${settings}/suspend`, { reason: '11 % <i>bounce</i>' })).status).toBe(303)
    const viewer = await here.signIn('viewer')
    const page = await get(viewer, `/s/${here.planted.service.id}/team`)
    expect(page.text).toMatch(/class="banner".*suspended.*11 % &lt;i>bounce&lt;\/i>/s)
    expect((await post(operator, `${settings}/resume`)).status).toBe(303)
    expect((await get(viewer, `/s/${here.planted.service.id}/team`)).text).not.toContain('class="banner"')
    const [found] = await here.parts.db.sql<{ suspended_reason: string | null }>`
      select suspended_reason from services where id = ${here.planted.service.id}`
    expect(found?.suspended_reason).toBeNull()
  })
})

describe('changes', () => {
  test('are listed with names of people, keys and subjects, filtered, and downloaded', async () => {
    const changes = `/s/${here.planted.service.id}/changes`
    const all = (await get(manager, changes)).text
    expect(all).toContain('Going live granted')
    expect(all).toContain('Noor Visser')
    expect(all).toContain('Mira Holt')
    expect(all).toContain('PERMIT')
    const { people } = here.planted
    const mine = (await get(manager, `${changes}?who=${people.manager.id}&what=settings`)).text
    expect(mine).toContain('Going live asked for')
    expect(mine).not.toContain('Going live granted')
    const keys = (await get(manager, `${changes}?what=keys`)).text
    expect(keys).toContain('Key made')
    expect(keys).toContain('Production')
    expect(keys).not.toContain('Template made')
    const templates = (await get(manager, `${changes}?what=templates`)).text
    expect(templates).toMatch(/Folder made<\/strong><span class="sub"><bdi>Permits<\/bdi><bdi><\/bdi>/)
    const messages = (await get(manager, `${changes}?what=messages`)).text
    const job = here.planted.service.jobs.cancelled
    expect(messages).toContain(`<a href="/console/s/${here.planted.service.id}/jobs/${job}">`)
    // Ids stand in links and in the download.
    const [id = ''] = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}\b/.exec(all.replace(/<[^>]*>/g, ' ')) ?? []
    expect(id).toBe('')
    expect((await get(manager, `${changes}?to=2020-01-01`)).text).toContain('Nothing matches')
    expect((await get(manager, `${changes}?from=2020-01-01&what=nonsense&who=x&before=y`)).status).toBe(200)
    expect((await get(await here.signIn('developer'), changes)).status).toBe(403)
    const csv = await get(manager, `${changes}/export?what=settings`)
    expect(csv.headers.get('content-type')).toContain('text/csv')
    const [head, ...rows] = csv.text.trim().split('\r\n')
    expect(head).toContain('"at","service"')
    expect(rows.some(row => row.includes('"live granted"') && row.includes('"Noor Visser"'))).toBe(true)
    expect(rows.every(row => row.includes(here.planted.service.id))).toBe(true)
  })

  test('every action of the audit log has words, in both languages', () => {
    const words = ACTIONS.map(action => [action, actionWords(action)])
    expect(words.filter(([action, text]) => text === action)).toEqual([])
    expect(inLanguage('fr', () => ACTIONS.filter((action, at) => actionWords(action) === words[at]?.[1]))).toEqual([])
  })

  test('pages follow each other without gaps or repetitions', async () => {
    const changes = `/s/${here.planted.service.id}/changes`
    const idsOf = (text: string) => [...text.matchAll(/data-id="change-(\d+)"/g)].map(([, id]) => Number(id))
    const seen: number[] = []
    let next: string | null = changes
    while (next) {
      const { text } = await get(manager, next)
      seen.push(...idsOf(text))
      next = /rel="next" href="\/console([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null
    }
    const rows = await here.parts.db.sql<{ id: number }>`
      select id from audit where service_id = ${here.planted.service.id} order by id desc`
    expect(seen).toEqual(rows.map(({ id }) => Number(id)))
    const last = seen.at(-1)
    const back = idsOf((await get(manager, `${changes}?after=${last}`)).text)
    expect(back).toEqual(seen.slice(-51, -1))
  })
})

test('herald audit names people', async () => {
  let out = ''
  const streams = {
    out(text: string) {
      out += text
    },
    err() {},
  }
  await run(['audit', '--service', here.planted.service.id], streams, () => here.config)
  expect(out).toMatch(/person Noor Visser \([0-9a-f-]+\) +live granted/)
})
