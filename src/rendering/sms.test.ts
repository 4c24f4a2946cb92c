// What content-rules 8 says beyond its vectors.

import { expect, test } from 'vitest'
import { fragments, measure, sanitise } from './gsm.ts'
import { compileSms, countTemplate, lengthOf } from './sms.ts'

test('a compiled message is rendered with and without the prefix', () => {
  const sms = compileSms('Hi ((name)) , it costs ((x??5€))')
  expect(sms.names).toEqual(['name', 'x'])
  expect(sms.unsendable({ name: 'a' })).toEqual(['x'])
  const values = { name: 'Łukasz…', x: 'yes' }
  expect(sms.answer(values)).toEqual({ body: 'Hi ?ukasz..., it costs 5€' })
  expect(sms.render(values, ' Svc ')).toEqual({
    text: 'Svc: Hi ?ukasz..., it costs 5€',
    units: 31,
    encoding: 'GSM-7',
    fragments: 1,
    tooLong: false,
  })
})

test('all 154 syllabics are kept and cost one unit', () => {
  let kept = 0
  for (let code = 0x1400; code <= 0x18ff; code++) if (sanitise(String.fromCodePoint(code)) !== '?') kept++
  for (let code = 0x11ab0; code <= 0x11abf; code++) if (sanitise(String.fromCodePoint(code)) !== '?') kept++
  expect(kept).toBe(154)
  expect(measure('\u{11ab0}€')).toEqual({ units: 2, encoding: 'UCS-2' })
})

test('Hangul has no base letter', () => {
  expect(sanitise('한')).toBe('?')
})

test('the limit is 612 units in either encoding', () => {
  expect(lengthOf('ê'.repeat(612))).toEqual({ units: 612, encoding: 'UCS-2', fragments: 10, tooLong: false })
  expect(lengthOf('ê'.repeat(613)).tooLong).toBe(true)
  expect(fragments(306, 'GSM-7')).toBe(2)
})

test('a template without values counts no placeholders', () => {
  expect(countTemplate(' Hi ((name))\r\n((x??long text)) ').units).toBe(3)
})
