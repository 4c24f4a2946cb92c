import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileSms } from '../rendering/sms.ts'
import { createPartsMeasure, createTextMeasure } from './measure.ts'

test('contract 21, 6: the filled message counts, with the prefix', () => {
  const filled = (letters: number) => ({ p: 'a'.repeat(letters) })
  expect(createTextMeasure('((p))').isTooLong(filled(612))).toBe(false)
  expect(createTextMeasure('((p))').isTooLong(filled(613))).toBe(true)
  expect(createTextMeasure('((p))', 'Herald').isTooLong(filled(604))).toBe(false)
  expect(createTextMeasure('((p))', 'Herald').isTooLong(filled(605))).toBe(true)
  expect(createTextMeasure('((p))((p))').isTooLong(filled(306))).toBe(false)
  expect(createTextMeasure('((p))((p))').isTooLong(filled(307))).toBe(true)
})

test('a missing value counts nothing', () => {
  const measure = createTextMeasure(`((p))((x??${'y'.repeat(700)}))`)
  expect(measure.isTooLong({ p: 'a'.repeat(500), x: null })).toBe(false)
})

test('the decision by lengths equals that of rendering', () => {
  const piece = fc.constantFrom('((a))', '((b))', '((a??…€))', '…', '€', 'text ', '\n', 'é', 'ŵ')
  const content = fc.array(piece, { maxLength: 60 }).map(parts => parts.join(''))
  const spaces = fc.constantFrom('\u200b', '\u00a0', ' ', '\t', '\r\n', '\u2003').map(space => space.repeat(200))
  const value = fc.oneof(
    fc.constant('…'.repeat(30)),
    fc.constant('李'.repeat(60)),
    spaces,
    fc.string({ unit: 'binary', maxLength: 80 }),
  )
  fc.assert(
    fc.property(content, fc.record({ a: value, b: value }), fc.option(fc.string()), (template, values, prefix) => {
      const exact = compileSms(template).render(values, prefix).units
      expect(createTextMeasure(template, prefix).isTooLong(values)).toBe(exact > 612)
    }),
    { numRuns: 500 },
  )
})

test('the parts of a row are those of the rendered message, whatever its characters are', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 170 }),
    fc.string({ unit: fc.constantFrom('a', ' ', '[', '€', 'ê', '\n', '…', '李', 'А', '`', '.', ' .'), maxLength: 170 }),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(
        'Hi ((name))',
        '((name)) ((name)) and ((code)).',
        'ê ((name))',
        '{((code))}',
        '((code??Yes: ))((name))',
      ),
      fc.constantFrom(null, 'Parking permits', 'Ünïted'),
      fc.record({ name: text, code: fc.oneof(text, fc.constant(null)) }),
      (content, prefix, values) => {
        const { encoding, fragments } = createPartsMeasure(content, prefix)(values)
        const whole = compileSms(content).render({ ...values, code: values.code ?? '' }, prefix)
        expect({ encoding, fragments }).toEqual({ encoding: whole.encoding, fragments: whole.fragments })
      },
    ),
  )
})
