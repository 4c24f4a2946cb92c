// Contract 22: decisions after the first build about the values of a message.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Id } from '../../src/core/id.ts'
import { EMAIL, emailTemplate, type Key, rawEmail, rawSms, SMS, smsTemplate } from '../support/sends.ts'
import { type Reply, type World, world } from '../support/world.ts'

const BULK = '/v2/notifications/bulk'

let here: World
let key: Key
let email: Id
let sms: Id

beforeAll(async () => {
  here = await world()
  key = await (await here.service({ may_send_files: true, rate_limit: 100_000, sms_prefix: false })).key()
  email = await emailTemplate(key, 'n ((n))', 'News')
  sms = await smsTemplate(key, 'n ((n))')
})

/** Raw bytes: JSON.stringify cannot produce these bodies. */
const raw = (path: string, body: string | Buffer): Promise<Reply> =>
  here.call('POST', path, { raw: body, headers: { authorization: `ApiKey-v1 ${key.key}` } })

const emailBody = (personalisation: string, template: Id = email) => rawEmail(template, personalisation)
const smsBody = (personalisation: string) => rawSms(sms, personalisation)

/** Pads a body beyond the size from which a worker thread parses it. */
const padded = (body: string) => `${body.slice(0, -1)}${' '.repeat(300_000)}}`

async function shown(body: string): Promise<{ answered: string; read: string }> {
  const sent = await raw(EMAIL, body)
  expect([sent.status, sent.text]).toEqual([201, expect.any(String)])
  const read = await key.get(`/v2/notifications/${sent.body.id}`)
  return { answered: sent.body.content.body, read: read.body.body }
}

describe('§22.5 integers keep all their digits, and numbers have one spelling everywhere', () => {
  const NUMBERS = [
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['12345678901234567890123', '12345678901234567890123'],
    ['9007199254740991', '9007199254740991'],
    ['1e21', '1000000000000000000000'],
    ['0.0000001', '0.0000001'],
    ['1.5e-7', '0.00000015'],
    ['-2.5e-10', '-0.00000000025'],
    ['0.00001', '0.00001'],
    ['1.5', '1.5'],
    ['-7', '-7'],
    ['0', '0'],
  ] as const

  test.each(NUMBERS)(
    '%s in a single e-mail, small or large, as it is answered and as it is read',
    async (written, text) => {
      for (const body of [emailBody(`{"n":${written}}`), padded(emailBody(`{"n":${written}}`))])
        expect(await shown(body)).toEqual({ answered: `n ${text}`, read: `n ${text}` })
    },
  )

  test('in a list and in a text message', async () => {
    const { answered } = await shown(emailBody('{"n":[9007199254740993,1.5e-7]}'))
    expect(answered).toContain('* 9007199254740993\n* 0.00000015')
    const sent = await raw(SMS, smsBody('{"n":9007199254740993}'))
    expect(sent.body.content.body).toBe('n 9007199254740993')
  })

  test('in the cells of a bulk job', async () => {
    const rows = NUMBERS.map(([written], at) => `["${at}@example.net",${written}]`).join(',')
    const job = await raw(BULK, `{"name":"n","template_id":"${email}","rows":[["email address","n"],${rows}]}`)
    expect([job.status, job.text]).toEqual([201, expect.any(String)])
    const chunks = await here.parts.db.sql<{ sealed: Buffer }>`
      select sealed from chunks where job_id = ${job.body.data.id} order by id`
    const stored = chunks.flatMap(({ sealed }) =>
      JSON.parse(here.parts.seal.open('bulk rows', sealed).toString('utf8')),
    )
    expect(stored.map((row: { values: { n: string } }) => row.values.n)).toEqual(NUMBERS.map(([, text]) => text))
  })

  test('in a preview and in sentences', async () => {
    const preview = await raw(`/v2/template/${email}/preview`, '{"personalisation":{"n":9007199254740993}}')
    expect(preview.body.body).toContain('n 9007199254740993')
    const refused = await raw(EMAIL, emailBody('{}').replace('{', '{"reference":9007199254740993,'))
    expect(refused).toBeRefused(400, 'ValidationError', 'reference 9007199254740993 is not of type string')
    const small = await raw(EMAIL, emailBody('{}').replace('{', '{"reference":1.5e-7,'))
    expect(small).toBeRefused(400, 'ValidationError', 'reference 0.00000015 is not of type string')
    const row = await raw(BULK, `{"name":"n","template_id":"${email}","rows":[["email address","n"],9007199254740993]}`)
    expect(row).toBeRefused(400, 'BadRequestError', 'Error converting to CSV: iterable expected, not int')
  })

  test('an integer without end cannot be read', async () => {
    const refused = await raw(EMAIL, emailBody(`{"n":${'9'.repeat(400)}}`))
    expect(refused.body.errors[0].message).toMatch(/^Error decoding arguments/)
  })
})

