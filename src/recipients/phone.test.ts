import fc from 'fast-check'
import { findPhoneNumbersInText, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { expect, test } from 'vitest'
import { expectLinear, repeated } from '../../test/support/hostile.ts'
import { find, readPhone, search } from './phone.ts'
import { createNorthAmericanTest, createPhonePlan } from './plans.ts'

const plan = createPhonePlan()
const read = (text: string) => readPhone(text, { international: true })

test('contract 2.7 the four sentences', () => {
  expect(read('613-555-0123;')).toEqual({ ok: false, problem: 'Not a valid number' })
  expect(read('not a number')).toEqual({ ok: false, problem: 'Not a valid international number' })
  expect(read('+249912345678')).toEqual({ ok: false, problem: 'Country code 249 is not supported' })
  const everybody = createPhonePlan('1', 'all')
  expect(readPhone('+249912345678', { international: true, plan: everybody })).toMatchObject({ e164: '+249912345678' })
})

test('a number has a country, and is domestic or international', () => {
  expect(read('call 613-555-0123 now')).toEqual({
    ok: true,
    e164: '+16135550123',
    countryCode: '1',
    international: false,
  })
  expect(read('+33 6 12 34 56 78')).toEqual({ ok: true, e164: '+33612345678', countryCode: '33', international: true })
})

test('9.2 ten digits are required, also where the plan knows seven', () => {
  expect(read('310-1234').ok).toBe(false)
  expect(read('+1 310 1234').ok).toBe(false)
  expect(read('310-1234 or 613-555-0123')).toMatchObject({ e164: '+16135550123' })
})

test('another home country', () => {
  const french = createPhonePlan('33', '33, 40-49')
  expect(readPhone('06 12 34 56 78', { international: false, plan: french })).toMatchObject({ e164: '+33612345678' })
  expect(readPhone('+49 15123456789', { international: false, plan: french }).ok).toBe(false)
  expect(readPhone('+49 15123456789', { international: true, plan: french })).toMatchObject({ international: true })
  expect(readPhone('+16135550123', { international: true, plan: french })).toEqual({
    ok: false,
    problem: 'Country code 1 is not supported',
  })
  expect(() => createPhonePlan('999')).toThrow('999 is not a country calling code')
  expect(() => createPhonePlan('1', '1, x')).toThrow('x is not a country calling code')
})

test('the fast test for North America agrees with the library for the whole plan', () => {
  const isNorthAmerican = createNorthAmericanTest()
  const wrong: string[] = []
  // A sample of all area codes and exchanges; the complete walk (800,000 exchanges) was run when this was written.
  for (let exchange = 200_000; exchange < 1_000_000; exchange += 17) {
    const digits = `${exchange}${String((exchange * 7919) % 10_000).padStart(4, '0')}`
    const number = parsePhoneNumberFromString(`+1${digits}`)
    const expected = Boolean(number?.isPossible() && number.isValid())
    if (isNorthAmerican(digits) !== expected) wrong.push(digits)
  }
  expect(wrong).toEqual([])
}, 60_000)

const digitsOf = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`))
const separator = fc.constantFrom('', ' ', '-', '.', '  ', ' - ', '/', '(', ') ', ',', 'x', '\u00a0', '+', ' or ')
const area = fc.constantFrom(
  '613',
  '242',
  '876',
  '800',
  '911',
  '310',
  '113',
  '212',
  '441',
  '523',
  '33',
  '44',
  '61',
  '682',
)
const lead = fc.constantFrom(
  '',
  '+',
  '+1',
  '1',
  '1-',
  '+1 (',
  '(',
  '011',
  '00',
  'call ',
  'x',
  '+33',
  '+44 ',
  ' ',
  '\u200b',
)
const written = fc
  .tuple(
    lead,
    area,
    separator,
    digitsOf(3),
    separator,
    fc.oneof(digitsOf(4), digitsOf(3), digitsOf(6)),
    separator,
    fc.constantFrom('', ' now', '.', 'abc', '0123', '6135550123', '\n'),
  )
  .map(parts => parts.join(''))
const plain = fc
  .tuple(fc.constantFrom('', '+', '1', '+1', '+33', '+49', '+61', '+290', '+247'), fc.bigInt(0n, 10n ** 14n))
  .map(([start, number]) => `${start}${number}`)

test('the fast paths find what the search finds', () => {
  const text = fc.oneof(
    written,
    plain,
    fc
      .array(fc.constantFrom('+', '1', '6', '0', '5', ' ', '-', '(', ')', '.', '/', 'x', '６', '613', '555'))
      .map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(text, one => {
      expect(find(one, plan)).toEqual(search(one, plan))
    }),
    { numRuns: 4000 },
  )
}, 60_000)

test('the search returns the first number of the library', () => {
  fc.assert(
    fc.property(written, text => {
      const domestic = findPhoneNumbersInText(text, 'US')[0]?.number
      const other = findPhoneNumbersInText(text)[0]?.number
      const number = domestic?.countryCallingCode === '1' ? domestic : other
      if (number?.countryCallingCode === '1' && number.nationalNumber.length < 10) return
      expect(search(text, plan)?.e164).toBe(number?.number)
    }),
    { numRuns: 300 },
  )
})

test('no text throws, and a normal form is its own normal form', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), written), text => {
      const number = read(text)
      if (number.ok) expect(read(number.e164)).toEqual(number)
    }),
    { numRuns: 500 },
  )
})

test.each([
  '6135550123',
  '1 ',
  '+1 ',
  '(6',
  '+1 (613) 555-',
  '613 555 0123x1 ',
  '6.. ',
  '٦ ',
  '/1',
  'ext',
  '6135550123 ext',
  ';',
])('S-28 100 kB of %j', async unit => {
  await expectLinear(read, repeated(unit))
})

test.each(['1 ', '+1 ', '(6', '613 555 012 ', '6 1 3 5 5 5 0 1 2 3 4 ', '+44 1 '])(
  'the longest text that is searched, of %j',
  unit => {
    const text = unit.repeat(64).slice(0, 64)
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < 100 && least > 2; i++) {
      const start = performance.now()
      read(text)
      least = Math.min(least, performance.now() - start)
    }
    expect(least).toBeLessThan(2)
    expect(read(`${text}1`)).toEqual({ ok: false, problem: 'Not a valid international number' })
  },
)
