// The published client library, unmodified: a program that uses it changes the address and the key, nothing else.
import { NotifyClient } from 'notifications-node-client'
import { beforeAll, describe, expect, test } from 'vitest'
import { CATEGORY, type World, world } from '../support/world.ts'

let here: World
let client: NotifyClient
let email: { id: string }
let sms: { id: string }
let serviceId: string

beforeAll(async () => {
  here = await world()
  const service = await here.service()
  const key = await service.key()
  serviceId = service.id
  client = new NotifyClient(here.address, key.key)
  const make = async (template: object) =>
    (await key.post('/v2/manage-template', { template_category_id: CATEGORY.general, ...template })).body
  email = await make({ name: 'Permit', template_type: 'email', subject: 'For ((name))', content: 'Dear ((name))' })
  sms = await make({ name: 'Code', template_type: 'sms', content: 'Your code: ((code))' })
  await key.patch(`/v2/manage-template/${email.id}`, { content: 'Hello ((name)), your permit is *ready*' })
})

/** What the library throws for a refusal. */
async function refusalOf(call: Promise<unknown>) {
  const { response } = await call.then(
    () => Promise.reject(new Error('it was not refused')),
    error => error,
  )
  return { status: response.status, data: response.data }
}

describe('templates', () => {
  test('all of them, and those of one kind', async () => {
    const { status, data } = await client.getAllTemplates()
    expect(status).toBe(200)
    expect(data.templates.map(({ id }) => id)).toEqual([sms.id, email.id])
    expect((await client.getAllTemplates('email')).data.templates).toMatchObject([{ id: email.id, type: 'email' }])
    expect((await client.getAllTemplates('sms')).data.templates).toMatchObject([{ id: sms.id, type: 'sms' }])
  })

  test('by id: the latest version', async () => {
    const { data } = await client.getTemplateById(email.id)
    expect(data).toMatchObject({
      id: email.id,
      name: 'Permit',
      type: 'email',
      version: 2,
      subject: 'For ((name))',
      body: 'Hello ((name)), your permit is *ready*',
      personalisation: { name: { required: true } },
    })
    expect(data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  test('by id and version', async () => {
    const { data } = await client.getTemplateByIdAndVersion(email.id, 1)
    expect(data).toMatchObject({ id: email.id, version: 1, body: 'Dear ((name))' })
  })

  test('preview', async () => {
    const { data } = await client.previewTemplateById(email.id, { name: 'Ada' })
    expect(data).toMatchObject({
      id: email.id,
      type: 'email',
      version: 2,
      subject: 'For Ada',
      body: 'Hello Ada, your permit is *ready*',
    })
    expect((await client.previewTemplateById(sms.id, { code: '12' })).data).toMatchObject({
      type: 'sms',
      body: expect.stringContaining('Your code: 12'),
    })
  })
})

describe('refusals have the shape the library passes on', () => {
  test('an unknown template', async () => {
    expect(await refusalOf(client.getTemplateById('00000000-0000-0000-0000-000000000000'))).toEqual({
      status: 404,
      data: { errors: [{ error: 'NoResultFound', message: 'No result found' }], status_code: 404 },
    })
  })

  test('a value that is missing', async () => {
    expect(await refusalOf(client.previewTemplateById(email.id, {}))).toEqual({
      status: 400,
      data: { errors: [{ error: 'BadRequestError', message: 'Missing personalisation: name' }], status_code: 400 },
    })
  })

  test('an unknown key', async () => {
    const stranger = new NotifyClient(here.address, serviceId, '00000000-0000-0000-0000-000000000000')
    expect(await refusalOf(stranger.getAllTemplates())).toEqual({
      status: 403,
      data: {
        errors: [{ error: 'AuthError', message: 'Invalid token: signature, api token not found' }],
        status_code: 403,
      },
    })
  })
})