describe('§22.8 names stay in the order of the caller, also those that look like integers', () => {
  test('unexpected fields, in every route', async () => {
    const sentence = 'Additional properties are not allowed (b, 10, a, 2 were unexpected)'
    const more = '{"b":1,"10":1,"a":1,"2":1,'
    expect(await raw(EMAIL, emailBody('{"n":1}').replace('{', more))).toBeRefused(400, 'ValidationError', sentence)
    expect(await raw(EMAIL, padded(emailBody('{"n":1}').replace('{', more)))).toBeRefused(
      400,
      'ValidationError',
      sentence,
    )
    const rows = `"name":"n","template_id":"${email}","rows":[["email address","n"],["a@example.net",1]]}`
    expect(await raw(BULK, more + rows)).toBeRefused(400, 'ValidationError', sentence)
  })

  test('an object in a sentence', async () => {
    const refused = await raw(EMAIL, emailBody('{}').replace('{', '{"reference":{"b":1,"1":{"\\u0032":3,"0":4}},'))
    expect(refused).toBeRefused(400, 'ValidationError', 'reference {b: 1, 1: {2: 3, 0: 4}} is not of type string')
  })

  test('sentences about files', async () => {
    const files = '{"20":{"file":"eA==","filename":"x"},"3":{"file":1,"filename":"abc"}}'
    for (const body of [emailBody(files), padded(emailBody(files))])
      expect(await raw(EMAIL, body)).toBeRefused(
        400,
        'ValidationError',
        'filename is too short',
        'sending_method is a required property',
        'file 1 is not of type string',
      )
  })

  test('of two spellings of one name the last one wins, as it is answered and as it is read', async () => {
    const template = await emailTemplate(key, 'n ((10)) ((2))', 'News')
    const cases = [
      ['{"1_0":"first","10":"last","2":"x"}', 'n last x'],
      ['{"10":"first","1_0":"last","2":"x"}', 'n last x'],
      ['{"\\u0031_0":"first","1\\u0030":"last","2":"x"}', 'n last x'],
      ['{"1_0":"first","10":9007199254740993,"2":"x"}', 'n 9007199254740993 x'],
    ] as const
    for (const [personalisation, text] of cases)
      for (const body of [emailBody(personalisation, template), padded(emailBody(personalisation, template))])
        expect(await shown(body)).toEqual({ answered: text, read: text })
  })

  test('a file under an overridden name is still attached', async () => {
    const template = await emailTemplate(key, 'n ((10))', 'News')
    const file = '{"file":"eA==","filename":"a.txt","sending_method":"attach"}'
    const { answered, read } = await shown(emailBody(`{"1_0":${file},"10":"last"}`, template))
    expect([answered, read]).toEqual(['n last', 'n last'])
  })

  test('the same name twice cannot be read, and __proto__ is a name like any other', async () => {
    for (const personalisation of ['{"1":"a","1":"b"}', '{"1":"a","\\u0031":"b"}', '{"1":{},"a":"x","a":"y"}']) {
      const refused = await raw(EMAIL, emailBody(personalisation))
      expect(refused.body.errors[0].message).toMatch(/^Error decoding arguments/)
    }
    const refused = await raw(EMAIL, emailBody('{}').replace('{', '{"__proto__":{"x":1},"1":2,'))
    expect(refused).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed (__proto__, 1 were unexpected)',
    )
  })
})

