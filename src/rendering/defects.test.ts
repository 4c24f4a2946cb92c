// The defects of the reference that content-rules 12 lists and we do not copy; 7, 8 and 9 are about recipient files.

import { expect, test } from 'vitest'
import { canonical } from '../../test/support/vectors/canonical.ts'
import { bodyHtml, bodyText, cutPreheader, preheaderWords } from './email.ts'
import { measure, sanitise } from './gsm.ts'
import { fill, keyed, parse, prepare, type Values } from './placeholders.ts'

const html = (content: string, values: Values = {}) => canonical(bodyHtml(prepare(parse(content)), keyed(values)))
const text = (content: string, values: Values = {}) => bodyText(parse(content), keyed(values))

test('defect 1: an ampersand in a link target is escaped once', () => {
  const body = bodyHtml(prepare(parse('[x](https://example.com/?a=1&b=2)')), new Map())
  expect(body).toContain('href="https://example.com/?a=1&amp;b=2"')
})

test('defect 2: a line in a list that only looks like a bullet continues the item', () => {
  expect(html('- one\n-two\n- three')).toBe('<ul><li>one<br>-two</li><li>three</li></ul>')
  expect(html('- one\n**bold**')).toBe('<ul><li>one<br><strong>bold</strong></li></ul>')
  expect(text('1. costs\n3.5 million\n2. two')).toBe('1. costs\n3.5 million\n2. two\n')
})

test('defect 3: a reference without semicolon is not decoded, so URLs stay intact', () => {
  expect(text('https://example.com/?a=1&copy=2')).toBe('https://example.com/?a=1&copy=2\n')
  expect(text('[x](https://example.com/?a=1&copy=2) &copy 1')).toBe('x: https://example.com/?a=1&copy=2 &copy 1\n')
})

test('defect 4: a bare URL keeps its escapes and its plus signs', () => {
  const url = 'https://example.com/a%2Fb?q=x+y%26z%25'
  expect(html(url)).toBe(`<p><a href="${url}">${url}</a></p>`)
})

test('defect 5: a base letter outside the alphabet becomes a question mark, too', () => {
  expect(sanitise('йάϊ')).toBe('???')
  expect(sanitise('\u{1d15e}\u{2f800}')).toBe('??')
  expect(measure(sanitise('й'))).toEqual({ units: 1, encoding: 'GSM-7' })
})

test('defect 6: a condition that does not hold leaves no bracket behind', () => {
  const filled = (content: string, a: string) => fill(parse(content), keyed({ a }), { html: 'passthrough' })
  expect(filled('x((a??(y)))z', 'no')).toBe('xz')
  expect(filled('x((a??(y)))z', 'yes')).toBe('x(y)z')
  expect(filled('(see ((a??b (c))))', 'no')).toBe('(see )')
})

test('defect 10: a name with & or < matches in HTML too', () => {
  expect(html('((R&D <x>)) ((a>b??<i>))', { 'r&d<x>': 'Lab', 'a>b': 'yes' })).toBe('<p>Lab &lt;i&gt;</p>')
})

test('defect 11: a language tag closes the open block first', () => {
  expect(html('Hello [[en]]world[[/en]] again')).toBe('<p>Hello</p><div lang="en-ca"><p>world</p></div><p>again</p>')
  expect(html('[[fr]]\n^ inset\n[[/fr]]\nafter')).toBe(
    '<div lang="fr-ca"><blockquote><p>inset</p></blockquote></div><p>after</p>',
  )
})

test('defect 12: a URL in angle brackets ends before the bracket', () => {
  expect(html('<https://example.com>')).toBe('<p>&lt;<a href="https://example.com">https://example.com</a>&gt;</p>')
})

test('defect 13: of two addresses both get their straight quotes back', () => {
  expect(text("o'one@example.com o'two@example.com")).toBe("o'one@example.com o'two@example.com\n")
  expect(html("o'one@example.com o'two@example.com")).toBe("<p>o'one@example.com o'two@example.com</p>")
})

test('defect 14: the preheader is not cut inside a character reference', () => {
  const short = (content: string) => cutPreheader(preheaderWords(prepare(parse(content)), new Map()))
  expect(short(`${'a'.repeat(254)}&b`)).toBe('a'.repeat(254))
  expect(short(`${'a'.repeat(251)}&b`)).toBe(`${'a'.repeat(251)}&amp;`)
  expect(short('<'.repeat(100))).toBe('&lt;'.repeat(64))
})

test('defect 15: a code block or raw HTML in plain text stands on its own', () => {
  expect(text('before\n\n    code\n\nafter')).toBe('before\n\ncode\n\nafter\n')
  expect(text('before\n```\na *b*\n```\nafter')).toBe('before\n\na *b*\n\nafter\n')
  expect(text('before\n\n<div>\n*x*\n</div>\n\nafter')).toBe('before\n\n<div>\n*x*\n</div>\n\nafter\n')
})
