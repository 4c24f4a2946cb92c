// A body read in place gives what the plain way gives: parse the whole text, then decode each file.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from '../http/json.ts'
import { fileTexts, takeContents } from './decode.ts'
import { readInPlace } from './in-place.ts'

type Result = { value: unknown; contents: [string, string | null][] } | { refused: unknown }

function resultOf(read: () => { value: unknown; contents: ReadonlyMap<string, Buffer | null> }): Result {
  try {
    const { value, contents } = read()
    // The text of a file that is not base64 is in no error message.
    for (const { key, file } of fileTexts(value)) if (contents.get(key) === null) file.file = ''
    return { value, contents: [...contents].map(([key, one]) => [key, one === null ? null : one.toString('base64')]) }
  } catch (error) {
    return { refused: error }
  }
}

function bothWays(json: string | Buffer) {
  const plain = resultOf(() => {
    const value = readJson(Buffer.from(json))
    return { value, contents: takeContents(value) }
  })
  const inPlace = resultOf(() => readInPlace(Buffer.from(json), readJson))
  return { plain, inPlace }
}

const LONG = Buffer.from(Array.from({ length: 60_000 }, (_, n) => (n * 7919) % 251)).toString('base64')
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const withFile = (written: string) =>
  `{"a":1,"personalisation":{"b":"x","doc":{"filename":"a.txt","file":"${written}"},"short":{"file":"YWJj"}},"z":"${LONG.slice(0, 9)}"}`

test.each([
  ['as it is', LONG],
  ['with escaped slashes', LONG.replaceAll('/', '\\/')],
  ['with letters as numbers', LONG.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d')],
  ['in lines', inJson(LONG.replace(/.{76}/g, '$&\r\n'))],
  ['with spaces and tabs', inJson(` ${LONG.slice(0, 500)}\t ${LONG.slice(500)} `)],
])('a file is decoded in the memory of its body: %s', (_what, written) => {
  const body = Buffer.from(withFile(written))
  const { value, contents } = readInPlace(body, readJson)
  const doc = contents.get('doc')
  expect(doc?.toString('base64')).toBe(LONG)
  expect(doc?.buffer).toBe(body.buffer)
  expect([...contents.keys()]).toEqual(['doc', 'short'])
  expect(contents.get('short')?.toString()).toBe('abc')
  expect(value).toEqual(JSON.parse(withFile('').replace('YWJj', '')))
})

test.each([
  ['a letter too many', `${LONG}A`],
  ['no padding', `${LONG.slice(0, -8)}YQ`],
  ['padding in the middle', `YQ==${LONG}`],
  ['the alphabet of addresses', `${LONG}_-_-`],
  ['another character', `${LONG}!!!!`],
  ['not ASCII', `${LONG}éééé`],
  ['an escape that is a letter of another alphabet', `${LONG}\\u00e9`],
  ['an escaped quotation mark', `${LONG}\\"${LONG}`],
  ['NUL', `${LONG}\\u0000`],
  ['a lone surrogate', `${LONG}\\ud800`],
  ['a broken escape', `${LONG}\\u00`],
  ['an unknown escape', `${LONG}\\x`],
  ['a raw line break', `${LONG}\n`],
])('what is not base64 gets the same answer: %s', (_what, written) => {
  const { plain, inPlace } = bothWays(withFile(written))
  expect(inPlace).toEqual(plain)
})

test('broken UTF-8 in a long text is refused', () => {
  const [before, after] = withFile(`${LONG}?`).split('?') as [string, string]
  const { plain, inPlace } = bothWays(Buffer.concat([Buffer.from(before), Buffer.from([0xc3]), Buffer.from(after)]))
  expect(plain).toHaveProperty('refused')
  expect(inPlace).toEqual(plain)
})

test.each([
  ['a long text elsewhere stays a text', `{"reference":"${LONG}","personalisation":{"doc":{"file":"${LONG}"}}}`],
  ['a long value', `{"personalisation":{"doc":"${LONG}"}}`],
  ['a long text in a list', `{"personalisation":{"doc":["${LONG}"]}}`],
  ['a long name', `{"personalisation":{"${LONG}":{"file":"YWJj"}}}`],
  ['a file deeper than files are', `{"personalisation":{"doc":{"x":{"file":"${LONG}"}}}}`],
  ['the same name twice', `{"personalisation":{"doc":{"file":"${LONG}","file":"${LONG}"}}}`],
  ['names that are numbers keep their order', `{"personalisation":{"9":{"file":"${LONG}"},"1":{"file":"${LONG}"}}}`],
  ['a text without an end', `{"personalisation":{"doc":{"file":"${LONG}`],
  ['nothing but texts', `[${'"",'.repeat(60_000)}"${LONG}"]`],
  ['more texts than are looked at', `[${'"",'.repeat(120_000)}"${LONG}"]`],
  ['no object', `"${LONG}"`],
  ['no JSON', LONG],
])('%s', (_what, json) => {
  const { plain, inPlace } = bothWays(json)
  expect(inPlace).toEqual(plain)
})

test('both ways agree on any pieces', () => {
  const pieces = fc.constantFrom(
    LONG,
    'YQ==',
    '=',
    ' ',
    '\\/',
    '\\n',
    '\\u002b',
    '\\u00e9',
    '-',
    '"',
    '\\',
    '\\\\',
    ',',
    '{}',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 6 }), fc.array(pieces, { maxLength: 3 }), (one, two) => {
      const json = `{"personalisation":{"a":{"file":"${one.join('')}"},"b":{"file":"${two.join('')}","filename":"x"}}}`
      const { plain, inPlace } = bothWays(json)
      expect(inPlace).toEqual(plain)
    }),
    { numRuns: 300 },
  )
})
