// Interface 2.4, 2.5, 4.10 and 7.5; contract 5.5, 13, 16.4 and 18.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { CATEGORY, type World, world } from '../support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Awaited<ReturnType<typeof service.key>>

beforeAll(async () => {
  here = await world()
  service = await here.service({ name: 'Sample & Sons' })
  key = await service.key()
})

const email = (more: object = {}) => ({
  name: 'Welcome',
  template_type: 'email',
  content: 'Hello ((name))',
  subject: 'Welcome, ((name))',
  template_category_id: CATEGORY.general,
  ...more,
})
const sms = (more: object = {}) => ({
  name: 'Code',
  template_type: 'sms',
  content: 'Your code is ((code))',
  template_category_id: CATEGORY.authentication,
  ...more,
})
const make = async (body: object) => (await key.post('/v2/manage-template', body)).body
const SPACED = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/
const ZULU = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('2.5 categories', () => {
  test('are listed with their fixed ids, in the order of the specification', async () => {
    const reply = await key.get('/v2/manage-template/template-categories')
    expect(reply.status).toBe(200)
    expect(reply.text).toBe(
      JSON.stringify({
        template_categories: [
          ['207b293c-2ae5-48e8-836d-fcabd60b2153', 'General communication'],
          ['977e2a00-f957-4ff0-92f2-ca3286b24786', 'Confirmation'],
          ['e81678c0-4897-4111-b9d0-172f6b595f89', 'Decision'],
          ['e0b8fbe5-f435-4977-8fc8-03f13d9296a5', 'Request'],
          ['b6c42a7e-2a26-4a07-802b-123a5c3198a9', 'Authentication'],
          ['55eb1137-6dc6-4094-9031-f61124a279dc', 'Status update'],
          ['7c16aa95-e2e1-4497-81d6-04c656520fe4', 'Test'],
          ['1d8ce435-a7e5-431b-aaa2-a418bc4d14f9', 'Alert'],
          ['edb966f3-4a4c-47a4-96ab-05ff259b919c', 'Reminder'],
        ].map(([template_category_id, name]) => ({ template_category_id, name })),
      }),
    )
  })

  test('a hidden category is accepted if named, but not listed', async () => {
    const hidden = randomUUID()
    await here.parts.db
      .sql`insert into template_categories (id, position, name, lane, hidden) values (${hidden}, 99, 'Hidden', 'low', true)`
    expect((await key.get('/v2/manage-template/template-categories')).text).not.toContain('Hidden')
    expect((await make(email({ template_category_id: hidden }))).template_category_name).toBe('Hidden')
  })
})

