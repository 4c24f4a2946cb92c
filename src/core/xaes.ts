// XAES-256-GCM (C2SP, https://c2sp.org/XAES-256-GCM): AES-256-GCM with a key for each value, derived from the first half of a nonce of
// 192 bits. Plain AES-GCM with random nonces of 96 bits is safe for 2^32 values under one key only; here 2^80 are.
import { createCipheriv, createDecipheriv } from 'node:crypto'

export const NONCE_BYTES = 24
export const TAG_BYTES = 16
const BLOCK_BYTES = 16
const HALF_NONCE = 12

export type Xaes = {
  /** The sealed parts, and the tag as the last one. */
  seal(nonce: Buffer, clear: readonly Buffer[]): Buffer[]
  /** Throws when `sealed`, with its tag, was modified. */
  open(nonce: Buffer, sealed: Buffer): Buffer
}

export function createXaes(key: Buffer): Xaes {
  // In ECB mode a block does not depend on the one before, so one cipher serves all values.
  const block = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  const mask = doubled(block.update(Buffer.alloc(BLOCK_BYTES)))

  // CMAC of two counters and the first half of the nonce (NIST SP 800-108).
  function keyFor(nonce: Buffer): Buffer {
    const input = Buffer.alloc(2 * BLOCK_BYTES)
    for (const counter of [1, 2]) {
      const at = (counter - 1) * BLOCK_BYTES
      input[at + 1] = counter
      input[at + 2] = 0x58 // X
      nonce.copy(input, at + 4, 0, HALF_NONCE)
    }
    for (let at = 0; at < input.length; at++) input[at] = (input[at] ?? 0) ^ (mask[at % BLOCK_BYTES] ?? 0)
    return block.update(input)
  }

  return {
    seal(nonce, clear) {
      const cipher = createCipheriv('aes-256-gcm', keyFor(nonce), nonce.subarray(HALF_NONCE, NONCE_BYTES))
      const body = clear.map(part => cipher.update(part))
      cipher.final()
      return [...body, cipher.getAuthTag()]
    },
    open(nonce, sealed) {
      return openGcm(keyFor(nonce), nonce.subarray(HALF_NONCE, NONCE_BYTES), sealed)
    },
  }
}

/** Opens AES-256-GCM. Without a fixed length of the tag, Node accepts one of 4 bytes, which can be guessed. */
export function openGcm(key: Parameters<typeof createDecipheriv>[1], nonce: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < TAG_BYTES) throw new Error('too short to be sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const clear = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES))
  decipher.final()
  return clear
}

/** Multiplied by x in GF(2^128), as CMAC does (RFC 4493). */
function doubled(block: Buffer): Buffer {
  const result = Buffer.alloc(BLOCK_BYTES)
  for (let at = 0; at < BLOCK_BYTES; at++) result[at] = ((block[at] ?? 0) << 1) | ((block[at + 1] ?? 0) >> 7)
  if ((block[0] ?? 0) & 0x80) result[BLOCK_BYTES - 1] = (result[BLOCK_BYTES - 1] ?? 0) ^ 0x87
  return result
}
