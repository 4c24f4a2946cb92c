// What content-rules 2 says beyond its vectors.

import { expect, test } from 'vitest'
import { fill, keyed, keyOf, missing, names, namesOf, parse, shows } from './placeholders.ts'

const plainly = (content: string, values = {}) => fill(parse(content), keyed(values), { html: 'passthrough' })

test('names are in order of first appearance, those of the subject first', () => {
  expect(namesOf({ subject: '((b)) ((a))', content: '((c)) ((A)) ((a??x))' })).toEqual(['b', 'a', 'c', 'A'])
  expect(namesOf({ content: 'none' })).toEqual([])
})

test('a placeholder ends at the first two closing brackets and needs something inside', () => {
  expect(names(parse('((a)) b)) ((c'))).toEqual(['a'])
  expect(names(parse('(()) x (a)'))).toEqual([])
  expect(names(parse('((((a))))'))).toEqual(['a'])
  expect(parse('((a??b??c))')).toEqual([{ name: 'a', key: 'a', text: 'b??c' }])
})

test('keys lose spaces, underscores and hyphens, and nothing else', () => {
  expect(keyOf(' First_Name-2 ')).toBe('firstname2')
  expect(keyOf('É.t\tx')).toBe('é.t\tx')
})

test('numbers are written without exponent', () => {
  expect(plainly('((a)) ((b)) ((c))', { a: 1e21, b: -0.5, c: -0 })).toBe('1000000000000000000000 -0.5 0')
})

test('objects show as nothing and are not missing', () => {
  expect(plainly('a((x))b((x??y))', { x: { file: '…' } })).toBe('ab')
  expect(missing(['x'], keyed({ x: {} }))).toEqual([])
})

test('values that only look true do not show', () => {
  for (const value of [' yes', 'on', 2, 'enabled', [1], {}, undefined]) expect(shows(value)).toBe(false)
  for (const value of ['Inclure', 'AFFICHER', 'vrai', 't', 1, true]) expect(shows(value)).toBe(true)
})

test('a missing value in a link target is replaced by its name only when no values are supplied', () => {
  expect(plainly('[x](((url)))')).toBe('[x](url)')
  expect(plainly('[x](((url)))', { other: 1 })).toBe('[x](<mark>((url))</mark>)')
})

test('a missing condition keeps its inner lines and loses the outer ones', () => {
  expect(plainly('((a??\n\nb\nc\n))')).toBe('<mark><span>((a??</span>b<br>c))</mark>')
})