describe('create', () => {
  test('201 with the template, every field in its order (5.5)', async () => {
    const folder = await service.addFolder('Letters')
    const reply = await key.post('/v2/manage-template', email({ parent_folder_id: folder.id.toUpperCase() }))
    expect(reply.status).toBe(201)
    expect(Object.keys(reply.body)).toEqual([
      'id',
      'service_id',
      'service_name',
      'name',
      'type',
      'created_at',
      'updated_at',
      'created_by',
      'version',
      'body',
      'subject',
      'postage',
      'template_category_id',
      'template_category_name',
      'folder_id',
      'archived',
    ])
    expect(reply.body).toEqual({
      id: expect.stringMatching(UUID),
      service_id: service.id,
      service_name: 'Sample & Sons',
      name: 'Welcome',
      type: 'email',
      created_at: expect.stringMatching(SPACED),
      updated_at: null,
      created_by: 'maria@example.org',
      version: 1,
      body: 'Hello ((name))',
      subject: 'Welcome, ((name))',
      postage: 'second',
      template_category_id: CATEGORY.general,
      template_category_name: 'General communication',
      folder_id: folder.id,
      archived: false,
    })
  })

  test('a text template has no subject, even if one was sent', async () => {
    const made = await make(sms({ subject: 'dropped' }))
    expect(made.subject).toBe(null)
    expect(made.type).toBe('sms')
  })

  test('empty strings are accepted, names need not be unique', async () => {
    expect((await key.post('/v2/manage-template', email({ name: '', content: '', subject: '' }))).status).toBe(201)
    expect((await key.post('/v2/manage-template', email())).status).toBe(201)
  })

  test('check vector 13: {} misses name, template_type, content and the category, whose name keeps its apostrophes', async () => {
    expect(await key.post('/v2/manage-template', {})).toBeRefused(
      400,
      'ValidationError',
      'name is a required property',
      'template_type is a required property',
      'content is a required property',
      "'template_category_id' is a required property",
    )
  })

  test('subject is required for e-mails, and comes last (21.12)', async () => {
    expect(await key.post('/v2/manage-template', { template_type: 'email', name: 'x' })).toBeRefused(
      400,
      'ValidationError',
      'content is a required property',
      "'template_category_id' is a required property",
      'subject is a required property',
    )
  })

  test.each([
    [{ name: 7 }, 'name 7 is not of type string'],
    [{ name: null }, 'name None is not of type string'],
    [{ content: ["it's", 1.5, null, true, { a: 1 }] }, 'content [its, 1.5, None, True, {a: 1}] is not of type string'],
    [{ subject: {} }, 'subject {} is not of type string'],
    [{ template_type: 'letter' }, 'template_type letter is not one of [sms, email]'],
    [{ template_type: 7 }, 'template_type 7 is not one of [sms, email]'],
    [{ parent_folder_id: null }, 'parent_folder_id is not a valid UUID'],
    [{ parent_folder_id: 'x' }, 'parent_folder_id is not a valid UUID'],
    [{ parent_folder_id: 7 }, 'parent_folder_id is not a valid UUID'],
    [{ foo: 1, bar: 2 }, 'Additional properties are not allowed'],
    [JSON.parse('{"__proto__": 1}'), 'Additional properties are not allowed'],
    [{ name: 'a\u0000b' }, 'name contains a character that is not allowed'],
    [{ content: '\u0000' }, 'content contains a character that is not allowed'],
    [{ subject: 'x'.repeat(2001) }, `subject ${'x'.repeat(300)} is too long`],
    [{ name: [`${'😀'.repeat(400)}`] }, `name [${'😀'.repeat(299)} is not of type string`],
  ])('%j', async (more, message) => {
    expect(
      await key.post('/v2/manage-template', { ...email(), ...(more as object), ...own(more as object) }),
    ).toBeRefused(400, 'ValidationError', message)
  })

  test('field rules come first, in the order of the fields, then what is missing, then what is unexpected', async () => {
    const body = { subject: 3, name: 4, foo: 1, parent_folder_id: 'x', template_category_id: CATEGORY.general }
    expect(await key.post('/v2/manage-template', body)).toBeRefused(
      400,
      'ValidationError',
      'name 4 is not of type string',
      'subject 3 is not of type string',
      'parent_folder_id is not a valid UUID',
      'template_type is a required property',
      'content is a required property',
      'Additional properties are not allowed',
    )
  })

  test('a malformed category is one error of its own and replaces all others', async () => {
    for (const template_category_id of ['x', 7, null, ''])
      expect(await key.post('/v2/manage-template', { template_category_id, foo: 1 })).toBeRefused(
        400,
        'TemplateCategoryValidationError',
        'template_category_id must be a valid UUID',
      )
  })

  test('category unknown, before folder unknown, before lengths', async () => {
    const unknown = { template_category_id: randomUUID(), parent_folder_id: randomUUID(), name: 'x'.repeat(255) }
    expect(await key.post('/v2/manage-template', email(unknown))).toBeRefused(
      400,
      'TemplateCategoryNotFoundError',
      'template_category_id not found',
    )
    expect(
      await key.post('/v2/manage-template', email({ ...unknown, template_category_id: CATEGORY.general })),
    ).toBeRefused(400, 'BadRequestError', 'parent_folder_id not found')
  })

  test('the folder of another service is unknown', async () => {
    const foreign = await (await here.service()).addFolder('Theirs')
    expect(await key.post('/v2/manage-template', email({ parent_folder_id: foreign.id }))).toBeRefused(
      400,
      'BadRequestError',
      'parent_folder_id not found',
    )
  })

  test('a type that is not enabled for the service', async () => {
    const limited = await here.service({ may_send_email: false, may_send_sms: false })
    const itsKey = await limited.key()
    expect(await itsKey.post('/v2/manage-template', email())).toBeRefused(
      403,
      'ForbiddenError',
      'Creating email templates is not allowed',
    )
    expect(await itsKey.post('/v2/manage-template', sms())).toBeRefused(
      403,
      'ForbiddenError',
      'Creating text message templates is not allowed',
    )
  })

  test('content: 612 counted characters for text, 50,000 for e-mail; equal is allowed', async () => {
    const created = (body: object) => key.post('/v2/manage-template', body)
    expect((await created(sms({ content: 'a'.repeat(612) }))).status).toBe(201)
    expect((await created(sms({ content: `${'a'.repeat(610)}€((placeholder is not counted))` }))).status).toBe(201)
    expect(await created(sms({ content: `${'a'.repeat(611)}€` }))).toBeRefused(
      400,
      'BadRequestError',
      'Content has a character count greater than the limit of 612',
    )
    expect((await created(email({ content: 'é'.repeat(50_000) }))).status).toBe(201)
    expect((await created(email({ content: '😀'.repeat(50_000) }))).status).toBe(201)
    expect(await created(email({ content: `${'a'.repeat(49_993)}((name))` }))).toBeRefused(
      400,
      'BadRequestError',
      'Content has a character count greater than the limit of 50000',
    )
  })

  test('name: less than 255 characters, reported after the content', async () => {
    expect((await key.post('/v2/manage-template', email({ name: '😀'.repeat(254) }))).status).toBe(201)
    expect(await key.post('/v2/manage-template', email({ name: 'x'.repeat(255) }))).toBeRefused(
      400,
      'BadRequestError',
      'Template name must be less than 255 characters',
    )
    expect(
      await key.post('/v2/manage-template', email({ name: 'x'.repeat(255), content: 'x'.repeat(50_001) })),
    ).toBeRefused(400, 'BadRequestError', 'Content has a character count greater than the limit of 50000')
  })
})

