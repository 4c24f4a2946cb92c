// The counter against zlib: what zlib makes it must count, what zlib refuses it must refuse.
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inflatedSize } from './deflate.ts'

const STRATEGIES = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FIXED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FILTERED,
]
const content = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }),
  fc
    .array(fc.constantFrom('<w:t>', 'abc', ' ', '\n', 'é'), { maxLength: 2_000 })
    .map(words => Buffer.from(words.join(''))),
  fc.nat(300_000).map(size => Buffer.alloc(size)),
)

describe('the size of a deflated member', () => {
  test('equals what zlib inflates, at every level and in every kind of block', () => {
    fc.assert(
      fc.property(content, fc.integer({ min: 0, max: 9 }), fc.constantFrom(...STRATEGIES), (data, level, strategy) => {
        const raw = deflateRawSync(data, { level, strategy })
        expect(inflatedSize(raw, data.length)).toBe(data.length)
        if (data.length > 0) expect(inflatedSize(raw, data.length - 1)).toBe(null)
      }),
      { numRuns: 300 },
    )
  })

  test('is unknown where the stream is cut, continues, or is no stream', () => {
    const raw = deflateRawSync(Buffer.from('Hello, hello, hello.'.repeat(50)))
    for (let length = 0; length < raw.length; length++) expect(inflatedSize(raw.subarray(0, length), 1e9)).toBe(null)
    expect(inflatedSize(Buffer.concat([raw, Buffer.from('x')]), 1e9)).toBe(null)
    expect(inflatedSize(Buffer.from([0x07]), 1e9)).toBe(null)
  })

  test('equals that of zlib, or is unknown, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), bytes => {
        const size = inflatedSize(bytes, 1e6)
        if (size !== null) expect(inflateRawSync(bytes).length).toBe(size)
      }),
      { numRuns: 5_000 },
    )
  })

  test('counting stops as soon as a bomb exceeds its declared size', () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000))
    const begun = performance.now()
    expect(inflatedSize(bomb, 1_000)).toBe(null)
    expect(performance.now() - begun).toBeLessThan(50)
    expect(inflatedSize(bomb, 50_000_000)).toBe(50_000_000)
  })
})
