// S-36: every change of keys, templates and services and every cancel leaves a line, and no line can be changed.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Line } from '../../src/audit/sql.ts'
import { run } from '../../src/cli/run.ts'
import { emailTemplate, inMinutes, type Key, SMS, smsTemplate } from '../support/sends.ts'
import { CATEGORY, type World, world } from '../support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
})

async function herald(...argv: string[]) {
  let [out, err] = ['', '']
  const streams = {
    out(text: string) {
      out += text
    },
    err(text: string) {
      err += text
    },
  }
  const code = await run(argv, streams, () => here.config)
  return { code, out, err }
}

async function audit(): Promise<Line[]> {
  const { out } = await herald('audit', '--service', service.id, '--json')
  return JSON.parse(out).audit
}

/** What the work added to the book, oldest first. */
async function added(work: () => Promise<unknown>) {
  const before = (await audit()).length
  await work()
  const now = await audit()
  return now
    .slice(0, now.length - before)
    .reverse()
    .map(({ action, key_id, subject_id, detail }) => ({ action, key_id, subject_id, detail }))
}

describe('S-36 each action leaves a row', () => {
  test('a key that is made, and revoked once', async () => {
    let id = ''
    const lines = await added(async () => {
      id = (await service.key({ type: 'team', manageTemplates: false })).id
      await herald('key', 'revoke', id)
      await herald('key', 'revoke', id)
    })
    const detail = { key_type: 'team', manage_templates: false }
    expect(lines).toEqual([
      { action: 'key created', key_id: null, subject_id: id, detail },
      { action: 'key revoked', key_id: null, subject_id: id, detail: null },
    ])
  })

  test('a template that is made, changed, and archived once', async () => {
    let id = ''
    const lines = await added(async () => {
      id = await emailTemplate(key)
      await key.patch(`/v2/manage-template/${id}`, { content: 'Other' })
      await key.delete(`/v2/manage-template/${id}`)
      await key.delete(`/v2/manage-template/${id}`)
    })
    expect(lines.map(({ action, detail }) => [action, detail])).toEqual([
      ['template created', null],
      ['template changed', { version: 2, literal_values: false }],
      ['template archived', null],
    ])
    for (const line of lines) expect(line).toMatchObject({ key_id: key.id, subject_id: id })
  })

  test('limits', async () => {
    const lines = await added(() => herald('service', 'set', service.id, '--email-daily-limit', '7'))
    expect(lines).toEqual([
      { action: 'service changed', key_id: null, subject_id: service.id, detail: { email_daily_limit: 7 } },
    ])
  })

  test('a message and a job that are cancelled, by key and by operator', async () => {
    const template_id = await smsTemplate(key, 'Hi')
    const scheduled_for = inMinutes(30)
    const message = async () =>
      (await key.post(SMS, { phone_number: '+16135550123', template_id, scheduled_for })).body.id
    const job = async () => {
      const body = { name: 'A job', template_id, csv: 'phone number\n+16135550123', scheduled_for }
      return (await key.post('/v2/notifications/bulk', body)).body.data.id as string
    }
    const ids = [await message(), await job(), await job()]
    const lines = await added(async () => {
      await key.delete(`/v2/notifications/${ids[0]}`)
      await key.delete(`/v2/notifications/${ids[0]}`)
      await key.post(`/v2/notifications/bulk/${ids[1]}`)
      await key.delete(`/v2/notifications/bulk/${ids[1]}`)
      await herald('job', 'cancel', String(ids[2]))
    })
    expect(lines.map(line => [line.action, line.key_id, line.subject_id])).toEqual([
      ['message cancelled', key.id, ids[0]],
      ['job cancelled', key.id, ids[1]],
      ['job cancelled', null, ids[2]],
    ])
  })

  test('what is refused leaves none', async () => {
    const body = { name: 'x', template_type: 'email', subject: 's', content: 'x'.repeat(50_001) }
    const lines = await added(async () => {
      await key.post('/v2/manage-template', { ...body, template_category_id: CATEGORY.general })
      await key.delete(`/v2/notifications/${service.id}`)
      await herald('service', 'set', service.id, '--email-daily-limit', '-1')
    })
    expect(lines).toEqual([])
  })
})

test('S-36 a row that was written stays: the program itself may not change or delete it', async () => {
  const { sql, script } = here.parts.db
  const count = async () => (await sql<{ n: number }>`select count(*)::integer as n from audit`)[0]?.n
  const before = await count()
  expect(before).toBeGreaterThan(0)
  const denied = /added and never changed/
  await expect(sql`update audit set action = 'nothing'`).rejects.toThrow(denied)
  await expect(sql`delete from audit`).rejects.toThrow(denied)
  await expect(script('truncate audit')).rejects.toThrow(denied)
  await expect(script('truncate audit, services cascade')).rejects.toThrow(denied)
  expect(await count()).toBe(before)
})

test('herald audit shows all services to people, without names of people', async () => {
  const { code, out } = await herald('audit', '--most', '3')
  expect(code).toBe(0)
  expect(out.trimEnd().split('\n')).toHaveLength(4)
  expect(out).toMatch(/^WHEN +SERVICE +WHO +DID +TO +DETAIL/)
  expect((await herald('audit', '--json')).out).not.toMatch(/maria|@/)
})
