// A check before sending and a send never disagree: whatever the body, the service, the key and the limits are, a check says ok exactly
// when the send is accepted, and otherwise begins with the sentences of its refusal.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { emailTemplate, inMinutes, type Key, smsTemplate } from './support/sends.ts'
import { type Reply, type World, world } from './support/world.ts'

type Place = { keys: Key[]; email: string[]; sms: string[]; replyTo: string; sender: string }

const RATE = { rate_limit: 1_000_000 }
let places: Place[]
let simulated: string

beforeAll(async () => {
  const here: World = await world()
  simulated = here.parts.simulated.all.find(one => one.includes('@')) ?? ''
  const make = async (
    options: Parameters<World['service']>[0],
    after: Parameters<Awaited<ReturnType<World['service']>>['change']>[0] = {},
  ): Promise<Place> => {
    const service = await here.service({ ...RATE, ...options })
    const key = await service.key()
    const keys = [key, await service.key({ type: 'team' }), await service.key({ type: 'test' })]
    const archived = await emailTemplate(key)
    await key.delete(`/v2/manage-template/${archived}`)
    const email = [await emailTemplate(key), await emailTemplate(key, '((name))', 'S'), archived]
    const sms = [await smsTemplate(key), await smsTemplate(key, '((name)) ((code))')]
    const replyTo = await service.addReplyTo('desk@example.org')
    const sender = await service.addSender('PERMITS')
    await service.addToSafelist('safe@example.org')
    await service.addToSafelist('6135550188')
    if (Object.keys(after).length > 0) await service.change(after)
    here.parts.services.clear()
    return { keys, email, sms, replyTo: replyTo.id, sender: sender.id }
  }
  places = [
    await make({ may_send_files: true, may_send_international: true }),
    await make({ mode: 'trial' }),
    await make({ email_daily_limit: 4, sms_daily_limit: 4, may_send_international: false }),
    await make({}, { may_send_sms: false, may_send_files: false }),
    await make({}, { may_send_email: false }),
    await make({}, { state: 'suspended' }),
  ]
})

const pick = <T>(...choices: T[]) => fc.constantFrom(...choices)
/** The usual value most of the time, so that late checks are reached. */
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: pick(...others) })

const place = mostly(0, 1, 1, 2, 2, 3, 4, 5).map(at => places[at] as Place)
const TEXT_FILE = { file: Buffer.from('hello').toString('base64'), filename: 'note.txt', sending_method: 'attach' }
const EXE = { file: Buffer.from('MZ\u0090\u0000').toString('base64'), filename: 'tool.exe', sending_method: 'attach' }
const EICAR = 'X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'

const value = mostly<unknown>(
  'Jo',
  '',
  ' ',
  null,
  7,
  [],
  ['a', 'b'],
  [['a']],
  "O'Brien",
  'Анна',
  '李',
  'x'.repeat(700),
  'x'.repeat(52_000),
  TEXT_FILE,
  { ...TEXT_FILE, sending_method: 'link' },
  { ...TEXT_FILE, filename: 'x' },
  { ...TEXT_FILE, file: 'no base64!' },
  EXE,
  { ...TEXT_FILE, file: Buffer.from(EICAR).toString('base64') },
)
const personalisation = fc.oneof(
  { weight: 9, arbitrary: fc.record({ name: value, code: value }, { requiredKeys: ['name'] }) },
  { weight: 1, arbitrary: pick<unknown>({}, 'text', null, [], { other: 'x' }) },
)
const scheduledFor = mostly<unknown>(undefined, null, inMinutes(30), '2001-01-01', inMinutes(60 * 24 * 6), 'soon', 5)
const reference = mostly<unknown>(undefined, 'r1', 5, 'r'.repeat(1_001))
const extra = mostly<unknown>(undefined, 'red')
const uuid = randomUUID()

/** Undefined fields are not sent. */
const withoutUndefined = (body: object) =>
  Object.fromEntries(Object.entries(body).filter(([, one]) => one !== undefined))

async function agree(key: Key, kind: 'email' | 'sms' | 'bulk', body: object) {
  const given = withoutUndefined(body)
  const checked: Reply = await key.post(`/herald/v1/check/${kind}`, given)
  const sent: Reply = await key.post(`/v2/notifications/${kind}`, given)
  expect([checked.status, sent.status]).not.toContain(500)
  expect(checked.status, checked.text).toBe(200)
  const { ok, problems } = checked.body
  if (sent.status === 201) expect([problems, ok]).toEqual([[], true])
  else {
    expect(ok).toBe(false)
    expect(problems.slice(0, sent.body.errors.length)).toEqual(sent.body.errors)
  }
  statuses.push(sent.status)
  return { checked: checked.body, sent }
}
let statuses: number[] = []

/** Both answers were seen, and more than a few refusals: a property that is never tested says nothing. */
function expectBoth() {
  expect(statuses.filter(status => status === 201).length).toBeGreaterThan(5)
  expect(statuses.filter(status => status !== 201).length).toBeGreaterThan(20)
  statuses = []
}

