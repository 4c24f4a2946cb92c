import { createCipheriv, createHmac, hkdfSync } from 'node:crypto'
import sodium from 'libsodium-wrappers'
import { describe, expect, test } from 'vitest'
import {
  DIGESTS,
  type DigestPurpose,
  SEALED_TOKENS,
  type SealedToken,
  SIGNED_TOKENS,
  type SignedToken,
  STORED,
  type StoredPurpose,
} from './purposes.ts'
import { createSeal } from './seal.ts'

const SECRET = 'a secret that is long enough for a test'
const NEWER = 'another secret that is long enough, too'
const TEXTS = ['', 'Ada', "O'Brien & Анна <李>", '\u{1f600}', 'x'.repeat(2_048), 'x'.repeat(2_049), 'x'.repeat(60_000)]
const STORED_PURPOSES = Object.keys(STORED) as StoredPurpose[]
const TOKENS = Object.keys(SEALED_TOKENS) as SealedToken[]
const SIGNED = Object.keys(SIGNED_TOKENS) as SignedToken[]

const xchacha = createSeal([SECRET])
const aes = createSeal([SECRET], { cipher: 'aes-256-gcm' })

describe.each([
  ['XChaCha20-Poly1305', xchacha],
  ['AES-256-GCM', aes],
])('sealed texts, %s', (_, seal) => {
  test('are opened as they were', () => {
    for (const text of TEXTS) expect(seal.open('message', seal.seal('message', text)).toString('utf8')).toBe(text)
    const parts = [Buffer.from([1]), Buffer.from('piece')]
    expect(seal.open('file content', seal.sealParts('file content', parts))).toEqual(Buffer.concat(parts))
  })

  test('are sealed differently each time, with nothing of the text in sight', () => {
    const sealed = Array.from({ length: 2_000 }, () => seal.seal('message', 'person@example.org').toString('hex'))
    expect(new Set(sealed).size).toBe(2_000)
    expect(sealed.some(hex => hex.includes(Buffer.from('person').toString('hex')))).toBe(false)
  })

  test('that were changed in any byte, or cut, are not opened', () => {
    const sealed = seal.seal('message', 'person@example.org')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => seal.open('message', changed)).toThrow()
      changed[at] = (changed[at] ?? 0) ^ 3 // the other cipher, where the byte names it
      expect(() => seal.open('message', changed)).toThrow()
      expect(() => seal.open('message', sealed.subarray(0, at))).toThrow()
    }
  })

  test('need their secret, which may be an earlier one', () => {
    const sealed = seal.seal('message', 'Ada')
    expect(createSeal([NEWER, SECRET]).open('message', sealed).toString('utf8')).toBe('Ada')
    expect(() => createSeal([NEWER]).open('message', sealed)).toThrow('a secret that is not configured')
  })

  test('of one purpose do not open for another', () => {
    for (const made of STORED_PURPOSES)
      for (const asked of STORED_PURPOSES) {
        const sealed = seal.seal(made, 'Ada')
        if (asked === made) expect(seal.open(asked, sealed).toString()).toBe('Ada')
        else expect(() => seal.open(asked, sealed), `${made} as ${asked}`).toThrow('for another purpose')
      }
  })

  test('are current when their secret and purpose are', () => {
    const both = createSeal([NEWER, SECRET])
    const sealed = seal.seal('key secret', 'Ada')
    expect(seal.isCurrent('key secret', sealed)).toBe(true)
    expect(sealed.subarray(0, 4)).toEqual(seal.idFor('key secret'))
    expect(both.isCurrent('key secret', sealed)).toBe(false)
    expect(seal.isCurrent('mail', sealed)).toBe(false)
  })
})

test('each cipher opens what the other has sealed, and finds its marks', () => {
  expect(aes.open('message', xchacha.seal('message', 'Ada')).toString('utf8')).toBe('Ada')
  expect(xchacha.open('message', aes.seal('message', 'Ada')).toString('utf8')).toBe('Ada')
  const marks = createSeal([NEWER, SECRET]).marks('recipient', 'one').map(String)
  for (const seal of [xchacha, aes, createSeal([SECRET], { format: '1' })]) {
    expect(marks).toContain(String(seal.mark('recipient', 'one')))
    expect(marks).not.toContain(String(seal.mark('recipient', 'another')))
  }
})

test('digests and marks of one purpose are not those of another', () => {
  const purposes = Object.keys(DIGESTS) as DigestPurpose[]
  for (const seal of [xchacha, aes]) {
    const all = purposes.flatMap(purpose => [seal.digest(purpose, 'text'), xchacha.mark(purpose, 'text')].map(String))
    expect(new Set(all).size).toBe(2 * purposes.length)
  }
  for (const purpose of purposes) expect(xchacha.digests(purpose, 'text')[0]).toEqual(xchacha.digest(purpose, 'text'))
})

