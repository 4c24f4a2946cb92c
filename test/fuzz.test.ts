// Two thousand malformed requests (reliability C4, 5.3, S-26, S-27): none is answered with 5xx, none without the error shape, and
// the service is alive afterwards. The same seed makes the same requests: TEST_SEED repeats a run, HERALD_TEST_FUZZ sets
// the number.
import { beforeAll, expect, test } from 'vitest'
import { askAll, createMalformed } from './support/malformed.ts'
import { CATEGORY, type World, world } from './support/world.ts'

const SEED = Number(process.env.TEST_SEED ?? 20_260_615)
const COUNT = Number(process.env.HERALD_TEST_FUZZ ?? 2_000)
let here: World
let key: Awaited<ReturnType<Awaited<ReturnType<World['service']>>['key']>>
let known: { email: string; sms: string; message: string; webhook: string }

beforeAll(async () => {
  console.log(`seed ${SEED}`)
  // Shorter timeouts for requests that never end.
  here = await world({ HERALD_REQUEST_SECONDS: '3', HERALD_HEADER_SECONDS: '2' })
  key = await (await here.service({ rate_limit: 10_000_000, email_daily_limit: 10_000_000 })).key({
    manageWebhooks: true,
  })
  const template = async (type: string, content: string) => {
    const shape = { name: 'Fuzz', template_type: type, subject: 'Hi ((name))', content }
    return (await key.post('/v2/manage-template', { ...shape, template_category_id: CATEGORY.general })).body.id
  }
  const email = await template('email', 'Hello ((name)) ((warning??careful))')
  const message = await key.post('/v2/notifications/email', {
    email_address: 'a@example.org',
    template_id: email,
    personalisation: { name: 'A', warning: 'no' },
  })
  const webhook = await key.post('/herald/v1/webhooks', { url: 'https://fuzz.invalid/events' })
  known = {
    email,
    sms: await template('sms', 'Hello ((name))'),
    message: message.body.id,
    webhook: webhook.body.id,
  }
})

test(`${COUNT} malformed requests: no 5xx, always the envelope, alive afterwards`, async () => {
  const { rawTable, generated } = createMalformed(SEED, key.key, { ...known, category: CATEGORY.general })
  const all = [...rawTable(), ...Array.from({ length: COUNT }, generated)]
  const { counts, wrong } = await askAll(here.address, all)
  console.log(counts)
  expect(wrong.slice(0, 10).join('\n')).toBe('')

  expect((await here.call('GET', '/health/ready')).status).toBe(200)
  expect((await key.get(`/v2/notifications/${known.message}`)).status).toBe(200)
  const sent = await key.post('/v2/notifications/email', {
    email_address: 'a@example.org',
    template_id: (await key.post('/v2/manage-template', { ...AFTERWARDS, template_category_id: CATEGORY.general })).body
      .id,
  })
  expect(sent.status).toBe(201)
  // No prototype pollution.
  expect(({} as { polluted?: unknown }).polluted).toBe(undefined)
}, 90_000)

const AFTERWARDS = { name: 'After', template_type: 'email', subject: 'After', content: 'Alive' }
