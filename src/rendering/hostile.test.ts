// Reliability S-28: every parser of this room is linear in hostile input and never runs out of stack.

import { describe, expect, test } from 'vitest'
import { expectLinear, repeated } from '../../test/support/hostile.ts'
import { compileEmail } from './compile.ts'
import { bodyHtml, bodyText, cutPreheader, preheaderWords, subjectText } from './email.ts'
import { measure, sanitise } from './gsm.ts'
import { decodeReferences, encodeUrl, escapeText, safeTarget } from './html.ts'
import { fill, keyed, names, parse, prepare } from './placeholders.ts'
import { countTemplate } from './sms.ts'
import { typographyOfHtml, typographyOfText } from './typography.ts'

const none = new Map<string, unknown>()

const bodies: Record<string, (size: number) => string> = {
  'open brackets': repeated('['),
  'open and closed brackets': repeated('[a]'),
  'brackets in brackets': size => '['.repeat(size / 2) + '[a]'.repeat(size / 6),
  'brackets and a link at the end': repeated('[a ', '', '](x)'),
  'links without end': repeated('[a](b '),
  'links with titles without end': repeated('[a](b "', '', ' )'),
  'image starts': repeated('!['),
  'reference links': repeated('[a] [', '[a]: x\n\n'),
  'spaces before a reference': size => `[a]: x\n\n${`[b]${' '.repeat(1000)}`.repeat(size / 1000)}`,
  stars: repeated('*'),
  'stars and letters': repeated('*a'),
  'double stars and letters': repeated('**a'),
  'stars one and two': repeated('*a **b '),
  'stars three': repeated('***a'),
  underscores: repeated('_'),
  'underscores and letters': repeated('_a'),
  'underscores at words': repeated('_a b'),
  'underscores and stars': repeated('_*'),
  'bold in italic': repeated('*__a'),
  tildes: repeated('~'),
  'tildes and letters': repeated('~~a '),
  backticks: repeated('`'),
  'backticks of growing length': size =>
    Array.from({ length: Math.sqrt(2 * size) }, (_, i) => '`'.repeat(i + 1)).join('a'),
  'backticks and letters': repeated('`a``b'),
  backslashes: repeated('\\'),
  'URL starts': repeated('http://'),
  'URL starts and spaces': repeated('https:// '),
  'URL dots': repeated('.', 'https://'),
  'less than': repeated('<'),
  'greater than': repeated('a >'),
  'tags without end': repeated('<a b'),
  'tags with quotes': repeated('<a b="'),
  'tags with attributes': repeated('<a b=c ', '', '">'),
  'tags of many names': size => Array.from({ length: size / 8 }, (_, i) => `<x${i}>`).join(' '),
  'closing tags': repeated('</a>'),
  'block tags': repeated('<div>\n'),
  'block tags closed once': repeated('<div>\n', '', '</div> x'),
  'comments without end': repeated('<!--'),
  'comments at line starts': repeated('<!-- -->x\n'),
  'angle addresses': repeated('<a@'),
  newlines: repeated('\n'),
  'newlines and spaces': repeated(' \n'),
  spaces: repeated(' '),
  'spaces before newlines': repeated('a    \n'),
  tabs: repeated('\t'),
  'carriage returns': repeated('\r'),
  'long lists': repeated('- a\n'),
  'loose lists': repeated('- a\n\n'),
  'lists in lists': size => Array.from({ length: Math.sqrt(2 * size) }, (_, i) => `${' '.repeat(i)}- a`).join('\n'),
  'bullets in a line': repeated('- '),
  'list going back': size =>
    Array.from({ length: Math.sqrt(2 * size) }, (_, i, n = Math.sqrt(2 * size)) => `${' '.repeat(n - i)}- ab`).join(
      '\n',
    ),
  'items with gaps': repeated('- a\n\n  b\n\n'),
  'numbers at line starts': repeated('1'),
  'insets in insets': repeated('^'),
  'inset lines': repeated('^ a\n'),
  'insets and gaps': repeated('^a\n\n'),
  'insets in lists': repeated('- ^ '),
  'code lines': repeated('    a\n\n'),
  'fences without end': repeated('```\n'),
  'fences of growing length': size =>
    Array.from({ length: Math.sqrt(2 * size) }, (_, i) => '`'.repeat(i + 3)).join('\na\n'),
  'tilde fences': repeated('~~~ a\n'),
  hashes: repeated('#'),
  headings: repeated('# a #\n'),
  'hashes and spaces': repeated('# '),
  rules: repeated('- - -\n'),
  'nearly a rule': repeated('- ', '', 'x'),
  underlines: repeated('a\n=\n'),
  'nearly an underline': repeated('=', 'a\n', 'x'),
  tables: repeated('a|b\n-|-\n'),
  'nearly a table': repeated('|', 'a|b\n', 'x'),
  'table rows': repeated('a|b\n', 'a|b\n-|-\n'),
  'link definitions': repeated('[a]: b\n'),
  'many link definitions': size => Array.from({ length: size / 16 }, (_, i) => `[k${i}]: b\n[k${i}]`).join('\n\n'),
  'nearly a definition': repeated('[a]: b c\n'),
  footnotes: size => Array.from({ length: size / 16 }, (_, i) => `[^${i}]: b\n\nx[^${i}]`).join('\n\n'),
  'footnote starts': repeated('[^', '[^a]: b\n\n'),
  'footnotes in footnotes': repeated('[^a]: '),
  'language tags': repeated('[[en]]a[[/en]]'),
  'nested language tags': size => '[[en]]'.repeat(size / 13) + '[[/en]]'.repeat(size / 13),
  'unbalanced tags': repeated('[[fr]]'),
  'only tags': repeated('[[fr]]\n\n'),
  'the legacy domain': repeated('gov.uk'),
  'nearly the legacy domain': repeated('gov.'),
  'double quotes': repeated('"'),
  'single quotes': repeated("'"),
  'quotes both ways': repeated(`"'`),
  'quotes and letters': repeated(`'a" `),
  'spaces and dots': repeated(' ', 'a', 'x.'),
  dashes: repeated('-'),
  'dashes and spaces': repeated(' -'),
  addresses: repeated("o'a@b "),
  'one long address': repeated("o'a@"),
  ampersands: repeated('&'),
  'nearly references': repeated('&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
  'numbers of references': repeated('1', '&#'),
  'astral letters': repeated('𝒜*'),
}

for (const [name, make] of Object.entries(bodies)) {
  describe(name, () => {
    test('in an HTML body', () => expectLinear(content => bodyHtml(prepare([content]), none), make))
    test('in a plain-text body', () => expectLinear(content => bodyText([content], none), make))
  })
}

// A preheader reads its body like HTML and is written like plain text; these are the ones that only it could stumble on.
test.each(['only tags', 'newlines and spaces', 'nested language tags', 'ampersands'])(
  '%s in a preheader',
  async name => {
    await expectLinear(content => cutPreheader(preheaderWords(prepare([content]), none)), bodies[name] ?? String)
  },
)

const placeholders: Record<string, (size: number) => string> = {
  'open brackets': repeated('('),
  'pairs of open brackets': repeated('((a '),
  'closed brackets': repeated(')'),
  'empty placeholders': repeated('(())'),
  'three of each': repeated('((()))'),
  'conditions opening brackets': repeated('((a??(((x))'),
  'many placeholders': repeated('((a))'),
  'many names': size => Array.from({ length: size / 12 }, (_, i) => `((name${i}))`).join(''),
  'links on placeholders': repeated('](((a)))'),
}

for (const [name, make] of Object.entries(placeholders)) {
  describe(`placeholders: ${name}`, () => {
    test('parse', () => expectLinear(parse, make))
    test('fill without values', () => expectLinear(text => fill(parse(text), none, { html: 'escape' }), make))
    test('fill', () => expectLinear(text => fill(parse(text), keyed({ a: 'b' }), { html: 'escape' }), make))
    test('names', () => expectLinear(text => names(parse(text)), make))
    test('compile and render', async () => {
      await expectLinear(
        (content: string) => compileEmail({ subject: 's', content }).render({ a: 'b' }),
        size => make(size / 4),
      )
    })
  })
}

const texts: Record<string, [(text: string) => unknown, (size: number) => string]> = {
  'escape ampersands': [escapeText, repeated('&a')],
  'escape control characters': [escapeText, repeated('\r\0\x01')],
  'decode nearly references': [decodeReferences, repeated('&#x1')],
  'a target of spaces': [safeTarget, repeated(' ')],
  'a target of letters': [safeTarget, repeated('a')],
  'a URL of percent signs': [encodeUrl, repeated('%')],
  'typography of tags': [typographyOfHtml, repeated('<')],
  'typography of escapes': [typographyOfText, repeated('\\"')],
  'typography of skipped elements': [typographyOfText, repeated(`<a>'`)],
  'a subject of spaces': [text => subjectText([text], none), repeated(' ')],
  'a subject of quotes': [text => subjectText([text], none), repeated(`'"a `)],
  'a text message of accents': [sanitise, repeated('ế')],
  'a text message of emoji': [sanitise, repeated('😀')],
  'measure extension characters': [measure, repeated('€')],
  'count a template': [countTemplate, repeated('((a)) ,')],
}

for (const [name, [run, make]] of Object.entries(texts)) test(name, () => expectLinear(run, make))

test('nesting of any depth needs no deeper stack', () => {
  for (const unit of ['^ ', '- ', '1. ', '**_', '[', '[[en]]', '> ', '~~*', '((a??']) {
    const content = unit.repeat(200_000)
    expect(() => compileEmail({ subject: content, content }).render({})).not.toThrow()
  }
})
