import { describe, expect, test } from 'vitest'
import { createAddresses, NOT_ALLOWED } from './address.ts'
import type { WebhookSettings } from './settings.ts'

const settings = (given: Partial<WebhookSettings> = {}): WebhookSettings => ({
  webhookAllow: [],
  webhookPorts: [{ from: 443, to: 443 }],
  webhookSchemes: ['https'],
  ...given,
})
const { mayConnect, checkUrl } = createAddresses(settings())

describe('addresses', () => {
  test.each([
    '93.184.215.14',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '64:ff9b::808:808',
    '::ffff:8.8.8.8',
  ])('%s is public', address => {
    expect(mayConnect(address)).toBe(true)
  })

  test.each([
    ...[
      '127.0.0.1',
      '127.1.2.3',
      '0.0.0.0',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
    ],
    ...['100.64.0.1', '100.100.100.200', '168.63.129.16', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...['::', '::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '100::1', '5f00::1'],
    ...['2001:db8::1', '3fff::1', '2001::1', '2001:2::1', '2002:7f00:1::', '64:ff9b:1::1'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:a9fe:a9fe',
      '::ffff:10.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::10.0.0.1',
      '::127.0.0.1',
    ],
    ...['', 'example.org', '1.2.3'],
  ])('%s is refused', address => {
    expect(mayConnect(address)).toBe(false)
  })

  test('the operator allows ranges, also where they are embedded in IPv6 addresses', () => {
    const { mayConnect } = createAddresses(settings({ webhookAllow: ['10.1.0.0/16', 'fd12::/16', '127.0.0.1'] }))
    for (const address of ['10.1.2.3', 'fd12::7', '127.0.0.1', '::ffff:10.1.2.3', '64:ff9b::a01:203'])
      expect(mayConnect(address), address).toBe(true)
    for (const address of ['10.2.0.1', 'fd13::7', '127.0.0.2', '169.254.169.254', '::1'])
      expect(mayConnect(address), address).toBe(false)
  })
})

describe('the address of an endpoint', () => {
  test.each([
    'https://example.org/hooks?x=1',
    'https://example.org',
    'HTTPS://Example.ORG:443/a',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ])('%s is accepted', text => {
    expect(checkUrl(text)).toHaveProperty('url')
  })

  const INSIDE = 'must not be an address inside a network; the operator decides by HERALD_WEBHOOK_ALLOW'
  const SCHEME = 'must begin with https://; the operator decides by HERALD_WEBHOOK_SCHEMES'
  const NO_ADDRESS = 'must be an address like https://example.org/events, in ASCII'
  test.each([
    ['http://example.org/', SCHEME],
    ['ftp://example.org/', SCHEME],
    ['file:///etc/passwd', SCHEME],
    ['https://me:secret@example.org/', 'must not contain a user name or a password'],
    ['https://me@example.org/', 'must not contain a user name or a password'],
    ['https://example.org/#part', 'must not contain a fragment (#)'],
    ['https://example.org/#', 'must not contain a fragment (#)'],
    ['https://example.org:8443/', 'must not use port 8443; the operator decides by HERALD_WEBHOOK_PORTS'],
    ['https://example.org:22/', 'must not use port 22; the operator decides by HERALD_WEBHOOK_PORTS'],
    ['https://127.0.0.1/', INSIDE],
    ['https://2130706433/', INSIDE],
    ['https://0x7f000001/', INSIDE],
    ['https://0177.0.0.1/', INSIDE],
    ['https://127.1/', INSIDE],
    ['https://0/', INSIDE],
    ['https://[::1]/', INSIDE],
    ['https://[::ffff:127.0.0.1]/', INSIDE],
    ['https://[0:0:0:0:0:ffff:a9fe:a9fe]/', INSIDE],
    ['https://169.254.169.254/latest/meta-data/', INSIDE],
    ['https://localhost/', INSIDE],
    ['https://LOCALHOST./', INSIDE],
    ['https://a.localhost/', INSIDE],
    ['https://１２７.0.0.1/', NO_ADDRESS],
    ['https://exämple.org/', NO_ADDRESS],
    ['https://example.org\\@127.0.0.1/', NO_ADDRESS],
    ['https://exam\tple.org/', NO_ADDRESS],
    [' https://example.org/', NO_ADDRESS],
    ['https:example.org', NO_ADDRESS],
    ['https://', NO_ADDRESS],
    ['https://[::1', NO_ADDRESS],
    ['example.org', NO_ADDRESS],
    ['', NO_ADDRESS],
    [`https://example.org/${'x'.repeat(2_000)}`, 'must have at most 2000 characters'],
  ])('%s is refused', (text, problem) => {
    expect(checkUrl(text)).toEqual({ problem })
  })

  test('schemes and ports by setting', () => {
    const wider = createAddresses(
      settings({
        webhookSchemes: ['https', 'http'],
        webhookPorts: [
          { from: 80, to: 80 },
          { from: 8000, to: 8999 },
        ],
      }),
    )
    expect(wider.checkUrl('http://example.org/')).toHaveProperty('url')
    expect(wider.checkUrl('https://example.org:8443/')).toHaveProperty('url')
    expect(wider.checkUrl('https://example.org/')).toHaveProperty('problem')
    expect(wider.checkUrl('ws://example.org/')).toEqual({
      problem: 'must begin with https:// or http://; the operator decides by HERALD_WEBHOOK_SCHEMES',
    })
  })
})

describe('the lookup of a connection', () => {
  const lookupOf = (found: readonly string[], all: boolean) =>
    new Promise(resolve => {
      const { lookup } = createAddresses(settings(), async () => found)
      lookup('example.org', { all }, (error, ...rest) => resolve(error ? error.code : rest))
    })

  test('leaves out what is not allowed, and fails when nothing is left', async () => {
    expect(await lookupOf(['10.0.0.1', '8.8.8.8', '::1'], true)).toEqual([[{ address: '8.8.8.8', family: 4 }]])
    expect(await lookupOf(['10.0.0.1', '8.8.8.8'], false)).toEqual(['8.8.8.8', 4])
    expect(await lookupOf(['10.0.0.1', '::ffff:127.0.0.1'], true)).toBe(NOT_ALLOWED)
    expect(await lookupOf([], true)).toBe('ENOTFOUND')
  })

  test('an error of the resolver is passed on', async () => {
    const { lookup } = createAddresses(settings(), () =>
      Promise.reject(Object.assign(new Error(), { code: 'ETIMEOUT' })),
    )
    const code = await new Promise(resolve => lookup('example.org', { all: true }, error => resolve(error?.code)))
    expect(code).toBe('ETIMEOUT')
  })
})