describe('get', () => {
  test('200 with what create answered', async () => {
    const made = await key.post('/v2/manage-template', email())
    const got = await key.get(`/v2/manage-template/${made.body.id}`)
    expect([got.status, got.text]).toEqual([200, made.text])
  })

  test('1.6 any spelling of the id', async () => {
    const { id } = await make(email())
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), `urn:uuid:${id}`, `{${id}}`])
      expect((await key.get(`/v2/manage-template/${encodeURIComponent(spelling)}`)).body.id, spelling).toBe(id)
  })

  test('malformed and unknown ids; those of another service are unknown', async () => {
    const foreign = await (await here.service()).key()
    const { id } = (await foreign.post('/v2/manage-template', email())).body
    for (const call of [key.get, key.delete, (path: string) => key.patch(path, { name: 'x' })]) {
      for (const bad of ['x', '123', `%20${randomUUID()}`, '%00'])
        expect(await call(`/v2/manage-template/${bad}`)).toBeRefused(400, 'ValidationError', 'id is not a valid UUID')
      for (const unknown of [randomUUID(), '00000000-0000-0000-0000-000000000000', id])
        expect(await call(`/v2/manage-template/${unknown}`)).toBeRefused(404, 'NoResultFound', 'No result found')
    }
    expect((await foreign.get(`/v2/manage-template/${id}`)).body).toMatchObject({ version: 1, archived: false })
  })
})

