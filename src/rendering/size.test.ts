import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codePoints } from './characters.ts'
import { bodyAnswer } from './email.ts'
import { fill, keyed, missing, names, parse } from './placeholders.ts'
import { createMergedLength, isOverLimit, renderedLimit, unitsOf } from './size.ts'

const piece = fc.constantFrom('((a))', '((b))', '((a??yes 😀))', '((b??no))', 'text ', '\n', '😀', '((', '))')
const template = fc.array(piece, { maxLength: 20 }).map(parts => parts.join(''))
const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant('yes'))
const value = fc.oneof(
  scalar,
  fc.array(fc.option(scalar), { minLength: 1 }).map(items => [...items, 'x']),
)

test('§22.13 the computed length equals the length of the rendered text', () => {
  fc.assert(
    fc.property(template, value, value, (text, a, b) => {
      const parts = parse(text)
      const values = keyed({ a, b })
      fc.pre(missing(names(parts), values).length === 0) // a missing value is refused before
      const body = bodyAnswer(parts, values)
      const line = fill(parts, values, { html: 'passthrough', markers: 'plain' })
      for (const [lists, rendered] of [
        ['markdown', body],
        ['inline', line],
      ] as const) {
        expect(createMergedLength(parts, lists)(values, unitsOf)).toBe(rendered.length)
        expect(createMergedLength(parts, lists)(values, codePoints)).toBe(codePoints(rendered))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('§22.13 characters are counted, not UTF-16 units', () => {
  const length = createMergedLength(parse('((a))'.repeat(100)), 'markdown')
  const of = (text: string) => isOverLimit(length, keyed({ a: text }))
  expect(renderedLimit).toBe(2_000_000)
  expect([of('x'.repeat(20_000)), of('x'.repeat(20_001))]).toEqual([false, true])
  expect([of('😀'.repeat(20_000)), of('😀'.repeat(20_001))]).toEqual([false, true])
})
