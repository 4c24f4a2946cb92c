import { describe, expect, test } from 'vitest'
import { isLoopback, LOOPBACK, networkOf } from './network.ts'

describe('the network of an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1:2', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
    ['not an address', 'not an address'],
  ])('%s is in %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  test.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'])(
    '%s is this machine',
    address => {
      expect(networkOf(address)).toBe(LOOPBACK)
    },
  )
})

test.each([
  ...['localhost', 'LOCALHOST', '127.0.0.1', '127.255.0.9', '::1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
])('%s is this machine', host => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  ...['', 'localhost.example.org', 'example.org', '127.0.0.1.example.org', '127.example', '128.0.0.1', '0.0.0.0'],
  ...['::', '[::2]', '::1:1', '1::1', '[::ffff:128.0.0.1]'],
])('%j is another machine', host => {
  expect(isLoopback(host)).toBe(false)
})
