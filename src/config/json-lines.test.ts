import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJsonLines } from './json-lines.ts'

test('whatever JSON.stringify writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(readJsonLines(text)).toMatchObject({ ok: true, value: JSON.parse(text) })
    }),
  )
})

test('text that JSON.parse refuses is refused, and nothing else', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[[\]{}",:0-9a-etrufls\\ \n.-]{0,12}$/), text => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      const read = readJsonLines(text)
      // Duplicate names are valid for JSON.parse.
      expect(read.ok || /already$/.test(read.problem)).toBe(isJson || (!read.ok && /already$/.test(read.problem)))
    }),
    { numRuns: 2_000 },
  )
})

test('a property has the line of its name, an item that of its beginning', () => {
  const read = readJsonLines('{\n  "email": [\n    {"a/b": 1,\n      "x":\n        [true]}\n  ]\n}')
  if (!read.ok) throw new Error(read.problem)
  expect(['', '/email', '/email/0', '/email/0/a~1b', '/email/0/x', '/email/0/x/0'].map(read.lineOf)).toEqual([
    1, 2, 3, 3, 4, 5,
  ])
})

test.each([
  ['{\n"a": 1\n"b": 2}', 3, 'a comma or } is missing here'],
  ['{\n"a": 1,\n}', 3, 'a name in double quotes is missing here'],
  ['[1\n2]', 2, 'a comma or ] is missing here'],
  ['{"a"\n1}', 2, 'a colon is missing here'],
  ['{"a":\n}', 2, 'a value is missing here'],
  ['{"a": "open\n}', 1, 'this text has no closing quote, or a wrong escape'],
  ['{}\n{}', 2, 'nothing may follow the last bracket'],
  ['', 1, 'a value is missing here'],
  ['{"a": 1,\n\n"a": 2}', 3, '"a" stands on line 1 already'],
  ['['.repeat(30), 1, 'brackets are nested too deeply'],
])('%j is wrong on line %i', (text, line, problem) => {
  expect(readJsonLines(text)).toEqual({ ok: false, line, problem })
})
