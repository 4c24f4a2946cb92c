import { createCipheriv } from 'node:crypto'
import { expect, test } from 'vitest'
import { createXaes, openGcm } from './xaes.ts'

// https://c2sp.org/XAES-256-GCM, "Test vectors".
test.each([['01', 'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271']])(
  'the vector of the specification with the key %s…',
  (byte, sealed) => {
    const nonce = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX')
    const xaes = createXaes(Buffer.from(byte.repeat(32), 'hex'))
    expect(Buffer.concat(xaes.seal(nonce, [Buffer.from('XAES-'), Buffer.from('256-GCM')])).toString('hex')).toBe(sealed)
    expect(xaes.open(nonce, Buffer.from(sealed, 'hex')).toString()).toBe('XAES-256-GCM')
  },
)

// The specification's second vector has additional data, which Herald does not use, so only the text is compared: its key has the
// highest bit of the first block set, and CMAC then adds 0x87.
test('the text of the second vector', () => {
  const xaes = createXaes(Buffer.from('03'.repeat(32), 'hex'))
  const sealed = Buffer.concat(xaes.seal(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX'), [Buffer.from('XAES-256-GCM')]))
  expect(sealed.subarray(0, 12).toString('hex')).toBe('986ec1832593df5443a17943')
})

test('a tag shorter than 16 bytes is refused, though it fits', () => {
  const [key, nonce] = [Buffer.alloc(32, 1), Buffer.alloc(12, 2)]
  for (const authTagLength of [4, 8, 12, 15]) {
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength })
    cipher.final()
    expect(() => openGcm(key, nonce, cipher.getAuthTag())).toThrow('too short')
  }
})