describe('update', () => {
  test('given fields change, version rises by one, updated_at is set', async () => {
    const made = await make(email())
    const reply = await key.patch(`/v2/manage-template/${made.id}`, { content: 'Bye ((name))' })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ ...made, version: 2, body: 'Bye ((name))', updated_at: expect.stringMatching(SPACED) })
    expect(Object.keys(reply.body)).toEqual(Object.keys(made))
    const again = await key.patch(`/v2/manage-template/${made.id}`, { content: 'Bye ((name))' })
    expect(again.body.version).toBe(3)
  })

  test('the folder can be set, and null removes it', async () => {
    const folder = await service.addFolder('Box')
    const made = await make(email())
    expect((await key.patch(`/v2/manage-template/${made.id}`, { parent_folder_id: folder.id })).body.folder_id).toBe(
      folder.id,
    )
    expect((await key.patch(`/v2/manage-template/${made.id}`, { name: 'other' })).body.folder_id).toBe(folder.id)
    expect((await key.patch(`/v2/manage-template/${made.id}`, { parent_folder_id: null })).body).toMatchObject({
      folder_id: null,
      version: 4,
    })
  })

  test('errors, in their order', async () => {
    const { id } = await make(sms())
    const patch = (body: object) => key.patch(`/v2/manage-template/${id}`, body)
    expect(await patch({})).toBeRefused(400, 'ValidationError', '{} does not have enough properties')
    expect(await patch({ template_type: 'sms' })).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed',
    )
    expect(await patch({ name: 3, subject: [] })).toBeRefused(
      400,
      'ValidationError',
      'name 3 is not of type string',
      'subject [] is not of type string',
    )
    expect(await patch({ parent_folder_id: 'x' })).toBeRefused(
      400,
      'ValidationError',
      'parent_folder_id is not a valid UUID',
    )
    expect(await patch({ template_category_id: 'x', name: 3 })).toBeRefused(
      400,
      'TemplateCategoryValidationError',
      'template_category_id must be a valid UUID',
    )
    expect(await patch({ template_category_id: randomUUID(), parent_folder_id: randomUUID() })).toBeRefused(
      400,
      'TemplateCategoryNotFoundError',
      'template_category_id not found',
    )
    expect(await patch({ parent_folder_id: randomUUID(), name: 'x'.repeat(255) })).toBeRefused(
      400,
      'BadRequestError',
      'parent_folder_id not found',
    )
    expect(await patch({ content: 'x'.repeat(613), name: 'x'.repeat(255) })).toBeRefused(
      400,
      'BadRequestError',
      'Content has a character count greater than the limit of 612',
    )
    expect(await patch({ name: 'x'.repeat(255) })).toBeRefused(
      400,
      'BadRequestError',
      'Template name must be less than 255 characters',
    )
    expect((await key.get(`/v2/manage-template/${id}`)).body).toMatchObject({ version: 1, updated_at: null })
  })

  test('the id is checked before the body is read', async () => {
    const reply = await here.call('PATCH', '/v2/manage-template/x', {
      raw: '[',
      headers: { authorization: `ApiKey-v1 ${key.key}` },
    })
    expect(reply).toBeRefused(400, 'ValidationError', 'id is not a valid UUID')
  })

  test('edits at the same moment become versions one after the other, none is lost', async () => {
    const { id } = await make(email())
    const edits = Array.from({ length: 20 }, (_, n) =>
      key.patch(`/v2/manage-template/${id}`, n % 2 ? { name: `n${n}` } : { content: `c${n}` }),
    )
    const versions = (await Promise.all(edits)).map(reply => reply.body.version).sort((a, b) => a - b)
    expect(versions).toEqual(Array.from({ length: 20 }, (_, n) => n + 2))
    for (const version of versions) expect((await key.get(`/v2/template/${id}/${version}`)).status).toBe(200)
  })
})

