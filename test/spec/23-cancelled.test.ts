// Contract 23.3 to 23.5: cancelled messages outside /v2, as the place where a list goes on, and in statistics.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import type { Id } from '../../src/core/id.ts'
import { ALLOWED, type Hooks, hooks } from '../support/hooks.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { EMAIL, emailTemplate, inMinutes, type Key, LIST } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const CANCELLED = { status: 'cancelled', status_description: 'Cancelled' }

let here: World
let place: Hooks
let key: Key
let template: Id
/** Accepted in this order. The second one is cancelled, the third one waits for its time. */
let sent: Id
let cancelled: Id
let scheduled: Id
const receivers: Receiver[] = []

beforeAll(async () => {
  here = await world(ALLOWED, { engine: true })
  place = await hooks(here)
  key = await place.home.key()
  template = await emailTemplate(key)
  for (const format of ['standard', 'callback'] as const) {
    const receiver = await startReceiver()
    receivers.push(receiver)
    await place.endpoint({
      ...{ url: receiver.url, format, types: ['notification.cancelled'] },
      ...(format === 'callback' && { token: 'a-token-of-the-caller', secrets: [] }),
    })
  }
  const send = async (more: object = {}): Promise<Id> => {
    const body = { email_address: 'ada@example.org', template_id: template, personalisation: { name: 'Ada' }, ...more }
    return (await key.post(EMAIL, body)).body.id
  }
  sent = await send()
  cancelled = await send({ scheduled_for: inMinutes(60) })
  scheduled = await send({ scheduled_for: inMinutes(60) })
  await vi.waitUntil(async () => (await key.get(`${LIST}/${sent}`)).body.status === 'delivered', 10_000)
  expect((await key.delete(`${LIST}/${cancelled}`)).status).toBe(200)
})
afterAll(async () => {
  for (const receiver of receivers) await receiver.stop()
})

const until = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 })

describe('§23.4 outside /v2 a cancelled message has the status `cancelled`, described as `Cancelled`', () => {
  test('in the events', async () => {
    const reply = await key.get('/herald/v1/events?types=notification.cancelled&wait=10')
    expect(reply.body.events).toMatchObject([{ data: { notification_id: cancelled, ...CANCELLED } }])
  })

  test('in the webhooks of both formats', async () => {
    const [standard, callback] = receivers
    await until(() => [standard?.hooks.length, callback?.hooks.length]).toEqual([1, 1])
    expect(JSON.parse(standard?.hooks[0]?.body ?? '').data).toMatchObject({ notification_id: cancelled, ...CANCELLED })
    expect(JSON.parse(callback?.hooks[0]?.body ?? '')).toMatchObject({ id: cancelled, ...CANCELLED })
  })

  test('in the timeline', async () => {
    const { body } = await key.get(`/herald/v1/notifications/${cancelled}/timeline`)
    expect(body.message).toMatchObject({ id: cancelled, ...CANCELLED })
  })

  test('in the report of messages, as lines of JSON and as CSV, and found by its status', async () => {
    const path = '/herald/v1/reports/messages'
    const lines = (await key.get(`${path}?format=ndjson&status=cancelled`)).text.trim().split('\n')
    expect(lines.map(line => JSON.parse(line))).toMatchObject([{ id: cancelled, ...CANCELLED }])
    const rows = (await key.get(path)).text.split('\r\n').filter(row => row.startsWith(`"${cancelled}"`))
    expect(rows).toEqual([expect.stringContaining(',"email","cancelled","Cancelled",')])
    expect((await key.get(path)).text.match(/"In transit"/g)).toHaveLength(1) // the scheduled one
  })

  test('on the command line', async () => {
    let out = ''
    const print = (text: string) => {
      out += text
    }
    expect(await run(['message', 'show', cancelled], { out: print, err: print }, () => here.config)).toBe(0)
    expect(out).toMatch(/status +cancelled \(Cancelled\)/)
  })

  test('and /v2 does not have it', async () => {
    expect((await key.get(`${LIST}/${cancelled}`)).status).toBe(404)
    expect((await key.get(LIST)).body.notifications.map((one: { id: Id }) => one.id)).toEqual([scheduled, sent])
  })
})

describe('§23.3 `older_than` with the id of a cancelled message', () => {
  test.each(['', '&include_jobs=true', '&status=delivered', '&template_type=email'])(
    'the list continues from its place: %j',
    async filter => {
      const reply = await key.get(`${LIST}?older_than=${cancelled}${filter}`)
      expect(reply.status).toBe(200)
      expect(reply.body.notifications.map((one: { id: Id }) => one.id)).toEqual([sent])
    },
  )
})

describe('§23.5 groups of statistics', () => {
  type Found = { group: string; messages: number; delivered: number; in_transit: number; cancelled: number }
  const groups = async (by: string): Promise<Found[]> =>
    (await key.get(`/herald/v1/statistics?by=${by}&from=${new Date(Date.now() - 86_400_000).toISOString()}`)).body
      .groups

  test('by status: as GET names them. Scheduled messages are `created`, cancelled ones a group of their own', async () => {
    expect((await key.get(`${LIST}/${scheduled}`)).body.status).toBe('created')
    const found = await groups('status')
    expect(found.map(({ group, messages }) => [group, messages])).toEqual([
      ['cancelled', 1],
      ['created', 1],
      ['delivered', 1],
    ])
  })

  test.each(['day', 'month', 'template', 'channel', 'key_type', 'key'])(
    'by %s: cancelled ones are not part of the total of accepted messages',
    async by => {
      const found = await groups(by)
      const sum = (name: 'messages' | 'delivered' | 'in_transit' | 'cancelled') =>
        found.reduce((all, one) => all + one[name], 0)
      expect([sum('messages'), sum('delivered'), sum('in_transit'), sum('cancelled')]).toEqual([2, 1, 1, 1])
    },
  )
})
