import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileSms } from '../rendering/sms.ts'
import { createReferenceMeasure, createTextMeasure } from './measure.ts'

test('contract 21, 6: the filled message counts, with the prefix', () => {
  const values = { p: 'a'.repeat(600) }
  expect(createTextMeasure('((p))').units(values)).toBe(600)
  expect(createTextMeasure('((p))', 'Herald').units(values)).toBe(608)
  expect(createTextMeasure('((p))((p))').units(values)).toBe(1200)
})

test('a missing value counts nothing', () => {
  expect(createTextMeasure(`((p))((x??${'y'.repeat(700)}))`).units({ p: 'a'.repeat(500), x: null })).toBe(500)
})

test('10.4 the reference asks about a value beside the unfilled template, unsupported characters twice', () => {
  const isLong = createReferenceMeasure('((p))').isLongValue
  expect(isLong?.('a'.repeat(607))).toBe(false)
  expect(isLong?.('a'.repeat(608))).toBe(true)
  expect(isLong?.('•'.repeat(303))).toBe(false)
  expect(isLong?.('•'.repeat(304))).toBe(true)
})

test('a message that need not be rendered fits', () => {
  const piece = fc.constantFrom('((a))', '((b))', '((a??…€))', '…', '€', 'text ', '\n', 'é', 'ŵ')
  const content = fc.array(piece, { maxLength: 60 }).map(parts => parts.join(''))
  const value = fc.oneof(fc.constant('…'.repeat(30)), fc.string({ unit: 'binary', maxLength: 80 }))
  fc.assert(
    fc.property(content, fc.record({ a: value, b: value }), fc.option(fc.string()), (template, values, prefix) => {
      const exact = compileSms(template).render(values, prefix).units
      expect(createTextMeasure(template, prefix).units(values) > 612).toBe(exact > 612)
    }),
    { numRuns: 500 },
  )
})