test('for an e-mail', async () => {
  const body = fc.record({
    email_address: mostly<unknown>(
      'jo@example.net',
      'maria@example.org',
      'SAFE@example.org',
      simulated,
      'nobody',
      undefined,
      7,
    ),
    personalisation,
    scheduled_for: scheduledFor,
    reference,
    colour: extra,
  })
  const pointers = fc.record({ key: mostly(0, 1, 2), template: mostly(0, 2, 3, 4, 5), replyTo: mostly(0, 2, 3, 4) })
  await fc.assert(
    fc.asyncProperty(place, body, pointers, async (at, given, { key, template, replyTo }) => {
      const template_id = [at.email[0], at.email[0], at.email[1], at.email[2], at.sms[0], uuid][template]
      const email_reply_to_id = [undefined, undefined, at.replyTo, uuid, 'x'][replyTo]
      const { checked, sent } = await agree(at.keys[key] as Key, 'email', { ...given, template_id, email_reply_to_id })
      if (sent.status !== 201 || JSON.stringify(given).includes('"link"')) return
      const { subject, body: shown } = sent.body.content
      expect(checked.content).toMatchObject({ subject, body: shown })
    }),
    { numRuns: 150 },
  )
  expectBoth()
}, 120_000)

test('for a text message', async () => {
  const body = fc.record({
    phone_number: mostly<unknown>(
      '6135550123',
      '6135550199',
      '+1 613 555 0188',
      '+442079460123',
      '+16132532222',
      '12',
      undefined,
    ),
    personalisation,
    scheduled_for: scheduledFor,
    colour: extra,
  })
  const pointers = fc.record({ key: mostly(0, 1, 2), template: mostly(0, 2, 3, 4), sender: mostly(0, 2, 3) })
  await fc.assert(
    fc.asyncProperty(place, body, pointers, async (at, given, { key, template, sender }) => {
      const template_id = [at.sms[0], at.sms[0], at.sms[1], at.email[0], 'x'][template]
      const sms_sender_id = [undefined, undefined, at.sender, uuid][sender]
      const { checked, sent } = await agree(at.keys[key] as Key, 'sms', { ...given, template_id, sms_sender_id })
      if (sent.status === 201) expect(checked.content.body).toBe(sent.body.content.body)
    }),
    { numRuns: 120 },
  )
  expectBoth()
}, 120_000)

test('for a bulk file', async () => {
  const cell = mostly<unknown>('Jo', '', 'Анна', 7, null, 'x'.repeat(700), "O'Brien")
  const emails = mostly<unknown>('jo@example.net', 'maria@example.org', 'bad', '', simulated)
  const numbers = mostly<unknown>('6135550123', '6135550199', '+442079460123', '+16132532222', '12')
  const reference = mostly<unknown>('r', 'r'.repeat(1_001))
  const fileOf = (recipient: fc.Arbitrary<unknown>, header: string) =>
    fc.record({
      header: mostly([header, 'name', 'code'], [header, 'name'], ['name', 'code'], [header, 'name', 'NAME', 'code']),
      rows: fc.array(fc.tuple(recipient, cell, cell, reference), { maxLength: 6 }),
      hasReference: fc.boolean(),
      form: mostly('rows', 'csv', 'both', 'none', 'text', 'object'),
    })
  const file = fc.oneof(
    fileOf(emails, 'email address').map(one => ({ ...one, isEmail: true })),
    fileOf(numbers, 'phone number').map(one => ({ ...one, isEmail: false })),
  )
  const body = fc.record({ name: mostly<unknown>('Job', undefined, 5), scheduled_for: scheduledFor, colour: extra })
  const pointers = fc.record({ key: mostly(0, 1, 2), template: mostly(0, 2, 3, 4, 5), replyTo: mostly(0, 2, 3, 4) })
  await fc.assert(
    fc.asyncProperty(
      place,
      file,
      body,
      pointers,
      async (at, { header, rows, hasReference, form, isEmail }, given, point) => {
        const lists = [
          [...header, ...(hasReference ? ['reference'] : [])],
          ...rows.map(([to, one, two, ref]) => [
            ...[to, one, two].slice(0, header.length),
            ...(hasReference ? [ref] : []),
          ]),
        ]
        const csv = lists.map(row => row.join(',')).join('\n')
        const contents: Record<string, object> = {
          rows: { rows: lists },
          csv: { csv },
          both: { rows: lists, csv },
          none: {},
          text: { rows: 'text' },
          object: { rows: [lists[0], { a: 1 }] },
        }
        const own = isEmail ? at.email : at.sms
        const template_id = [own[0], own[0], own[1], own[2] ?? own[0], uuid, 'x'][point.template]
        const reply_to_id = [undefined, null, isEmail ? at.replyTo : at.sender, uuid, 'x'][point.replyTo]
        const { checked, sent } = await agree(at.keys[point.key] as Key, 'bulk', {
          ...given,
          ...contents[form],
          template_id,
          reply_to_id,
        })
        if (sent.status === 201) expect(checked.rows.total).toBe(sent.body.data.notification_count)
      },
    ),
    { numRuns: 150 },
  )
  expectBoth()
}, 120_000)
