import { createCipheriv, createHmac, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSeal } from './seal.ts'

const SECRET = 'a secret that is long enough for a test'
const NEWER = 'another secret that is long enough, too'
const TEXTS = ['', 'Ada', "O'Brien & Анна <李>", '\u{1f600}', 'x'.repeat(60_000)]

describe('short texts', () => {
  const seal = createSeal([SECRET])

  test('are opened as they were', () => {
    for (const text of TEXTS) expect(seal.open(seal.sealShort(text)).toString('utf8')).toBe(text)
  })

  test('are sealed differently each time, with nothing of the text in sight', () => {
    const sealed = Array.from({ length: 2_000 }, () => seal.sealShort('person@example.org').toString('hex'))
    expect(new Set(sealed).size).toBe(2_000)
    expect(sealed.some(hex => hex.includes(Buffer.from('person').toString('hex')))).toBe(false)
  })

  test('that were changed in any byte are not opened', () => {
    const sealed = seal.sealShort('person@example.org')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => seal.open(changed)).toThrow()
    }
  })

  test('need their secret, which may be an earlier one', () => {
    const sealed = seal.sealShort('Ada')
    expect(createSeal([NEWER, SECRET]).open(sealed).toString('utf8')).toBe('Ada')
    expect(() => createSeal([NEWER]).open(sealed)).toThrow('a secret that is not configured')
  })
})

describe('each cipher opens what the other has sealed', () => {
  const short = createSeal([SECRET])
  const aes = createSeal([SECRET], 'aes-256-gcm')

  test('both ways', () => {
    expect(aes.open(short.sealShort('Ada')).toString('utf8')).toBe('Ada')
    expect(short.open(aes.sealShort('Ada')).toString('utf8')).toBe('Ada')
    expect(short.open(short.seal('Ada')).toString('utf8')).toBe('Ada')
  })

  test('recipients are found under the marks of both', () => {
    for (const one of [short, aes]) {
      const marks = createSeal([NEWER, SECRET]).marks('recipient').map(String)
      expect(marks).toContain(String(one.mark('recipient')))
      expect(marks).not.toContain(String(one.mark('another')))
    }
    expect(short.mark('recipient')).not.toEqual(aes.mark('recipient'))
  })
})

// What version 0.1 has stored: the same bytes by Node's own functions.
test('values of version 0.1 are opened, and its digests are the same', () => {
  const part = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', SECRET, 'herald', info, bytes))
  const nonce = Buffer.alloc(12, 7)
  const cipher = createCipheriv('aes-256-gcm', part('seal', 32), nonce)
  const stored = Buffer.concat([
    part('id', 4),
    nonce,
    cipher.update('Ada', 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  const seal = createSeal([SECRET])
  expect(seal.open(stored).toString('utf8')).toBe('Ada')
  const digest = createHmac('sha256', part('pepper', 32)).update('recipient').digest()
  expect(seal.digest('recipient')).toEqual(digest)
  expect(seal.marks('recipient')).toContainEqual(digest)
})