describe('§22.9 lists or objects inside a list', () => {
  const sentence = 'personalisation n items must be strings or numbers'
  const file = '{"file":"eA==","filename":"a.txt","sending_method":"attach"}'

  test.each([['[["a"]]'], ['["a",{}]'], ['[[]]'], [`[${file}]`], ['["a",["b"],{"c":1}]']])('%s', async value => {
    expect(await raw(EMAIL, emailBody(`{"n":${value}}`))).toBeRefused(400, 'ValidationError', sentence)
    expect(await raw(SMS, smsBody(`{"n":${value}}`))).toBeRefused(400, 'ValidationError', sentence)
    const preview = await raw(`/v2/template/${email}/preview`, `{"personalisation":{"n":${value}}}`)
    expect(preview).toBeRefused(400, 'ValidationError', sentence)
  })

  test('one sentence for each name, in the order of the names and beside those about files', async () => {
    const body = emailBody('{"b":[[1]],"n":{"file":"eA==","filename":"abc"},"1":[{}]}')
    expect(await raw(EMAIL, body)).toBeRefused(
      400,
      'ValidationError',
      'personalisation b items must be strings or numbers',
      'sending_method is a required property',
      'personalisation 1 items must be strings or numbers',
    )
  })

  test('strings, numbers and what is dropped from a list are fine', async () => {
    const { answered } = await shown(emailBody('{"n":["a",1,null,false,true,""]}'))
    expect(answered).toContain('* a\n* 1\n* True')
  })
})

describe('§22.20 number and depth of personalisation in a single send', () => {
  const names = (count: number) => `{"n":"x",${Array.from({ length: count - 1 }, (_, at) => `"k${at}":1`).join(',')}}`
  const MANY = 'personalisation has too many values'
  const DEEP = 'personalisation is nested too deeply'

  test('1,000 names are fine, 1,001 are too many', async () => {
    expect((await raw(EMAIL, emailBody(names(1_000)))).status).toBe(201)
    expect((await raw(SMS, smsBody(names(1_000)))).status).toBe(201)
    for (const body of [emailBody(names(1_001)), padded(emailBody(names(1_001)))])
      expect(await raw(EMAIL, body)).toBeRefused(400, 'ValidationError', MANY)
    expect(await raw(SMS, smsBody(names(1_001)))).toBeRefused(400, 'ValidationError', MANY)
    const preview = await raw(`/v2/template/${email}/preview`, `{"personalisation":${names(1_001)}}`)
    expect(preview).toBeRefused(400, 'ValidationError', MANY)
  })

  test('three levels of names are looked at, four are too deep', async () => {
    expect(
      await raw(EMAIL, emailBody('{"n":{"file":{"a":1},"filename":"abc","sending_method":"attach"}}')),
    ).toBeRefused(400, 'ValidationError', 'file {a: 1} is not of type string')
    for (const value of ['{"a":{"b":{"c":1}}}', '[[[[1]]]]', `${'['.repeat(5_000)}${']'.repeat(5_000)}`])
      for (const [path, body] of [
        [EMAIL, emailBody(`{"n":${value}}`)],
        [EMAIL, padded(emailBody(`{"n":${value}}`))],
        [SMS, smsBody(`{"n":${value}}`)],
      ] as const)
        expect(await raw(path, body)).toBeRefused(400, 'ValidationError', DEEP)
  })

  test('the limits cannot be avoided by spelling the field with escapes', async () => {
    const hidden = emailBody(names(1_001)).replace('"personalisation"', '"personalis\\u0061tion"')
    expect(await raw(EMAIL, hidden)).toBeRefused(400, 'ValidationError', MANY)
  })

  test('a list of more items than all values may have characters', async () => {
    const list = (count: number) => `{"n":[${Array.from({ length: count }, () => '1').join(',')}]}`
    expect((await raw(EMAIL, emailBody(list(15_000)))).status).toBe(201)
    expect((await raw(EMAIL, emailBody(list(20_000)))).body.errors[0].message).toMatch(
      /^Personalisation variables size of/,
    )
    expect(await raw(EMAIL, emailBody(list(60_000)))).toBeRefused(400, 'ValidationError', MANY)
  })

  test('fields of any other object have a limit, too', async () => {
    const fields = Array.from({ length: 1_001 }, (_, at) => `"k${at}":1`).join(',')
    for (const [path, body] of [
      [EMAIL, `{${fields}}`],
      [BULK, `{${fields}}`],
      ['/v2/manage-template', `{${fields}}`],
      ['/v2/manage-template', `{"name":{${fields}}}`],
    ] as const) {
      const refused = await raw(path, body)
      expect([refused.status, refused.body.errors[0].message]).toEqual([
        400,
        expect.stringMatching(/^Error decoding arguments/),
      ])
    }
  })
})
