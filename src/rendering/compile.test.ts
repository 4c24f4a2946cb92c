import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileEmail, type EmailTemplate, rendererOf } from './compile.ts'
import { documentAround } from './document.ts'
import { cutPreheader } from './email.ts'
import { keyed, parse, type Values } from './placeholders.ts'
import { createShortcut } from './shortcut.ts'

/** The mail by the long way alone. */
function renderInFull(template: EmailTemplate, values: Values) {
  const parts = { subject: parse(template.subject), content: parse(template.content) }
  const { subject, text, title, preheader, body } = rendererOf(template)(parts, keyed(values))
  const [head, style, card, end] = documentAround(template)
  return { subject, text, html: head + title + style + cutPreheader(preheader) + card + body + end }
}

// Pieces that read what stands beside them, each with a placeholder in the worst place.
const pieces = [
  'word ',
  ' ',
  '\n',
  '\n\n',
  '.',
  ',',
  ' ,',
  ' .',
  '- ',
  '* ',
  '1. ',
  '. ',
  '1',
  '^ ',
  '# ',
  '## ',
  '    ',
  '•  ',
  '**',
  '*',
  '_',
  '__',
  '~~',
  '`',
  "'",
  '"',
  '’',
  '@',
  'o’',
  "'s",
  '90s',
  '-',
  ' - ',
  '--',
  ' --',
  '[',
  ']',
  '](',
  ')',
  '(',
  '[x](',
  '[x](https://example.com/',
  '[x](/a/',
  ' "t")',
  'https://example.com/',
  'http',
  's://',
  '://',
  ':',
  '/',
  '%',
  '&',
  '&#',
  ';',
  'gov',
  '.uk',
  'gov.uk',
  'g',
  'k',
  '[[fr]]',
  '[[/fr]]',
  '[[',
  ']]',
  '[[rtl]]',
  '[[/rtl]]',
  '|',
  'a | b\n--|--\n',
  '===\n',
  '---\n',
  '\\',
  '<b>',
  '>',
  '\t',
  '```\n',
  '[k]: x\n',
  '[k]',
  '[^n]',
  '[^n]: note\n',
  '!',
  '((a))',
  '((b))',
  '((a))',
  '((b))',
  '((c))',
  '((a??shown))',
  '((c??- one\n- two))',
  '((d??(x)))',
  'é',
  '😀',
  '\r\n',
]
const template = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map(all => all.join(''))
const value = fc.oneof(
  fc.constantFrom<unknown>(
    'Sample',
    'Jean Dupont',
    'é',
    'x',
    's',
    '5',
    '42',
    '90s',
    '12 May 2031',
    '10:30',
    'AB-12',
    'a.b',
  ),
  fc.constantFrom<unknown>(
    'St. John',
    '1. x',
    '1.5',
    'gov.uk',
    'gov',
    'uk',
    'v.uk',
    'http',
    'https',
    'copy',
    'fr',
    'javascript',
    '20',
    'k',
  ),
  fc.constantFrom<unknown>(
    1,
    0,
    42,
    -7,
    1.5,
    true,
    false,
    'yes',
    'no',
    '',
    ' ',
    'a  b',
    'a - b',
    'x,',
    'a, b',
    '**x**',
    "o'x",
    '<b>',
    '&',
  ),
  fc.constantFrom<unknown>(['one', 'two'], [], null, 'a\nb', '((b))', 'https://example.com', 'a_b', '- x', '# x', 1e21),
  fc.string({ unit: fc.constantFrom(...'aZ9é -.,:/s'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom(..."as9жЖ李ا '’-.ªʼㅤ𠮷K"), minLength: 1, maxLength: 6 }),
  fc.constantFrom<unknown>(
    "O'Brien",
    'O’Brien',
    "D'Arcy O'Neil",
    'Анна',
    '李',
    '王小明',
    "l'été",
    "a's",
    "x'y'z",
    'Łukasz',
    'محمد',
  ),
)
const values = fc.record({ a: value, b: value, c: value, d: value }, { requiredKeys: ['a', 'b'] })

describe('the prepared message equals full rendering', () => {
  test('for any template and values', () => {
    fc.assert(
      fc.property(template, template, values, fc.boolean(), (subject, content, values, literalValues) => {
        const mail = { subject, content, literalValues }
        expect(compileEmail(mail).render(values)).toEqual(renderInFull(mail, values))
      }),
      { numRuns: 4000 },
    )
  })

  test('for plain templates, where it is nearly always used', () => {
    const calm = fc
      .array(
        fc.constantFrom(
          'Hello ((a)), ',
          'on **((b))** at ((c)). ',
          '\n\n- item ((a))\n- ((b)) ',
          '\n\n# Title ((c))\n\n',
          '[change](https://example.com/x/((b))) ',
          'https://example.com/?a=1&b=((c)) ',
          "((a))'s turn ",
          '((d??more ((a)) ',
          'it\'s "quoted" ',
          '\n\n((a))\n',
          '((b)) items ',
          '((a)) - ((b)) ',
          '\n\n1. ((a))\n2. two\n\n',
          '^ ((b))\n\n',
        ),
        { maxLength: 8 },
      )
      .map(all => all.join(''))
    let taken = 0
    fc.assert(
      fc.property(calm, values, (content, values) => {
        const mail = { subject: '((a)): news', content }
        const parts = { subject: parse(mail.subject), content: parse(content) }
        if (createShortcut(parts, rendererOf({}))(keyed(values)) !== null) taken++
        expect(compileEmail(mail).render(values)).toEqual(renderInFull(mail, values))
      }),
      { numRuns: 2000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  test('and is used for typical values', () => {
    const parts = {
      subject: parse('((name)), hello'),
      content: parse('Dear ((name)),\n\nSee you on **((day))**, [here](https://x.y/((id))).'),
    }
    const shortcut = createShortcut(parts, rendererOf({}))
    expect(shortcut(keyed({ name: 'Renée Dupont', day: '12 May 2031', id: 'AB-12' }))).not.toBeNull()
    for (const name of [
      "O'Hara",
      'O’Hara',
      "D'Arcy O'Neil",
      'Анна Каренина',
      '李',
      '王小明',
      'Łukasz',
      'Ελένη',
      'محمد',
    ])
      expect(shortcut(keyed({ name, day: '12 May', id: '1' })), name).not.toBeNull()
    for (const name of ["Anna's", "O'", "'t", "a''b", 'a_b', '😀', 'x\u0301'])
      expect(shortcut(keyed({ name, day: '12 May', id: '1' })), name).toBeNull()
    expect(shortcut(keyed({ name: 'Ann', day: '12 May', id: 'é' }))).toBeNull()
    expect(shortcut(keyed({ name: '', day: '12 May', id: '1' }))).toBeNull()
    expect(shortcut(keyed({ name: 'x y', day: '12 May', id: 'a b' }))).toBeNull()
  })
})

test('a compiled e-mail has the fields that the API shows', () => {
  const email = compileEmail({ subject: " ((a))\t-- it's ", content: '# ((b))\n((c))' })
  expect(email.names).toEqual(['a', 'b', 'c'])
  expect(email.unsendable({ A: 'x', b: null })).toEqual(['b', 'c'])
  expect(email.answer({ a: 'x', b: '<b>', c: ['one', 'two'] })).toEqual({
    subject: "x -- it's",
    body: '# <b>\n\n\n* one\n* two',
  })
})

test('an attached file shows as nothing and is not missing', () => {
  const email = compileEmail({ subject: 's', content: 'See ((file)).' })
  const values = { file: { file: 'aGVsbG8=', filename: 'x.txt', sending_method: 'attach' } }
  expect(email.unsendable(values)).toEqual([])
  expect(email.render(values).text).toBe('See.\n')
})

test('the document has language, direction, colour schemes and nothing remote', () => {
  const { html } = compileEmail({ subject: 'A & <b>', content: 'x', lang: 'fr', isRightToLeft: true }).render({})
  expect(html).toMatch(/^<!DOCTYPE html>\n<html lang="fr" dir="rtl">/)
  expect(html).toContain('<title>A &amp; &lt;b&gt;</title>')
  expect(html).toContain('<meta name="color-scheme" content="light dark">')
  expect(html).toContain('@media (prefers-color-scheme: dark)')
  expect(html).not.toMatch(/<img|<link|<script|@import|url\(/)
})
