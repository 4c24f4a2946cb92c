// What strangers can put into a mail: reliability S-07 to S-09, and that nothing throws.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collapse } from './characters.ts'
import { compileEmail } from './compile.ts'
import { bodyHtml, cleanSubject } from './email.ts'
import { sanitise } from './gsm.ts'
import { decodeReferences, escapeText } from './html.ts'
import { fill, keyed, keyOf, parse, prepare, type Values } from './placeholders.ts'
import { compileSms, countTemplate } from './sms.ts'

const html = (content: string, values: Values = {}, literalValues = false) =>
  bodyHtml(prepare(parse(content)), keyed(values), { literalValues })

// Every element and attribute that a body may hold.
const allowed: Record<string, string[]> = {
  p: ['style'],
  h2: ['style'],
  h3: ['style'],
  hr: ['class', 'style'],
  ul: ['style'],
  ol: ['style'],
  li: ['style'],
  blockquote: ['class', 'style'],
  br: [],
  strong: [],
  em: [],
  a: ['href', 'title'],
  div: ['lang', 'dir'],
  mark: [],
  span: [],
  table: ['role', 'style'],
  tr: [],
  td: ['style'],
}

/** Reads a body the way a browser would and fails on anything that is not on the list. */
function expectHarmless(body: string): void {
  const open: string[] = []
  for (let i = body.indexOf('<'); i !== -1; i = body.indexOf('<', i)) {
    const tag = /^<(\/?)([a-z0-9]+)((?: [a-z]+="[^"<>]*")*)>/.exec(body.slice(i, i + 5000))
    expect(tag, body.slice(i, i + 80)).not.toBeNull()
    const [whole = '', slash, name = '', attributes = ''] = tag ?? []
    i += whole.length
    expect(Object.keys(allowed)).toContain(name)
    for (const [, attribute = '', value = ''] of attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)) {
      expect(allowed[name]).toContain(attribute)
      if (attribute === 'href') expectHarmlessTarget(value)
    }
    if (slash) expect(open.pop()).toBe(name)
    else if (name !== 'br' && name !== 'hr') open.push(name)
  }
  expect(open).toEqual([])
  expect(body.replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]/)
}

function expectHarmlessTarget(value: string): void {
  // A browser decodes references, then drops tabs and line ends and leading control characters.
  const seen = decodeReferences(value)
    .replace(/[\t\r\n]/g, '')
    .replace(/^[\0- ]+/, '')
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(seen)?.[1]
  if (scheme) expect(['http', 'https', 'mailto', 'tel']).toContain(scheme.toLowerCase())
}

const payloads = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'><b>",
  '</p></td><h1>',
  '<!-- -->',
  '<![CDATA[x]]>',
  '<a href="javascript:x">',
  '&lt;script&gt;',
  '&#60;script&#62;',
  '<mark>',
  '</mark><b>',
  '<div>',
  '</div>',
  '<div><span>((x??</span>',
  '<b',
  '<',
  '>',
  '<<',
  '< b>',
  '\0<b>',
  '<\0b>',
  '<b\n>',
  '<br/>',
  '[x](https://a"onmouseover="b)',
  "[x](https://a'onclick='b)",
  '[x](https://a "t\\"onx=\\"")',
  '[x](a" onx="b)',
  "[x](a 'x\"y')",
  '[x](<b>)',
  '[x]("<b>)',
  '![x](https://a.b/pixel.gif)',
  '[<b>](x)',
  '[x](y "<b>")',
  'https://a"b',
  "https://a'b",
  'https://a<b',
  'https://a&quot;b',
  'https://a`b',
  '`<b>`',
  '```\n<b>\n```',
  '    <b>',
  '> <b>',
  '# <b>',
  '- <b>\n- <i>',
  '1. <b>x',
  '^ <b>',
  '[[fr]]<b>[[/fr]]',
  '[[/fr]]</div>[[fr]]',
  '[k]: x" onx="y\n\n[k]',
  '[k]: javascript:x\n\n[k]',
  '[^n]: <b>\n\nx[^n]',
  'a|<b>\n-|-\n',
  '<b>\n===',
  '\\<b>',
  '\\\\<b>',
  '*<b>*',
  '~~<b>~~',
  '&amp;lt;b&amp;gt;',
  '&#x3c;b&#x3e;',
  '&LT;b&GT;',
  '\u2028<b>',
  '((x))',
  '<plaintext>',
  '\uee3cscript\uee3e',
  '<xmp>',
  '<style>*{}</style>',
]

test('S-07: of 60 payloads, in values and in templates, no element or attribute beyond the list is rendered', () => {
  expect(payloads.length).toBeGreaterThanOrEqual(60)
  for (const payload of payloads) {
    expectHarmless(html(payload))
    expectHarmless(html(payload, { other: 1 }))
    expectHarmless(html(`**((v))** [((v))](https://x.y/((v)) "((v))") https://x.y/((v))`, { v: payload }))
    expectHarmless(html(`((missing??${payload}\n${payload}))`))
    expectHarmless(html('((v))', { v: payload }, true))
  }
})

