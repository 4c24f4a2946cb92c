// Interface 5, contract 3: authentication.
import { createHmac, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSeal } from '../../src/core/seal.ts'
import { type World, world } from '../support/world.ts'

const CLOCK = 'Error: Your system clock must be accurate to within 30 seconds'
const PATH = '/v2/templates'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Awaited<ReturnType<typeof service.key>>

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
})

const withHeader = (authorization: string | undefined, more: Record<string, string> = {}, path = PATH) =>
  here.call('GET', path, { headers: { ...(authorization !== undefined && { authorization }), ...more } })

describe('3.2 header parsing', () => {
  test('missing or empty', async () => {
    for (const header of [undefined, '', '   '])
      expect(await withHeader(header)).toBeRefused(
        401,
        'AuthError',
        'Unauthorized, authentication token must be provided',
      )
  })

  test('another scheme', async () => {
    for (const header of ['Basic x', 'ApiKey x', 'Token abc', key.key])
      expect(await withHeader(header)).toBeRefused(
        401,
        'AuthError',
        'Unauthorized, Authorization header is invalid. Supported authentication methods: ApiKey-v1, Bearer',
      )
  })

  test('the scheme in any case, several spaces', async () => {
    for (const header of [`ApiKey-v1 ${key.key}`, `apikey-V1    ${key.key}  `, `APIKEY-V1 ${key.key}`])
      expect((await withHeader(header)).status).toBe(200)
  })
})

describe('3.3 ApiKey-v1', () => {
  test('5.5 anything that does not lead to a key has one answer', async () => {
    const { id } = await here.service()
    const secret = key.key.slice(-36)
    const wrong = [
      '',
      'x',
      secret,
      key.key.slice(1),
      `other${key.key.slice(6)}`,
      `herald--${service.id}-${secret}`,
      `herald-a_key-${id}-${secret}`,
      `herald-a_key-${service.id}-${randomUUID()}`,
      `herald-a_key-${service.id}-${secret.toUpperCase()}`,
      `herald-a_key-${service.id}-not-a-secret-but-36-characters-long-`,
      'é'.repeat(100),
    ]
    for (const text of wrong)
      expect(await withHeader(`ApiKey-v1 ${encodeHeader(text)}`), text).toBeRefused(
        403,
        'AuthError',
        'Invalid token: API key not found',
      )
  })

  test('the name in the key need only be there', async () => {
    expect((await withHeader(`ApiKey-v1 herald-other_name-${service.id}-${key.key.slice(-36)}`)).status).toBe(200)
  })

  test('a revoked key stops working at once, also for the process that knew it', async () => {
    const doomed = await service.key()
    expect((await doomed.get(PATH)).status).toBe(200)
    await here.parts.db.sql`update keys set revoked_at = now() where id = ${doomed.id}`
    const refused = () => withHeader(`ApiKey-v1 ${doomed.key}`)
    await expect.poll(async () => (await refused()).status, { interval: 5 }).toBe(403)
    expect(await refused()).toBeRefused(403, 'AuthError', 'Invalid token: API key revoked')
  })

  test('a key past its planned end counts as revoked', async () => {
    const ended = await service.key()
    await here.parts.db.sql`update keys set expires_at = now() - interval '1 second' where id = ${ended.id}`
    await expect
      .poll(async () => (await ended.get(PATH)).text, { interval: 5 })
      .toContain('Invalid token: API key revoked')
  })

  test('archived service', async () => {
    const other = await here.service()
    const itsKey = await other.key()
    await other.change({ state: 'archived' })
    await expect.poll(async () => (await itsKey.get(PATH)).status, { interval: 5 }).toBe(403)
    expect(await itsKey.get(PATH)).toBeRefused(403, 'AuthError', 'Invalid token: service is archived')
    expect(await withHeader(`Bearer ${token(itsKey.key)}`)).toBeRefused(
      403,
      'AuthError',
      'Invalid token: service is archived',
    )
  })

  test('5.4 the Date header shows the clock of the caller: more than 30 seconds away is refused', async () => {
    const at = (seconds: number) => ({ date: new Date(Date.now() + seconds * 1000).toUTCString() })
    expect((await withHeader(`ApiKey-v1 ${key.key}`, at(0))).status).toBe(200)
    expect((await withHeader(`ApiKey-v1 ${key.key}`, at(-29))).status).toBe(200)
    expect((await withHeader(`ApiKey-v1 ${key.key}`, { date: 'yesterday' })).status).toBe(200)
    for (const seconds of [-33, 33])
      expect(await withHeader(`ApiKey-v1 ${key.key}`, at(seconds))).toBeRefused(403, 'AuthError', CLOCK)
  })

  test('last used is stored', async () => {
    const fresh = await service.key()
    await fresh.get(PATH)
    await expect
      .poll(
        async () =>
          (
            await here.parts.db.sql<{
              last_used_at: string | null
            }>`select last_used_at from keys where id = ${fresh.id}`
          )[0]?.last_used_at,
      )
      .toBeTruthy()
  })
})