describe('archive', () => {
  test('archived, out of its folder, version unchanged; GET still returns it; a second time is refused', async () => {
    const folder = await service.addFolder('Old')
    const made = await make(email({ parent_folder_id: folder.id }))
    const reply = await key.delete(`/v2/manage-template/${made.id}`)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ ...made, archived: true, folder_id: null, updated_at: expect.stringMatching(SPACED) })
    expect((await key.get(`/v2/manage-template/${made.id}`)).text).toBe(reply.text)
    expect(await key.delete(`/v2/manage-template/${made.id}`)).toBeRefused(
      400,
      'BadRequestError',
      'Template is already archived.',
    )
  })

  test('an archived template can be changed and stays archived', async () => {
    const made = await make(email())
    await key.delete(`/v2/manage-template/${made.id}`)
    expect((await key.patch(`/v2/manage-template/${made.id}`, { name: 'still here' })).body).toMatchObject({
      archived: true,
      version: 2,
      name: 'still here',
    })
  })

  test('a body on DELETE and GET is ignored, never parsed', async () => {
    const { id } = await make(email())
    const headers = { authorization: `ApiKey-v1 ${key.key}`, 'content-type': 'text/plain' }
    expect((await here.call('DELETE', `/v2/manage-template/${id}`, { raw: '{', headers })).status).toBe(200)
  })
})

describe('18 templates by version', () => {
  test('both address forms, and the latest', async () => {
    const made = await make(email())
    await key.patch(`/v2/manage-template/${made.id}`, { content: 'Second ((b)) ((a??yes))' })
    const first = await key.get(`/v2/template/${made.id}/1`)
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      id: made.id,
      type: 'email',
      created_at: expect.stringMatching(ZULU),
      updated_at: null,
      created_by: 'maria@example.org',
      version: 1,
      body: 'Hello ((name))',
      subject: 'Welcome, ((name))',
      name: 'Welcome',
      personalisation: { name: { required: true } },
      postage: 'second',
    })
    expect(Object.keys(first.body)).toEqual([
      'id',
      'type',
      'created_at',
      'updated_at',
      'created_by',
      'version',
      'body',
      'subject',
      'name',
      'personalisation',
      'postage',
    ])
    expect((await key.get(`/v2/template/${made.id}/version/1`)).text).toBe(first.text)
    const latest = await key.get(`/v2/template/${made.id}`)
    expect(latest.body).toMatchObject({
      version: 2,
      updated_at: expect.stringMatching(ZULU),
      body: 'Second ((b)) ((a??yes))',
    })
    expect(Object.keys(latest.body.personalisation)).toEqual(['name', 'b', 'a'])
    expect((await key.get(`/v2/template/${made.id}/2`)).text).toBe(latest.text)
  })

  test('any key of the service may read; archived ones too; those of others are unknown', async () => {
    const made = await make(sms())
    await key.delete(`/v2/manage-template/${made.id}`)
    const plain = await service.key({ manageTemplates: false, type: 'test' })
    expect((await plain.get(`/v2/template/${made.id}`)).body).toMatchObject({ version: 1, subject: null })
    const foreign = await (await here.service()).key()
    expect(await foreign.get(`/v2/template/${made.id}`)).toBeRefused(404, 'NoResultFound', 'No result found')
    expect(await foreign.get(`/v2/template/${made.id}/1`)).toBeRefused(404, 'NoResultFound', 'No result found')
    expect(await foreign.post(`/v2/template/${made.id}/preview`, {})).toBeRefused(
      404,
      'NoResultFound',
      'No result found',
    )
  })

  test('malformed ids, unknown versions, versions that are none', async () => {
    const { id } = await make(sms())
    expect(await key.get('/v2/template/x')).toBeRefused(400, 'ValidationError', 'id is not a valid UUID')
    for (const version of ['2', '99999999999', '2147483648'])
      expect(await key.get(`/v2/template/${id}/${version}`)).toBeRefused(404, 'NoResultFound', 'No result found')
    for (const version of ['0', '-1', '1.5', 'x', 'preview', '%00'])
      expect((await key.get(`/v2/template/${id}/${version}`)).body.errors[0].error, version).toBe('NotFound')
  })
})

