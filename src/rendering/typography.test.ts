// What content-rules 3 says beyond its vectors.

import { expect, test } from 'vitest'
import { typographyOfHtml, typographyOfText } from './typography.ts'

test.each([
  [`'90s`, '‘90s'],
  [`the '90s`, 'the ‘90s'],
  [`5'10"`, '5‘10”'],
  [`rock'80s`, 'rock’80s'],
  [`"'Quoted' words," he said`, '“‘Quoted’ words,” he said'],
  [`'"Quoted" words'`, '‘“Quoted” words’'],
  [`a''b`, 'a’‘b'],
  [`Café's l'été`, 'Café’s l’été'],
  [`("x")`, '(“x”)'],
  [`x &mdash;'y'`, 'x &mdash;‘y’'],
  [`\\"a\\" \\\\ \\.`, '"a" \\ .'],
  ['a - - b', 'a – - b'],
  ['a -  - - b', 'a – - – b'],
  ['a —— b', 'a – b'],
  ['a \t. b\n,', 'a. b\n,'],
  [`‘o’x@y ‘z’`, "'o'x@y ‘z’"],
  [`<code>"x"</code> "x"`, '<code>"x"</code> “x”'],
])('%s', (given, wanted) => expect(typographyOfText(given)).toBe(wanted))

test('in HTML a quote at a piece boundary depends on the text before it', () => {
  expect(typographyOfHtml(`<em>x</em>'<b>y</b>`)).toBe('<em>x</em>’<b>y</b>')
  expect(typographyOfHtml(`<em>x </em>"<b>y</b>`)).toBe('<em>x </em>“<b>y</b>')
})

test('attributes are left alone', () => {
  const link = `<a href="a - b" title="x's , y">it's - "z" ,</a>`
  expect(typographyOfHtml(link)).toBe(`<a href="a - b" title="x's , y">it's – "z",</a>`)
})