describe('3.4 Bearer', () => {
  test('a token of a client library is as good as the key', async () => {
    expect((await withHeader(`Bearer ${token(key.key)}`)).status).toBe(200)
    expect((await withHeader(`bearer ${token(key.key)}`)).status).toBe(200)
  })

  const refused = (message: string, ...tokens: string[]) =>
    test(message, async () => {
      for (const text of tokens) expect(await withHeader(`Bearer ${text}`), text).toBeRefused(403, 'AuthError', message)
    })

  const claims = (payload: unknown, header: unknown = { alg: 'HS256', typ: 'JWT' }) =>
    `${part(header)}.${part(payload)}.${'x'.repeat(43)}`
  refused(
    'Invalid token: signature, api token is not valid',
    '',
    'x',
    'a.b',
    'a.b.c',
    'a.b.c.d',
    `${part({ alg: 'HS256' })}.${part([])}.x`,
    '....',
    `${part(3)}.${part(4)}.x`,
  )
  refused('Invalid token: iss field not provided', claims({}), claims({ iat: 1 }), claims({ iss: null }))
  refused(
    'Invalid token: service id is not the right data type',
    claims({ iss: 'x' }),
    claims({ iss: 7 }),
    claims({ iss: {} }),
  )
  refused('Invalid token: service not found', claims({ iss: randomUUID() }))

  test('Invalid token: service has no API keys', async () => {
    const { id } = await here.service()
    expect(await withHeader(`Bearer ${claims({ iss: id })}`)).toBeRefused(
      403,
      'AuthError',
      'Invalid token: service has no API keys',
    )
  })

  test('check vector 18: iat 31 s old is refused, 30 s old is accepted, in either direction', async () => {
    const now = Math.floor(here.parts.clock.now() / 1000)
    // Whole seconds pass during the request: the bound itself is tested one second inside.
    for (const iat of [now - 32, now + 33])
      expect(await withHeader(`Bearer ${token(key.key, { iat })}`)).toBeRefused(403, 'AuthError', CLOCK)
    for (const iat of [now - 29, now + 30])
      expect((await withHeader(`Bearer ${token(key.key, { iat })}`)).status).toBe(200)
  })

  test('no key fits, another algorithm, iat missing or not a number', async () => {
    const foreign = await (await here.service()).key()
    const own = token(key.key)
    const forged = [
      token(key.key, {}, { alg: 'none' }),
      `${token(key.key, {}, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`,
      token(key.key, {}, { alg: 'RS256' }),
      token(key.key, {}, { alg: 'HS512' }),
      token(key.key, {}, { alg: 'hs256' }),
      token(key.key, {}, {}),
      token(key.key, { iat: undefined }),
      token(key.key, { iat: String(Math.floor(Date.now() / 1000)) }),
      token(foreign.key, { iss: service.id }),
      `${own.slice(0, -2)}${own.endsWith('AA') ? 'BB' : 'AA'}`,
      `${part({ alg: 'HS256' })}.${part({ iss: service.id, iat: Math.floor(Date.now() / 1000) })}.`,
    ]
    for (const text of forged)
      expect(await withHeader(`Bearer ${text}`), text).toBeRefused(
        403,
        'AuthError',
        'Invalid token: signature, api token not found',
      )
  })

  test('a key that no configured secret opens does not keep the others of its service from working', async () => {
    const service = await here.service()
    const [lost, good] = [await service.key(), await service.key()]
    const sealed = createSeal(['a secret that was lost']).seal('key secret', 'x')
    await here.parts.db.sql`update keys set secret_sealed = ${sealed} where id = ${lost.id}`
    const get = async (text: string) => withHeader(`Bearer ${token(text, { iss: service.id })}`)
    expect((await get(good.key)).status).toBe(200)
    expect(await get(lost.key)).toBeRefused(403, 'AuthError', 'Invalid token: signature, api token not found')
  })

  test('a revoked key takes part in matching', async () => {
    const doomed = await service.key()
    await here.parts.db.sql`update keys set revoked_at = now() where id = ${doomed.id}`
    await expect
      .poll(async () => (await withHeader(`Bearer ${token(doomed.key)}`)).text, { interval: 5 })
      .toContain('Invalid token: API key revoked')
  })
})

describe('3.5 after authentication', () => {
  test('5.3 without manage_templates: refused first, before ids and bodies', async () => {
    const plain = await service.key({ manageTemplates: false })
    const message = 'This API key does not have permission to manage templates.'
    expect(await plain.get('/v2/manage-template/template-categories')).toBeRefused(403, 'ForbiddenError', message)
    expect(await plain.get('/v2/manage-template/not-an-id')).toBeRefused(403, 'ForbiddenError', message)
    expect(await plain.delete('/v2/manage-template/not-an-id')).toBeRefused(403, 'ForbiddenError', message)
    expect(await plain.post('/v2/manage-template', [])).toBeRefused(403, 'ForbiddenError', message)
    expect(await plain.patch('/v2/manage-template/not-an-id', [])).toBeRefused(403, 'ForbiddenError', message)
  })

  test('5.3 all three key types can manage templates when they hold it', async () => {
    for (const type of ['normal', 'team', 'test'] as const)
      expect((await (await service.key({ type })).get('/v2/manage-template/template-categories')).status).toBe(200)
  })
})

test('secrets are not in the database', async () => {
  const [row] = await here.parts.db.sql<{ dump: string }>`select string_agg(keys::text, '') as dump from keys`
  const secret = key.key.slice(-36)
  expect(row?.dump).not.toContain(secret)
  expect(row?.dump).not.toContain(Buffer.from(secret).toString('hex'))
})

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function token(
  key: string,
  claims: Record<string, unknown> = {},
  header: object = { alg: 'HS256', typ: 'JWT' },
): string {
  const payload = { iss: key.slice(-73, -37), iat: Math.floor(Date.now() / 1000), ...claims }
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${createHmac('sha256', key.slice(-36)).update(signed).digest('base64url')}`
}

// Headers are latin1 on the wire.
const encodeHeader = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
