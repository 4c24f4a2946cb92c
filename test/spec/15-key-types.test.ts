// Interface 5.2, 7.2 and 3.1; contract 15.3 to 15.5: who may be written to, with which key, in which mode.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST, SMS, smsTemplate, UUID7 } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const TEAM_ONLY = "Can't send to this recipient using a team-only API key"
const TRIAL = "Can't send to this recipient when service is in trial mode"

type KeyType = 'normal' | 'team' | 'test'
type Mode = 'trial' | 'live'

let here: World
let templates: Record<Mode, { keys: Record<KeyType, Key>; email: Id; sms: Id; service: Id }>

beforeAll(async () => {
  here = await world()
  const made = async (mode: Mode) => {
    const service = await here.service({ mode, email_daily_limit: 10_000, sms_daily_limit: 10_000 })
    await service.addToSafelist('friend@example.org')
    await service.addToSafelist('+16135550177')
    await service.addToSafelist('+33612345678')
    const keys = {
      normal: await service.key({ type: 'normal' }),
      team: await service.key({ type: 'team' }),
      test: await service.key({ type: 'test' }),
    }
    return {
      keys,
      email: await emailTemplate(keys.normal, 'Hello', 'News'),
      sms: await smsTemplate(keys.normal, 'Hello'),
      service: service.id,
    }
  }
  templates = { trial: await made('trial'), live: await made('live') }
})

const recipients = {
  'a team member': ['maria@example.org', '+16135550199'],
  'a team member, otherwise spelled': ['  MARIA@Example.ORG ', '(613) 555-0199'],
  'one of the safelist': ['friend@example.org', '+16135550177'],
  'one of the safelist, otherwise spelled': ['Friend@EXAMPLE.org', '613.555.0177'],
  'a stranger': ['stranger@example.org', '+16135550100'],
  'a smoke-test recipient': ['simulate-delivered@herald.example', '+16132532222'],
} as const

const send = (mode: Mode, type: KeyType, [address, number]: readonly [string, string], more: object = {}) => {
  const { keys, email, sms } = templates[mode]
  return Promise.all([
    keys[type].post(EMAIL, { email_address: address, template_id: email, ...more }),
    keys[type].post(SMS, { phone_number: number, template_id: sms, ...more }),
  ])
}

describe('15.4 who may be written to', () => {
  const refusals: Record<Mode, Record<KeyType, string | null>> = {
    live: { normal: null, team: TEAM_ONLY, test: null },
    trial: { normal: TRIAL, team: TEAM_ONLY, test: null },
  }
  for (const mode of ['live', 'trial'] as const)
    for (const type of ['normal', 'team', 'test'] as const)
      for (const [who, recipient] of Object.entries(recipients)) {
        const refusal = who === 'a stranger' ? refusals[mode][type] : null
        test(`${mode} service, ${type} key, ${who}: ${refusal ?? 'accepted'}`, async () => {
          for (const reply of await send(mode, type, recipient))
            if (refusal) expect(reply).toBeRefused(400, 'BadRequestError', refusal)
            else expect(reply.status).toBe(201)
        })
      }

  test('international numbers of the safelist, however spelled', async () => {
    const { keys, sms } = templates.trial
    for (const phone_number of ['+33612345678', '+33 6 12 34 56 78'])
      expect((await keys.team.post(SMS, { phone_number, template_id: sms })).status).toBe(201)
  })

  test('an address is no number: the safelist of one channel opens nothing on the other', async () => {
    const { keys, sms } = templates.trial
    expect(await keys.normal.post(SMS, { phone_number: '+16135550178', template_id: sms })).toBeRefused(
      400,
      'BadRequestError',
      TRIAL,
    )
  })

  test('empty team and safelist: nobody', async () => {
    const service = await here.service({ mode: 'trial' })
    await here.parts.db.sql`delete from users where service_id = ${service.id}`
    const [live, team] = [await service.key(), await service.key({ type: 'team' })]
    const template_id = await emailTemplate(live, 'Hello', 'News')
    const message = { email_address: 'maria@example.org', template_id }
    expect(await live.post(EMAIL, message)).toBeRefused(400, 'BadRequestError', TRIAL)
    expect(await team.post(EMAIL, message)).toBeRefused(400, 'BadRequestError', TEAM_ONLY)
  })

  test('the team of another service is not ours', async () => {
    const neighbour = await here.service({ mode: 'trial' })
    await neighbour.addToSafelist('only-there@example.org')
    const { keys, email } = templates.trial
    expect(await keys.normal.post(EMAIL, { email_address: 'only-there@example.org', template_id: email })).toBeRefused(
      400,
      'BadRequestError',
      TRIAL,
    )
  })

  test('a service that goes live may write to anyone from then on', async () => {
    const service = await here.service({ mode: 'trial' })
    const key = await service.key()
    const template_id = await emailTemplate(key, 'Hello', 'News')
    const message = { email_address: 'stranger@example.org', template_id }
    expect((await key.post(EMAIL, message)).status).toBe(400)
    await service.change({ mode: 'live' })
    await expect.poll(async () => (await key.post(EMAIL, message)).status, { interval: 5 }).toBe(201)
  })
})

