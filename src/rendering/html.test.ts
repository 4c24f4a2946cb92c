import { expect, test } from 'vitest'
import { decodeReferences, escapeText, referenceEnd } from './html.ts'

test('a reference is known by its name or number, and only with a semicolon', () => {
  expect(decodeReferences('&amp;&lt;&euro;&NotEqualTilde;&#8364;&#x20AC;')).toBe('&<€≂̸€€')
  expect(decodeReferences('&amp &euro &#8364 &unknown; &#; &#x;')).toBe('&amp &euro &#8364 &unknown; &#; &#x;')
  expect(escapeText('&euro; &euro &unknown; &#1;')).toBe('&euro; &amp;euro &amp;unknown; &#1;')
  expect(referenceEnd('a &CounterClockwiseContourIntegral; b', 2)).toBe(35)
})

test('numbers 128 to 159 mean windows-1252; numbers that are no character become U+FFFD', () => {
  expect(decodeReferences('&#128;&#150;&#x9f;')).toBe('€–Ÿ')
  expect(decodeReferences('&#0;&#xd800;&#x110000;&#99999999999999999999;')).toBe('\ufffd\ufffd\ufffd\ufffd')
})

test('references of control characters vanish, and what stands around them is not joined to a new one', () => {
  expect(decodeReferences('a&#1;b&#x1F;c&#007;d&#9;e&#10;f')).toBe('abcd\te\nf')
  expect(decodeReferences('&am&#1;p;')).toBe('&amp;')
})
