import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectLinear, repeated } from '../../test/support/hostile.ts'
import { readEmail } from './email.ts'

const isValid = (text: string) => readEmail(text).ok

test('9.1 invisible characters and outer whitespace are removed, case stays', () => {
  expect(readEmail(' \uFEFFÀnne@Bücher.Example\r\n')).toEqual({
    ok: true,
    address: 'Ànne@Bücher.Example',
    normalised: 'ànne@bücher.example',
    host: 'xn--bcher-kva.example',
  })
})

test('S-11 only one plain address is accepted', () => {
  const payloads = [
    'a@b.org\r\nRCPT TO:<evil@z.org>',
    'a@b.org\nBcc: evil@z.org',
    'a@b.org, evil@z.org',
    'a@b.org,evil@z.org',
    'a@b.org;evil@z.org',
    'a@b.org evil@z.org',
    '<a@b.org>',
    'a@b.org>',
    'A <a@b.org>',
    '"a"@b.org',
    '"a@z.org, b"@b.org',
    "a'@z.org,b'@b.org",
    '@z.org:a@b.org',
    'a:b@b.org',
    'group: a@b.org;',
    'a(comment)@b.org',
    'a@b.org(comment)',
    'a@b.org:25',
    'a@[127.0.0.1]',
    'a@[IPv6:::1]',
    'a@127.0.0.1',
    'a@0x7f.1',
    'a@2130706433',
    'a@１２７.０.０.１',
    'a@b.org/../z.org',
    'a@b.org?z.org',
    'a@b.org#z.org',
    'a@b.org\\z.org',
    'a@b%2eorg.com',
    'a@b.org%00.com',
    'a@b.org\0.com',
    'a@b\t.org',
    'a@b.org\u2028.com',
    'a@b．．org',
    'a@b.org。',
    'a@℀.org',
    'a@z＠b.org',
    'a＠b.org',
    'a\u0000@b.org',
    'a\u007f@b.org',
    'a@\u202eb.org',
    'a@b\ud800.org',
    'mailto:a@b.org',
    'a@b.org\u00a0',
    'a@-ü.org',
    'a@ü-.org',
    'a@ü--b.org',
    'a@xn--.org',
    'a@xn--a--b.org',
    'a@b.xn--',
  ]
  expect(payloads.filter(isValid)).toEqual([])
})

test('9.1 hosts are read as IDNA', () => {
  expect(readEmail('a@例え.テスト')).toMatchObject({ host: 'xn--r8jz45g.xn--zckzah' })
  expect(readEmail('a@EXAMPLE。ORG')).toMatchObject({ host: 'example.org' })
  expect(readEmail('a@1２3.example')).toMatchObject({ host: '123.example' })
  expect(readEmail('a@XN--bcher-kva.Example')).toMatchObject({ host: 'xn--bcher-kva.example' })
})

test('9.1 lengths are counted in characters', () => {
  const host = `${'𝐚'.repeat(40)}.example`
  expect(isValid(`${'a'.repeat(320 - 1 - 48)}@${host}`)).toBe(true)
  expect(isValid(`${'a'.repeat(321 - 1 - 48)}@${host}`)).toBe(false)
})

const part = fc.stringMatching(/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~À-ÿ-]{1,20}$/)
const label = fc.stringMatching(/^[a-zA-Z0-9]{1,10}(-[a-zA-Z0-9]{1,10})?$/)

test('an address built by the rules is valid, and its normal form is its own', () => {
  fc.assert(
    fc.property(
      part,
      fc.array(label, { minLength: 1, maxLength: 4 }),
      fc.stringMatching(/^[a-z]{2,9}$/),
      (name, labels, top) => {
        const text = `${name.replace(/\.+/g, '.')}@${labels.join('.')}.${top}`
        const read = readEmail(text)
        expect(read).toMatchObject({ ok: true, address: text })
        if (read.ok)
          expect(readEmail(read.normalised)).toMatchObject({ address: read.normalised, normalised: read.normalised })
      },
    ),
  )
})

test('no text throws, and what is accepted is safe in an envelope', () => {
  const near = fc.array(
    fc.oneof(
      fc.constantFrom('@', '.', '-', 'a', 'xn--', 'é', '。', '\n', ' ', '<', ','),
      fc.string({ unit: 'binary' }),
    ),
  )
  fc.assert(
    fc.property(near, parts => {
      const read = readEmail(parts.join(''))
      if (!read.ok) return
      expect(read.address).not.toMatch(/["(),:;<>[\]\\\s]|[\u0000-\u001f\u007f-\u009f]/)
      expect(read.address.split('@')).toHaveLength(2)
      expect(read.host).toMatch(/^([a-z0-9-]+\.)+[a-z0-9-]+$/)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['a', '', '@b.org'],
  ['a.', '', '@b.org'],
  ['a@', '', ''],
  ['b.', 'a@', 'org'],
  ['b-', 'a@', '.org'],
  ['ü', 'a@', '.org'],
  ['\u200b', 'a', '@b.org'],
  [' ', '', 'a@b.org'],
  ['..', 'a@', ''],
  ['。', 'a@b', 'org'],
])('S-28 100 kB of %j', async (unit, head, tail) => {
  await expectLinear(readEmail, repeated(unit, head, tail))
})
