// Contract 22.20: how long one body may keep the event loop from the others. Measured alone: what other test files leave in memory would be
// collected in the time that is measured.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { addedPause, createCaller } from '../support/loop.ts'
import { EMAIL, emailTemplate, type Key, rawEmail, rawSms, SMS, smsTemplate } from '../support/sends.ts'
import { type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'

let here: World
let key: Key
let email: Id
let sms: Id

beforeAll(async () => {
  here = await world()
  key = await (await here.service({ rate_limit: 100_000, sms_prefix: false })).key()
  email = await emailTemplate(key, 'n ((n))', 'News')
  sms = await smsTemplate(key, 'n ((n))')
})

const raw = (path: string, body: string) =>
  here.call('POST', path, { raw: body, headers: { authorization: `ApiKey-v1 ${key.key}` } })
const emailBody = (personalisation: string) => rawEmail(email, personalisation)
const smsBody = (personalisation: string) => rawSms(sms, personalisation)

describe('§22.20 no body delays the others: at most 50 ms beyond what an ordinary one does', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')
  const many = keys(1_500_000)
  const some = keys(200_000)
  const few = keys(60_000)
  const usual = () => raw(SMS, smsBody('{"n":"x"}'))

  test.each([
    ['1.5 million names of a text message', SMS, () => smsBody(`{${many}}`)],
    ['200,000 names of an e-mail', EMAIL, () => emailBody(`{${some}}`)],
    ['1.5 million unexpected fields', EMAIL, () => `{${many}}`],
    ['1.5 million unexpected fields of a bulk job', BULK, () => `{${many}}`],
    ['a list of four million items', EMAIL, () => emailBody(`{"n":[${'1,'.repeat(4_000_000)}1]}`)],
    ['a value of 15 million characters', SMS, () => smsBody(`{"n":"${'x'.repeat(15_000_000)}"}`)],
    ['a value of three million emoji', SMS, () => smsBody(`{"n":"${'\u{1f600}'.repeat(3_000_000)}"}`)],
    [
      'a reference of 15 million characters',
      SMS,
      () => smsBody('{}').replace('{', `{"reference":"${'x'.repeat(15_000_000)}",`),
    ],
    ['60,000 fields of a template', '/v2/manage-template', () => `{${few}}`],
    ['ten million brackets', EMAIL, () => `{"a":${'[]'.repeat(5_000_000)}}`],
    ['a number of 15 million digits', EMAIL, () => emailBody(`{"n":${'9'.repeat(15_000_000)}}`)],
    ['a name of 15 million digits', EMAIL, () => emailBody(`{"${'9'.repeat(15_000_000)}":1}`)],
    ['a million backslashes', EMAIL, () => emailBody(`{"n":"${'\\\\'.repeat(7_000_000)}"}`)],
  ])(
    '%s',
    async (_what, path, make) => {
      const statuses = new Set<number>()
      const caller = await createCaller(here.port, path, key.key, make())
      try {
        expect(await addedPause(usual, async () => statuses.add(await caller.ask()))).toBeLessThan(50)
      } finally {
        await caller.stop()
      }
      expect([...statuses]).toEqual([400])
    },
    30_000,
  )
})