describe('18 list', () => {
  test('not archived, by name in code-point order, then type', async () => {
    const own = await here.service()
    const itsKey = await own.key()
    for (const body of [
      email({ name: 'b' }),
      sms({ name: 'b' }),
      email({ name: 'é' }),
      email({ name: 'B' }),
      email({ name: 'gone' }),
    ])
      await itsKey.post('/v2/manage-template', body)
    const all = (await itsKey.get('/v2/templates')).body.templates
    await itsKey.delete(`/v2/manage-template/${all.find((t: { name: string }) => t.name === 'gone').id}`)
    const shown = async (query = '') =>
      (await itsKey.get(`/v2/templates${query}`)).body.templates.map(
        (t: { name: string; type: string }) => `${t.name} ${t.type}`,
      )
    expect(await shown()).toEqual(['B email', 'b email', 'b sms', 'é email'])
    expect(await shown('?type=sms')).toEqual(['b sms'])
    expect(await shown('?type=email&type=sms')).toEqual(['B email', 'b email', 'é email'])
    expect(await itsKey.get('/v2/templates?type=letter')).toBeRefused(
      400,
      'ValidationError',
      'type letter is not one of [sms, email]',
    )
    expect(await itsKey.get('/v2/templates?foo=1&bar=2')).toBeRefused(
      400,
      'ValidationError',
      'Additional properties are not allowed (foo, bar were unexpected)',
    )
  })
})

describe('18 preview', () => {
  test('an e-mail with its values', async () => {
    const made = await make(email({ content: 'Hello ((name))\n\n# Title' }))
    const reply = await key.post(`/v2/template/${made.id}/preview`, { personalisation: { Name: 'Maria <b>' } })
    expect(reply.status).toBe(200)
    expect(Object.keys(reply.body)).toEqual(['id', 'type', 'version', 'body', 'html', 'subject', 'postage'])
    expect(reply.body).toMatchObject({
      id: made.id,
      type: 'email',
      version: 1,
      body: 'Hello Maria <b>\n\n# Title',
      subject: 'Welcome, Maria <b>',
      postage: 'second',
    })
    expect(reply.body.html).toContain('Hello Maria &lt;b&gt;')
    expect(reply.body.html).toMatch(/<h2[^>]*>Title<\/h2>/)
  })

  test('a text message has no html and no subject', async () => {
    const made = await make(sms())
    expect((await key.post(`/v2/template/${made.id}/preview`, { personalisation: { code: 123456 } })).body).toEqual({
      id: made.id,
      type: 'sms',
      version: 1,
      body: 'Your code is 123456',
      html: null,
      subject: null,
      postage: 'second',
    })
  })

  test('missing values, wrong bodies; archived templates can be previewed', async () => {
    const made = await make(email({ content: '((a)) ((b??x))' }))
    const preview = (body: unknown) => key.post(`/v2/template/${made.id}/preview`, body)
    expect(await preview({})).toBeRefused(400, 'BadRequestError', 'Missing personalisation: name, a, b')
    expect(await preview({ personalisation: { name: null, a: 1, b: '' } })).toBeRefused(
      400,
      'BadRequestError',
      'Missing personalisation: name',
    )
    expect(await preview([])).toBeRefused(400, 'ValidationError', '[] is not of type object')
    expect(await preview({ personalisation: 3 })).toBeRefused(
      400,
      'ValidationError',
      'personalisation 3 is not of type object',
    )
    await key.delete(`/v2/manage-template/${made.id}`)
    expect((await preview({ personalisation: { name: 'n', a: 1, b: 'yes' } })).body.body).toBe('1 x')
  })
})

// Spread does not copy an own __proto__.
const own = (value: object) =>
  Object.hasOwn(value, '__proto__') ? Object.defineProperty({}, '__proto__', { value: 1, enumerable: true }) : {}
