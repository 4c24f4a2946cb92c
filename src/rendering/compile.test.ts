import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pieces } from '../core/pieces.ts'
import { compileEmail, type EmailTemplate, rendererOf } from './compile.ts'
import { documentAround } from './document.ts'
import { cutPreheader } from './email.ts'
import { keyed, parse, type Values } from './placeholders.ts'
import { createPrepared } from './prepared.ts'
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

/** Rendered in both ways; the pieces add up to the same. */
function expectExact(mail: EmailTemplate, values: Values) {
  const compiled = compileEmail(mail)
  const inFull = renderInFull(mail, values)
  const { pieces, ...email } = compiled.renderInPieces(values)
  expect(email).toEqual(inFull)
  if (!pieces) return
  expect(compiled.render(values)).toEqual(inFull)
  const whole = ({ fixed, values }: Pieces) => fixed.map((text, i) => text + (values[i] ?? '')).join('')
  expect({ text: whole(pieces.text), html: whole(pieces.html) }).toEqual({ text: inFull.text, html: inFull.html })
  expect(pieces.html.values.length).toBe(pieces.html.fixed.length - 1)
  expect(compiled.renderInPieces(values).pieces?.html.fixed).toBe(pieces.html.fixed)
}

describe('the prepared message equals full rendering', () => {
  test('for any template and values', () => {
    fc.assert(
      fc.property(template, template, values, fc.boolean(), (subject, content, values, literalValues) => {
        const mail = { subject, content, literalValues }
        expectExact(mail, values)
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
        expectExact(mail, values)
      }),
      { numRuns: 2000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  test('for values of any script, wherever they are in a template', () => {
    let taken = 0
    fc.assert(
      fc.property(fc.constantFrom(...lines), page, wideValues, fc.boolean(), (subject, content, values, isLiteral) => {
        const mail = { subject, content, literalValues: isLiteral }
        const parts = { subject: parse(subject), content: parse(content) }
        const shortcut = createShortcut(parts, rendererOf(mail), isLiteral)
        expectExact(mail, values)
        if (shortcut(keyed(values)) !== null) taken++
      }),
      { numRuns: 1500 },
    )
    expect(taken).toBeGreaterThan(300)
  })

  test('for values with emphasis, links and URLs, beside quotes, dashes and marks of the template', () => {
    let taken = 0
    const values = fc.record({ a: marked, b: fc.oneof(marked, wide), c: marked, d: fc.constant('yes') })
    fc.assert(
      fc.property(markedPage, fc.array(values, { minLength: 4, maxLength: 4 }), (content, all) => {
        const mail = { subject: 'News for ((a)) - ((c))', content }
        const parts = { subject: parse(mail.subject), content: parse(content) }
        const prepared = createPrepared(parts, rendererOf({}), { hasLiterals: false, left: Infinity })
        for (const values of all) {
          expectExact(mail, values)
          if (content.includes('((a))') && /[*_[]|:\/\//.test(values.a) && prepared(keyed(values)) !== null) taken++
        }
      }),
      { numRuns: 300 },
    )
    expect(taken).toBeGreaterThan(50)
  })

  test.each([
    ['5 * ((a)), y', 'x*'],
    ['`x ((a)), y`', '*x*'],
    ['- - - - - - - _x\n\n        Hello ((a)),', 'y_'],
    ['1234567. x [[fr]]- - - - - - - _x\n\n        Hello ((a)),\n\n[[/fr]]', 'y_'],
    ['(see ((a)))', '[x](y'],
    ['Hello ((a)) ((b))', '*x'],
    ['Hello ((a)) and ((a))', 'x *'],
    ['- ((a))', '*x* y'],
    ['Go to ((a))!', 'https://x.y'],
    ['x ((a))\n\n"', '*x *'],
    ['x ((a)), y', 'see [a](-)'],
    ['x ((a)), y', 'see [a -](u)'],
    ['x ((a)), y', '*x*"'],
    ['x ((a))', "*x*'"],
    ['((a))\n\nx', 'a[a](-)\u00a0'],
    ['Hello ((a)), x', 'a{"'],
    ['Hello ((a)), x', 'a ("'],
    ['Hello ((a)), x', 'a "'],
    ['Hello ((a)), x', 'a-"'],
    ['Hello ((a))s', "a{'"],
  ])('for %j with %j, where a part could combine with the text around it', (content, a) => {
    expectExact({ subject: 's', content }, { a, b: 'y*' })
  })
})

// A placeholder in every kind of place, alone and beside text that reads it.
const lines = [
  'Hello ((a)), welcome.',
  'Pay **((a))** by *((b))* now',
  '[((a))](https://example.com/x) and [see ((b)) here](/y).',
  "((a))'s turn",
  '(((a))) ((b))',
  "it's \"((b))\" and '((a))'",
  'they said "yes" to ((a))!',
  '- item ((a))\n- ((b)) more\n- last',
  '- ((a))',
  '* ((a)) x\n\n* ((b))',
  '1. ((a))\n2. two',
  '((a)). item',
  '# ((a))',
  '## About ((b)) ##',
  '^ ((a)) inset',
  '^((a))\n\n^ more',
  '((a))',
  '((a))\n((b))',
  'To:\n((a))\nThank you',
  'a | b\n--|--\n((a)) | x\n\nafter',
  '((a))\n---',
  '===((a))',
  '> ((a))',
  '---',
  '[link](https://example.com/((c))) after',
  'https://example.com/?q=((c)) end',
  '_((a))_ __((b))__',
  '~~((a))~~ `((b))`',
  'x - ((a)) - y -- ((b))',
  '((a)) , ((b)) .',
  '[x](u "title") ((a)) (((b)))',
  "[x](u 'bad) and (((a)))",
  '![img ((a))](u z)((b))',
  '((a))@example.com',
  'Write to ((a)).',
  "o'((a)) it's ((b))",
  '[[fr]]\n((a))\n[[/fr]]',
  '    ((a))',
  '((a)): ((b))! ((a))?',
  'R&((a)); &((b))',
  '[x]((a)) [y] ((b))',
  'http((a)) ((a))://x',
  "the '((a))s ((b))'90s",
  'plain text, it\'s "fixed"',
  '# Title',
  '- fixed\n- list',
  '((d??only ((a)) sometimes))',
]
const page = fc
  .array(
    fc.tuple(fc.constantFrom(...lines), fc.constantFrom('\n\n', '\n\n', '\n\n', '\n', ' ', '\n\n\n', '\r\n\r\n')),
    {
      minLength: 1,
      maxLength: 7,
    },
  )
  .map(all => all.flat().slice(0, -1).join(''))

const names = [
  'Анна Каренина',
  'Łukasz Żółć',
  'Ελένη',
  'محمد بن سلمان',
  'می‌خواهم',
  'שָׁלוֹם',
  'हिन्दी',
  'ಕನ್ನಡ',
  'தமிழ்',
  'বাংলা',
  'ภาษาไทย',
  'မြန်မာ',
  '李小龙',
  '山田　太郎',
  '𠮷野家',
  '김민준',
  'ქართული',
  'አማርኛ',
  'x\u0301e\u0308',
  '😀',
  '👩‍👩‍👧 family',
  '🇨🇦',
]
const plainValues = [
  ...names,
  "O'Brien",
  "James's",
  'Smith & Sons (London)',
  'R&D',
  'a < b',
  'x > y',
  'ann.lee@example.org',
  '£1,234.50',
  '1 234,50 €',
  '$5',
  '-7.5 °C',
  '50%',
  'C# developer',
  'Ltd.',
  'Yes!',
  'Bob "the Builder" Jones',
  '"quoted"',
  "the 'Old' House",
  '10 High Street, London',
  '10 High Street\nLondon\nSW1A 2AA',
  '(by hand)',
  '2020–2024',
  'a — b',
  'one , two',
]
const wide = fc.oneof(
  fc.constantFrom(...plainValues),
  fc.constantFrom(...plainValues),
  fc
    .array(
      fc.constantFrom(
        ...[
          'a',
          'Zoë',
          's',
          '9',
          '12',
          'Ж',
          '李',
          'ا',
          'ि',
          '\u0301',
          '😀',
          '𠮷',
          ' ',
          ' ',
          '\n',
          '\n\n',
          '\r\n',
          '\t',
        ],
        ...[
          '(',
          ')',
          '&',
          '&amp;',
          '&lt',
          ';',
          '<',
          '< ',
          '<b>',
          '</b>',
          '<a>',
          '<div>',
          '>',
          '@',
          '"',
          "'",
          '’',
          '‘',
          '“',
        ],
        ...[
          '£',
          '$',
          '%',
          ',',
          '.',
          ':',
          '/',
          '-',
          ' - ',
          '–',
          ' — ',
          '!',
          '?',
          '#',
          '# ',
          '=',
          '===',
          '---',
          '+',
          '{',
          '}',
        ],
        ...[
          '[',
          ']',
          '](',
          '](https://x.y)',
          '[k]: x',
          '[[fr]]',
          '*',
          '**',
          '_',
          '`',
          '```',
          '~~',
          '\\',
          '|',
          '^',
          '• ',
          '- ',
        ],
        ...[
          '1. ',
          '* ',
          '    ',
          'http',
          'https://',
          '://',
          'gov.uk',
          'gov',
          '.uk',
          '\u00a0',
          '\u3000',
          '\u200d',
          '\u200b',
        ],
        ...['\u2028', '\u0085', '\0', '\x1c', '\ud83d', '\uee2a', '\ue000', 'zq', 'zqzq', 'zqbzq', '90s', 'it'],
      ),
      { minLength: 1, maxLength: 7 },
    )
    .map(all => all.join('')),
  fc.constantFrom<unknown>(
    '*x*',
    '[a](https://x.y)',
    'https://x.y/z',
    '- x',
    '- >',
    '# x',
    'a\n\nb',
    '1. x',
    '',
    5,
    1e-7,
    true,
  ),
  fc.constantFrom<unknown>(
    ['one', 'two'],
    [],
    null,
    'x\n',
    '\nx',
    '- a\n- b',
    '_x_ y',
    '`x`',
    '~~-~~',
    '**-**',
    "'",
    '"',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }),
)
const wideValues = fc.record(
  { a: wide, b: wide, c: fc.oneof(fc.constantFrom('AB-12', '7'), wide), d: fc.constantFrom('yes', 'no') },
  { requiredKeys: ['a', 'b', 'c', 'd'] },
)

const markedPage = fc
  .array(
    fc.oneof(
      fc.constantFrom(...lines),
      fc.constantFrom(
        'Hello ((a)),',
        'See ((a)) or ((b)).',
        '((a)), welcome',
        '- one\n- ((a)) two\n- x ((b))',
        'Say "hi" - ((a)) - "bye"',
        'x ((c)): ((b)) (y)',
        "it's ((a)) isn't",
        '^ ((a)) x & y',
        'To:\n((a))\n((c))\nthanks',
        '"',
        '--',
        '- - - - - - - _',
      ),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map(all => all.join('\n\n'))

const marked = fc
  .tuple(
    fc.constantFrom('', 'Ann', '*x', '**x', '_x', '[x](u)', 'see ', 'https://x.y/', '12 ', '('),
    fc.array(
      fc.constantFrom(
        ...[
          'x',
          's',
          'é',
          '李',
          '😀',
          ' ',
          ' ',
          ' ',
          '\u00a0',
          ' , ',
          '. ',
          ' & ',
          ' - ',
          '(',
          ')',
          ':',
          '!',
          '@',
          '#',
          '=',
        ],
        ...["O'H", "x's", '’', '“x”', '*', '**', '_', '***', '*x*', '**x y**', '_x_', '* x*', '*x *', '*-*', '*, x*'],
        ...['[a](u)', '[a b](https://x.y/z)', '[*a*](u/)', '[, a](u)', '[a -](u)', '[a](-)', "[O'H](u)", '[a](b c)'],
        ...['https://x.y', 'https://x.y/z_a', "https://x.y/?a=1&b=o'h", 'https://x.y/(a)', 'http', 'a_b', 'gov', '.uk'],
        ...['[x](javascript:a)', '[', ']', '](', '![', '`', '~~', '\\', '<', '&lt;', '^', '|'],
      ),
      { maxLength: 3 },
    ),
    fc.constantFrom('', 'x', 'x*', 'x**', 'x_', '.', 'https://x.y', 'https://x.y/z=', '[x](u)', '?', ')', '*'),
  )
  .map(([start, middle, end]) => start + middle.join('') + end)

describe('the text around a value is not rendered again', () => {
  const template = {
    subject: '((name)), hello',
    content:
      'Dear ((name)),\n\nSee you on **((day))** with ((name)), [here](https://x.y/((id))).\n\n## Next\n\n- one\n- two\n\nBye',
  }

  /** The sizes of the contents that are rendered for these values, once the template is prepared; null if none can be inserted. */
  function rendered(values: Record<string, unknown>, { subject, content } = template): number[] | null {
    const parts = { subject: parse(subject), content: parse(content) }
    const sizes: number[] = []
    const render = rendererOf({})
    const shortcut = createShortcut(parts, (template, values) => {
      if (template.content.length > 0)
        sizes.push(template.content.filter(part => typeof part === 'string').join('').length)
      return render(template, values)
    })
    shortcut(keyed(values))
    sizes.length = 0
    return shortcut(keyed(values)) && sizes
  }

  test.each([...plainValues, 'Renée Dupont', 42, -3, true])('for %j', name => {
    expect(rendered({ name, day: '12 May 2031', id: 'AB-12' })).toEqual([])
  })

  test.each(['£5 (or more)', '12 May', 'понедельник', '😀'])('for %j in bold', day => {
    expect(rendered({ name: 'Ann', day, id: '1' })).toEqual([])
  })

  test.each(["*O'Hara*", '[Ann](https://example.com)', 'https://example.com', 'Ann_Lee', '**Ann** & co'])(
    'for %j in a text without marks',
    name => {
      const content = 'Dear ((name)),\n\nSee you on **((day))**.\n\n- for (((name))) & ((id))'
      expect(rendered({ name, day: '12 May', id: '1' }, { subject: '((name)): hello', content })).toEqual([])
    },
  )

  test.each(["*O'Hara*", '[Ann](https://example.com)', 'https://example.com', 'Ann_Lee', '**Ann** & co'])(
    'but only the segment that has %j and marks of its own',
    name => {
      const sizes = rendered({ name, day: '12 May', id: '1' })
      expect(sizes).toHaveLength(1)
      expect(Math.max(...(sizes ?? []))).toBeLessThan(60)
    },
  )

  test.each(['`x`', 'a\\b', '&copy;', '![x](y)', '[x](y "z")', '*"x"*'])('but only the segments with %j', name => {
    const sizes = rendered({ name, day: '12 May', id: '1' })
    expect(sizes).toHaveLength(2)
    expect(Math.max(...(sizes ?? []))).toBeLessThan(60)
  })

  test.each(['# Ann', '- one\n- two', 'Ann\n\nLee', ['one', 'two']])('or the blocks that %j makes', name => {
    expect(rendered({ name, day: '12 May', id: '1' })).toHaveLength(2)
  })

  test.each(['[k]: x', '```', '<b>', '[[fr]]', '\0', 'a\tb', null, []])('%j takes the full renderer', name => {
    expect(rendered({ name, day: '12 May', id: '1' })).toBeNull()
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