test('S-07: any template and value', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom(...payloads, 'a', '\n', ' ', '[', ']', '(', ')', '*', '_', '`', '"', "'", '<', '>', '&'))
      .map(all => all.join('')),
  )
  fc.assert(
    fc.property(text, text, fc.boolean(), (content, v, literal) => {
      expectHarmless(html(`${content}((v))`, { v }, literal))
      expectHarmless(html(content))
    }),
    { numRuns: 2000 },
  )
})

describe('S-09: only http, https, mailto and tel targets survive', () => {
  const bad = [
    'javascript:alert(1)',
    'JAVASCRIPT:x',
    'JaVaScRiPt:x',
    ' javascript:x',
    'java\tscript:x',
    'java\nscript:x',
    'java\rscript:x',
    'javascript :x',
    'java\u200bscript:x',
    '\ufeffjavascript:x',
    '\u2060javascript:x',
    'java\u00adscript:x',
    '\x01javascript:x',
    'javascript&#58;x',
    'javascript&#x3A;x',
    'javascript&#x3a;x',
    'javascript&colon;x',
    'java&Tab;script:x',
    'java&NewLine;script:x',
    '&#106;avascript:x',
    '&#x6A;avascript:x',
    '&#0000106;avascript:x',
    'data:text/html,x',
    'DATA:text/html;base64,x',
    'vbscript:x',
    'VbScRiPt:x',
    'file:///etc/passwd',
    'file:x',
    'ftp://x.y',
    'blob:x',
    'about:blank',
    'intent:x',
    'ws://x.y',
    'jar:x',
    'chrome:x',
    '<javascript:x>',
    'javascript:x "title"',
    'x-y.z+1:a',
  ]
  test.each(bad)('%j', target => {
    for (const body of [
      html(`[x](${target})`),
      html('[x](((v)))', { v: target }),
      html('[x](((v)))', { v: target }, true),
    ]) {
      expectHarmless(body)
      for (const [, href = ''] of body.matchAll(/href="([^"]*)"/g)) expectHarmlessTarget(href)
    }
    expectHarmless(html(`[x][k]\n\n[k]: ${target}`))
  })

  test.each(['http://a.b', 'HTTPS://a.b', 'mailto:a@b.c', 'tel:+1', 'a.b/c', '/c', '//a.b', '#c', '?a:b'])(
    '%s',
    target => {
      expect(html(`[x](${target})`)).toContain(`href="${target}"`)
    },
  )
})

describe('S-08: values as plain text', () => {
  const value =
    '[x](https://a.b) # h\n# h\n- a\n- b\n\n1. c\n**b** _i_ `c` https://a.b <https://a.b> ^ i\n^ i\n• d [[fr]]x[[/fr]]\n===\n    code'
  test('nothing in them is formatted', () => {
    const literal = html('((v))', { v: value }, true)
    expect(literal).not.toMatch(/<(?:a|h2|h3|ul|ol|li|strong|em|blockquote|div|table)\b/)
    expect(literal).toContain('[x](https://a.b) # h')
    expect(html('((v))', { v: value })).toMatch(/<a /)
    const email = compileEmail({ subject: 's', content: 'Hi **((v))**', literalValues: true })
    expect(email.render({ v: '*x* [y](z)' }).text).toBe('Hi ***x* [y](z)**\n')
    expect(email.render({ v: '*x* [y](z)' }).html).toContain(
      '<p style="margin:0 0 20px">Hi <strong>*x* [y](z)</strong></p>',
    )
  })
  test('lists are still lists, of plain items', () => {
    expect(html('((v))', { v: ['*a*', '[b](c)'] }, true)).toMatch(/<li[^>]*>\*a\*<\/li><li[^>]*>\[b\]\(c\)<\/li>/)
  })
})

describe('any text at all', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'()?a*_[]"\'\\`~<>&;#-^|:. \n\t') }),
  )
  const any = fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString')), fc.anything())

  test('renders without throwing, whatever the values', () => {
    fc.assert(
      fc.property(text, text, any, (subject, content, values) => {
        const email = compileEmail({ subject, content })
        email.render(values)
        email.answer(values)
        email.unsendable(values)
        compileSms(content).render(values, subject)
        countTemplate(content, subject)
      }),
      { numRuns: 1500 },
    )
  })

  test('names of Object.prototype are ordinary placeholder names', () => {
    const values = JSON.parse('{"__proto__": "p", "constructor": "c"}')
    expect(fill(parse('((__proto__)) ((constructor)) ((toString))'), keyed(values), { html: 'passthrough' })).toBe(
      'p c <mark>((toString))</mark>',
    )
  })

  test('is the same after a second cleaning', () => {
    fc.assert(
      fc.property(text, each => {
        expect(sanitise(sanitise(each))).toBe(sanitise(each))
        expect(keyOf(keyOf(each))).toBe(keyOf(each))
        expect(cleanSubject(cleanSubject(each))).toBe(cleanSubject(each))
        expect(collapse(collapse(each))).toBe(collapse(each))
        expect(escapeText(escapeText(each))).toBe(escapeText(each))
        expect(escapeText(each)).not.toMatch(/[<>]/)
      }),
      { numRuns: 1500 },
    )
  })
})
