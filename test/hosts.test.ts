// A Host header that names no host is refused on every path: links and the console's origin are made of it.
import { beforeAll, describe, expect, test } from 'vitest'
import { exchange, statusOf } from './support/wire.ts'
import { type World, world } from './support/world.ts'

let here: World
let behindProxy: World
beforeAll(async () => {
  here = await world()
  behindProxy = await world({ HERALD_TRUSTED_PROXIES: '127.0.0.1' })
})

const PATHS = [
  '/console/sign-in',
  '/console',
  '/docs',
  '/docs/api',
  '/openapi.json',
  '/v2/templates',
  '/nowhere',
  '/inbox',
]

const ask = (address: string, path: string, ...headers: string[]) =>
  exchange(address, `GET ${path} HTTP/1.1\r\n${headers.map(line => `${line}\r\n`).join('')}Connection: close\r\n\r\n`)

describe.each([
  '127.0.0.1:99999',
  '127.0.0.1:-1',
  '127.0.0.1:port',
  '127.0.0.1:80:80',
  '999.999.999.999',
  '[::1',
  '[::g]',
  'example.org/path',
  'someone@example.org',
  'example.org#here',
  'example.org?here',
  'example.org\\here',
  'exa mple.org',
  '<script>',
  'a%00b',
])('Host: %s', host => {
  test.each(PATHS)('%s answers 400', async path => {
    expect(statusOf(await ask(here.address, path, `Host: ${host}`))).toBe(400)
  })
})

test.each(['localhost', '127.0.0.1:65535', '[::1]:6011', 'my_service.internal', 'EXAMPLE.org.', 'example.org:'])(
  'Host: %s is taken',
  async host => {
    for (const path of PATHS) expect(statusOf(await ask(here.address, path, `Host: ${host}`))).not.toBe(400)
  },
)

test('what a trusted proxy forwards is checked as well', async () => {
  const forwarded = (host: string) =>
    ask(behindProxy.address, '/console/sign-in', 'Host: localhost', `X-Forwarded-Host: ${host}`)
  expect(statusOf(await forwarded('127.0.0.1:99999'))).toBe(400)
  expect(statusOf(await forwarded('localhost:6011'))).toBe(200)
})