describe('15.3 lists: each key type sees its own messages', () => {
  test('of both modes', async () => {
    for (const mode of ['live', 'trial'] as const)
      for (const type of ['normal', 'team', 'test'] as const) {
        const key = templates[mode].keys[type]
        const sent = await send(mode, type, recipients['a team member'], { reference: `${mode} ${type}` })
        for (const other of ['normal', 'team', 'test'] as const) {
          const { body } = await templates[mode].keys[other].get(
            `${LIST}?reference=${encodeURIComponent(`${mode} ${type}`)}`,
          )
          const ids = body.notifications.map((one: { id: Id }) => one.id).toSorted()
          expect(ids).toEqual(other === type ? sent.map(reply => reply.body.id).toSorted() : [])
        }
        for (const reply of sent) expect((await key.get(`${LIST}/${reply.body.id}`)).status).toBe(200)
      }
  })
})

describe('15.5 smoke-test recipients', () => {
  const all: [string, string][] = [
    ['simulate-delivered@herald.example', '+16132532222'],
    ['simulate-delivered-2@herald.example', '+1 613 253 2223'],
    ['Simulate-Delivered-3@Herald.Example', '6132532224'],
  ]

  test.each(all)('%s and %s: 201 with an id, nothing stored', async (address, number) => {
    for (const type of ['normal', 'team', 'test'] as const)
      for (const more of [{ reference: 'smoke' }, { reference: 'smoke', scheduled_for: inMinutes(60) }])
        for (const reply of await send('trial', type, [address, number], more)) {
          expect(reply.status).toBe(201)
          expect(reply.body).toMatchObject({ id: expect.stringMatching(UUID7), reference: 'smoke' })
          const { id } = reply.body
          const key = templates.trial.keys[type]
          expect(await key.get(`${LIST}/${id}`)).toBeRefused(404, 'NoResultFound', 'No result found')
          expect(await key.delete(`${LIST}/${id}`)).toBeRefused(
            404,
            'NoResultFound',
            'Notification not found in database',
          )
          expect((await key.get(`${LIST}?reference=smoke`)).body.notifications).toEqual([])
          expect(await here.parts.db.sql`select id from tickets where ${id} = any (subjects)`).toEqual([])
        }
  })

  test('full validation all the same', async () => {
    const { keys, service } = templates.trial
    const id = await emailTemplate(keys.normal)
    const message = { email_address: 'simulate-delivered@herald.example', template_id: id }
    expect(await keys.normal.post(EMAIL, message)).toBeRefused(
      400,
      'BadRequestError',
      `Missing personalisation for template ID ${id}: name`,
    )
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect(
      await keys.normal.post(EMAIL, { ...message, personalisation: { name: 'x' }, email_reply_to_id: unknown }),
    ).toBeRefused(
      400,
      'BadRequestError',
      `email_reply_to_id ${unknown} does not exist in database for service id ${service}`,
    )
  })

  test('the list is configurable, in any spelling', async () => {
    const elsewhere = await world({ HERALD_SIMULATED_RECIPIENTS: 'QA@Example.org, (613) 555-0188' })
    const key = await (await elsewhere.service({ mode: 'trial' })).key()
    const [email, sms] = [await emailTemplate(key, 'Hello', 'News'), await smsTemplate(key, 'Hello')]
    const mail = (email_address: string) => key.post(EMAIL, { email_address, template_id: email })
    const text = (phone_number: string) => key.post(SMS, { phone_number, template_id: sms })
    for (const reply of [await mail('qa@example.org'), await text('+16135550188')]) {
      expect(reply.status).toBe(201)
      expect((await key.get(`${LIST}/${reply.body.id}`)).status).toBe(404)
    }
    expect((await mail('simulate-delivered@herald.example')).status).toBe(400)
    expect((await text('+16132532222')).status).toBe(400)
  })

  test('failure recipients are ordinary ones at acceptance: they are stored', async () => {
    const reply = await send('live', 'test', ['perm-fail@simulator.notify', '+15149301632'])
    for (const { status, body } of reply) {
      expect(status).toBe(201)
      expect((await templates.live.keys.test.get(`${LIST}/${body.id}`)).status).toBe(200)
    }
  })
})
