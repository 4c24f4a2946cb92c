// The catalogue has every text of the console, and nothing else. Texts are found by reading the source.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { french } from '../../src/console/words/fr.ts'
import { acceptedLanguage, inLanguage, mark, plural, rich, say, t } from '../../src/console/words/index.ts'
import { textsIn, unescaped } from './support/texts.ts'

const root = new URL('../../src/console/', import.meta.url)
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  file => /\.tsx?$/.test(file) && !file.endsWith('.test.ts') && !file.startsWith('words/fr'),
)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const texts = files.flatMap(file => textsIn(read(file)).map(({ key, line }) => ({ key, where: `${file}:${line}` })))
const catalogues = readdirSync(new URL('words/fr/', root))

const valuesIn = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(([value]) => value).sort()

describe('the catalogue', () => {
  test('has every text', () => {
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.filter(({ key }) => !(key in french)).map(({ key, where }) => `${where}: ${key}`)).toEqual([])
  })

  test('has no text that nothing shows', () => {
    const shown = new Set(texts.map(({ key }) => key))
    expect(Object.keys(french).filter(key => !shown.has(key))).toEqual([])
  })

  test('has the same values in both languages', () => {
    const differing = Object.entries(french).filter(([en, fr]) => valuesIn(en).join() !== valuesIn(fr).join())
    expect(differing).toEqual([])
  })

  test('translates everything', () => {
    expect(Object.entries(french).filter(([, fr]) => fr.trim() === '')).toEqual([])
  })

  test('has no escape that is written twice', () => {
    expect(Object.values(french).filter(text => /\\u[0-9a-f]{4}/i.test(text))).toEqual([])
  })

  test('has a text once', () => {
    // The formatter writes an entry's key at the beginning of a line.
    const keys = catalogues.flatMap(file =>
      [...read(`words/fr/${file}`).matchAll(/^ {2}(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\w+)):/gm)].map(
        ([, single, double, word]) => unescaped(single ?? double ?? word ?? ''),
      ),
    )
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([])
    expect(keys.toSorted()).toEqual(Object.keys(french).toSorted())
  })
})

describe('texts are found in the source', () => {
  const value = `$${'{'}`
  test.each([
    ['t`Plain`', ['Plain']],
    [`<p>{rich\`Sent to ${value}<bdi>{name}</bdi>} at ${value}time({ a: 1 })}.\`}</p>`, ['Sent to {1} at {2}.']],
    [
      `plural(n, t\`${value}n} message\`, t\`${value}number(n)} messages of ${value}t\`today\`}\`)`,
      ['{1} message', '{1} messages of {2}', 'today'],
    ],
    ["mark('It’s') mark(\"It's\") mark('It\\'s')", ['It’s', "It's", "It's"]],
    [`t\`It's ${value}'}'} and \\\`code\\\` \\u00a0\``, ["It's {1} and `code` \u00a0"]],
    ['  // t`not this`\nat`nor this`; sort`or that`', []],
  ])('%s', (source, keys) => {
    expect(textsIn(source).map(({ key }) => key)).toEqual(keys)
  })
})

describe('words', () => {
  test('are English unless asked otherwise, and keep their values', () => {
    expect(t`Skip to content`).toBe('Skip to content')
    expect(inLanguage('fr', () => t`Skip to content`)).toBe('Aller au contenu')
    expect(inLanguage('fr', () => say(mark('Skip to content')))).toBe('Aller au contenu')
  })

  test('what is not in the catalogue stays as it is', () => {
    const tag = t
    expect(inLanguage('fr', () => tag`Sent to ${'{2}'} by ${'$&'}`)).toBe('Sent to {2} by $&')
    const list = rich
    expect(list`Sent to ${'Ada'}.`).toEqual(['Sent to ', 'Ada', '.'])
  })

  test.each([
    ['fr-CA,fr;q=0.9,en;q=0.8', 'fr'],
    ['de, fr;q=0.5, en;q=0.4', 'fr'],
    ['en-GB, fr;q=0.9', 'en'],
    ['fr;q=0', 'en'],
    ['*', 'en'],
    ['', 'en'],
    [undefined, 'en'],
    ['fr;q=0.2;q=1, en;q=0.3', 'en'],
  ])('of %s is %s', (header, language) => {
    expect(acceptedLanguage(header)).toBe(language)
  })

  test.each([
    ['en', 0, 'other'],
    ['en', 1, 'one'],
    ['en', 2, 'other'],
    ['fr', 0, 'one'],
    ['fr', 1, 'one'],
    ['fr', 2, 'other'],
  ] as const)('%s: %d is %s', (language, count, form) => {
    expect(inLanguage(language, () => plural(count, 'one', 'other'))).toBe(form)
  })
})