describe('tokens', () => {
  const values = [
    ...TOKENS.map(purpose => [purpose, xchacha.sealToken(purpose, 'Ada')] as const),
    ...STORED_PURPOSES.map(purpose => [`stored ${purpose}`, xchacha.seal(purpose, 'Ada')] as const),
    ...[xchacha, aes].map(seal => ['long', seal.seal('message', 'x'.repeat(5_000))] as const),
    ['format 1', createSeal([SECRET], { format: '1' }).seal('message', 'Ada')] as const,
    ['short texts of format 1', shortBefore('Ada')] as const,
  ]

  test('are opened for their purpose only, and stored data never', () => {
    for (const purpose of TOKENS)
      for (const [name, value] of values)
        if (name === purpose) expect(xchacha.openToken(purpose, value).toString()).toBe('Ada')
        else expect(() => xchacha.openToken(purpose, value), `${name} as ${purpose}`).toThrow('not a token')
  })

  test('are not opened as stored data', () => {
    for (const purpose of STORED_PURPOSES)
      for (const token of TOKENS) expect(() => xchacha.open(purpose, xchacha.sealToken(token, 'Ada'))).toThrow()
  })

  test('of an earlier secret are refused, unless their table says otherwise', () => {
    const rotated = createSeal([NEWER, SECRET])
    for (const purpose of TOKENS) expect(() => rotated.openToken(purpose, xchacha.sealToken(purpose, 'Ada'))).toThrow()
    for (const purpose of SIGNED)
      expect(rotated.isSigned(purpose, 'text', xchacha.sign(purpose, 'text')), purpose).toBe(
        SIGNED_TOKENS[purpose].secrets === 'all',
      )
  })

  test('are signed for their purpose and text only, with the whole signature', () => {
    for (const purpose of SIGNED) {
      const signature = xchacha.sign(purpose, 'text')
      expect(signature.length).toBe(SIGNED_TOKENS[purpose].bytes)
      expect(xchacha.isSigned(purpose, 'text', signature)).toBe(true)
      expect(xchacha.isSigned(purpose, 'texts', signature)).toBe(false)
      for (const bytes of [0, 1, signature.length - 1])
        expect(xchacha.isSigned(purpose, 'text', signature.subarray(0, bytes))).toBe(false)
      for (const other of SIGNED)
        if (other !== purpose) {
          const bytes = SIGNED_TOKENS[other].bytes
          const padded = Buffer.concat([signature, Buffer.alloc(32)]).subarray(0, bytes)
          expect(xchacha.isSigned(other, 'text', padded), `${purpose} as ${other}`).toBe(false)
        }
    }
  })
})

const part = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', SECRET, 'herald', info, bytes))

/** As version 0.1 sealed everything: the same bytes by Node's own functions. */
function sealedBefore(text: string, { authTagLength = 16, nonceBytes = 12 } = {}): Buffer {
  const nonce = Buffer.alloc(nonceBytes, 7)
  const cipher = createCipheriv('aes-256-gcm', part('seal', 32), nonce, { authTagLength })
  return Buffer.concat([part('id', 4), nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** As version 0.2 sealed the texts of messages. */
function shortBefore(text: string): Buffer {
  const nonce = Buffer.alloc(24, 7)
  const body = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(text, null, null, nonce, part('short texts', 32))
  return Buffer.concat([part('id of short texts', 4), nonce, body])
}

describe('data of versions 0.1 and 0.2', () => {
  test('is opened, and found by its digests', () => {
    for (const stored of [sealedBefore('Ada'), shortBefore('Ada')])
      for (const purpose of STORED_PURPOSES) {
        expect(xchacha.open(purpose, stored).toString('utf8')).toBe('Ada')
        expect(createSeal([NEWER, SECRET]).open(purpose, stored).toString('utf8')).toBe('Ada')
        expect(xchacha.isCurrent(purpose, stored)).toBe(false)
      }
    const digest = createHmac('sha256', part('pepper', 32)).update('recipient').digest()
    const mark = Buffer.from(sodium.crypto_generichash(16, 'recipient', part('marks', 32)))
    expect(xchacha.digests('key secret', 'recipient')).toContainEqual(digest)
    expect(xchacha.marks('recipient', 'recipient')).toContainEqual(digest)
    expect(xchacha.marks('recipient', 'recipient')).toContainEqual(mark)
  })

  test('is what HERALD_SEAL_FORMAT=1 writes', () => {
    const seal = createSeal([SECRET], { format: '1' })
    const digest = createHmac('sha256', part('pepper', 32)).update('recipient').digest()
    expect([seal.digest('key secret', 'recipient'), seal.mark('recipient', 'recipient')]).toEqual([digest, digest])
    const sealed = seal.seal('message', 'Ada')
    expect(sealed.subarray(0, 4)).toEqual(part('id', 4))
    expect(seal.isCurrent('message', sealed)).toBe(true)
    expect(seal.isCurrent('message', xchacha.seal('message', 'Ada'))).toBe(false)
    expect(xchacha.open('message', sealed).toString()).toBe('Ada')
    expect(seal.keyedBy(NEWER).isCurrent('message', seal.keyedBy(NEWER).seal('message', ''))).toBe(true)
  })

  test('is refused when it is too short for a tag of 16 bytes, though its tag fits', () => {
    expect(() => xchacha.open('message', sealedBefore('', { authTagLength: 4, nonceBytes: 4 }))).toThrow('too short')
    for (let bytes = 0; bytes < 32; bytes++)
      expect(() => xchacha.open('message', sealedBefore('').subarray(0, bytes))).toThrow()
  })
})
