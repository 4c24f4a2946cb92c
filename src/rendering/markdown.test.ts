// What content-rules 5 to 7 say beyond their vectors.

import { describe, expect, test } from 'vitest'
import { canonical } from '../../test/support/vectors/canonical.ts'
import { bodyHtml, bodyText } from './email.ts'
import { keyed, parse, prepare, type Values } from './placeholders.ts'

const html = (content: string, values: Values = {}) => canonical(bodyHtml(prepare(parse(content)), keyed(values)))
const text = (content: string) => bodyText(parse(content), new Map())

describe('lists', () => {
  test('end at two blank lines, at a definition, and at a line that is neither indented nor a bullet', () => {
    expect(html('- one\n\n\n- two')).toBe('<ul><li>one</li></ul><ul><li>two</li></ul>')
    expect(html('- one\n[k]: x')).toBe('<ul><li>one</li></ul>')
    expect(html('- one\n\ntwo')).toBe('<ul><li>one</li></ul><p>two</p>')
  })
  test('an indented line after a blank one stays in the item', () => {
    expect(html('- one\n\n  two\n- three')).toBe('<ul><li><p>one</p><br><p>two</p></li><li>three</li></ul>')
  })
  test('nest six levels deep and no deeper', () => {
    const lines = Array.from({ length: 8 }, (_, level) => `${' '.repeat(level)}- l${level}`)
    expect(html(lines.join('\n')).match(/<ul>/g)).toHaveLength(6)
    expect(html(lines.join('\n'))).toContain('<li>l5<br>- l6<br>– l7</li>')
  })
  test('need text that does not begin with italic', () => {
    expect(html('* *it* x')).toBe('<p><em> </em>it* x</p>')
    expect(html('* **bold** x')).toBe('<ul><li><strong>bold</strong> x</li></ul>')
  })
  test('contain insets and code but no headings', () => {
    expect(html('- one\n  ^ two')).toBe('<ul><li>one<blockquote><p>two</p></blockquote></li></ul>')
    expect(html('- one\n  # two')).toBe('<ul><li>one<br># two</li></ul>')
  })
  test('a one-line list over hyphens is a heading', () => {
    expect(html('- a thing\n---')).toBe('<h3>- a thing</h3>')
  })
})

describe('blocks', () => {
  test('groups of inset text merge over blank lines', () => {
    expect(html('^ a\n\n^ b')).toBe('<blockquote><p>a</p><p>b</p></blockquote>')
  })
  test('a fence drops its info word, an unclosed one is text', () => {
    expect(html('```js\nx *y*\n```')).toBe('x *y*')
    expect(html('~~~\nx\n~~~\nafter')).toBe('x<p>after</p>')
    expect(html('```\nx')).toBe('<p>```<br>x</p>')
  })
  test('a table with outer pipes is dropped as well', () => {
    expect(html('| a | b |\n|---|---|\n| 1 | 2 |\n\nafter')).toBe('<p>after</p>')
  })
  test('a line starting with > begins a paragraph in plain text', () => {
    expect(text('a\n> b')).toBe('a\n\n> b\n')
  })
  test('footnotes come last, in the order of their references, and only if they are referred to', () => {
    expect(html('a[^2] b[^1]\n\n[^1]: one\n[^2]: two\n[^3]: three\n\nlast')).toBe(
      '<p>a b</p><p>last</p><p>two</p><p>one</p>',
    )
  })
  test('an underlined heading ends the paragraph before it', () => {
    expect(html('a\nb\n===\nc')).toBe('<p>a</p><h2>b</h2><p>c</p>')
  })
  test('a missing condition with lines is rendered inside a div', () => {
    expect(html('((c??- one\n- two\n\n[[fr]]trois[[/fr]]))')).toBe(
      '<div><span>((c??</span><ul><li>one</li><li>two</li></ul><div lang="fr-ca"><p>trois</p></div>))</div>',
    )
  })
})

describe('inline', () => {
  test('an unclosed mark stays, a closed one inside it works', () => {
    expect(html('__a *b* c')).toBe('<p>__a <em>b</em> c</p>')
    expect(html('_a __b__ c_')).toBe('<p><em>a <strong>b</strong> c</em></p>')
  })
  test('code spans need equal runs', () => {
    expect(html('``a ` b`` c')).toBe('<p>a ` b c</p>')
  })
  test('links: brackets in the text, titles in both quotes, no space before the target', () => {
    expect(html('[a [b] c](https://x.y)')).toBe('<p><a href="https://x.y">a [b] c</a></p>')
    expect(html("[a](x 't') [b] (c)")).toBe('<p><a href="x" title="t">a</a> [b] (c)</p>')
    expect(html('[KEY] [x][key]\n\n[Key]: https://x.y')).toBe(
      '<p><a href="https://x.y">KEY</a> <a href="https://x.y">x</a></p>',
    )
  })
  test('a URL in a link text is no second link, and neither is a link', () => {
    expect(html('[https://a.b](https://c.d)')).toBe('<p><a href="https://c.d">https://a.b</a></p>')
    expect(html('[a [b](c) d](e)')).toBe('<p><a href="e">a b d</a></p>')
  })
  test('angle brackets around addresses and URLs are removed in plain text', () => {
    expect(text('<https://a.b> <a@b.c> <b>*x*</b>')).toBe('https://a.b a@b.c <b>*x*</b>\n')
  })
  test('escapes in a URL that mean the same are decoded', () => {
    expect(html('https://a.b/%7Ex%c3%a9%zz')).toBe(
      '<p><a href="https://a.b/~x%C3%A9%25zz">https://a.b/%7Ex%c3%a9%zz</a></p>',
    )
  })
})

test('tags in an order that does not nest stay as text', () => {
  expect(html('[[/en]]a[[en]]')).toBe('<p>[[/en]]a[[en]]</p>')
})
