import { describe, expect, test } from 'vitest'
import { cpuMilliseconds } from '../../test/support/cpu.ts'
import { compareTexts, compareVersions, type Row } from './compare.ts'

const shown = (rows: readonly Row[]) =>
  rows.map(row =>
    row.sign === 'skipped'
      ? `… ${row.lines}`
      : `${{ same: ' ', removed: '-', added: '+' }[row.sign]}${row.before ?? ''}|${row.after ?? ''} ${row.pieces
          .map(({ text, changed }) => (changed ? `[${text}]` : text))
          .join('')}`,
  )

describe('two texts', () => {
  test('lines, and words inside lines that were changed', () => {
    const { rows, added, removed } = compareTexts(
      '# Soon\n\nDear ((name)),\n\nyou need:',
      '# Soon\n\nDear ((first name)),\n\nA line that is new.\n\nyou need:',
    )
    expect(shown(rows)).toEqual([
      ' 1|1 # Soon',
      ' 2|2 ',
      '-3| Dear ((name)),',
      '+|3 Dear (([first ]name)),',
      '+|4 ',
      '+|5 [A line that is new.]',
      ' 4|6 ',
      ' 5|7 you need:',
    ])
    expect({ added, removed }).toEqual({ added: 3, removed: 1 })
  })

  test('equal texts have no rows; only kinds of line ends differ: none either', () => {
    expect(compareTexts('a\nb', 'a\nb')).toEqual({ rows: [], added: 0, removed: 0 })
    expect(compareTexts('a\r\nb', 'a\nb')).toMatchObject({ added: 0, removed: 0 })
  })

  test('lines far from changes are left out, and numbers go on behind them', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
    const { rows } = compareTexts(lines.join('\n'), lines.with(9, 'ten').join('\n'))
    expect(shown(rows)).toEqual([
      '… 6',
      ...[7, 8, 9].map(n => ` ${n}|${n} line ${n}`),
      '-10| [line 10]',
      '+|10 [ten]',
      ...[11, 12, 13].map(n => ` ${n}|${n} line ${n}`),
      '… 7',
    ])
  })

  test('a change at both ends', () => {
    expect(shown(compareTexts('a\nsame\nz', 'b\nsame\ny').rows)).toEqual([
      '-1| [a]',
      '+|1 [b]',
      ' 2|2 same',
      '-3| [z]',
      '+|3 [y]',
    ])
    expect(shown(compareTexts('', 'new').rows)).toEqual(['-1| ', '+|1 [new]'])
  })

  test('every line of both texts is counted, whatever is shown', () => {
    const many = (letter: string, lines: number) => Array.from({ length: lines }, (_, at) => `${letter}${at}`)
    const { rows, added, removed } = compareTexts(many('a', 3000).join('\n'), many('b', 2500).join('\n'))
    expect({ added, removed }).toEqual({ added: 2500, removed: 3000 })
    expect(rows).toHaveLength(402)
    expect([rows[200], rows[201], rows[401]]).toMatchObject([
      { sign: 'skipped', lines: 2800 },
      { sign: 'added', after: 1 },
      { sign: 'skipped', lines: 2300 },
    ])
    const half = (letter: string) => many(letter, 900).flatMap((line, at) => [line, `same ${at}`])
    const mixed = compareTexts(half('a').slice(0, 400).join('\n'), half('b').slice(0, 400).join('\n'))
    expect(mixed.rows.length).toBeLessThanOrEqual(601)
  })
})

describe('hostile texts take little time', () => {
  const of = (length: number, line: (at: number) => string) =>
    Array.from({ length }, (_, at) => line(at))
      .join('')
      .slice(0, 50_000)
  const han = (at: number) => String.fromCharCode(0x4e00 + (at % 9000))
  const hangul = (at: number) => String.fromCharCode(0xac00 + (at % 9000))
  test.each([
    ['25,000 lines without a common one', of(25_000, at => `${han(at)}\n`), of(25_000, at => `${hangul(at)}\n`)],
    [
      '1,000 long lines without a common one',
      of(1000, at => `${at} ${'q'.repeat(45)}\n`),
      of(1000, at => `${at * 7}z${'z'.repeat(44)}\n`),
    ],
    ['equal lines in another order', of(25_000, () => 'a\nb\n'), of(25_000, () => 'b\nb\na\na\n')],
    [
      'one line in the midst',
      'a\n'.repeat(25_000),
      `${'a\n'.repeat(12_000)}${'b\n'.repeat(300)}${'a\n'.repeat(12_700)}`,
    ],
    ['one line of 16,000 words', 'ab '.repeat(16_666), 'cd '.repeat(16_666)],
    ['one line of brackets', '(('.repeat(25_000), '))'.repeat(25_000)],
    [
      '1,000 lines with one word changed',
      of(1000, at => `the line ${at} ${'quick brown fox '.repeat(2)}\n`),
      of(1000, at => `the lime ${at} ${'quick brown dog '.repeat(2)}\n`),
    ],
  ])('%s', (_, before, after) => {
    compareTexts(before, after) // compiled
    // The best of ten.
    const times = Array.from({ length: 10 }, () => {
      const started = cpuMilliseconds()
      compareTexts(before, after)
      return cpuMilliseconds() - started
    })
    expect(Math.min(...times)).toBeLessThan(50)
  })
})

describe('two versions', () => {
  const version = {
    name: 'Reminder',
    category_name: 'Reminder',
    subject: 'Your permit',
    content: 'Dear ((name)), ((zone))',
    literal_values: false,
  }

  test('only the fields that differ, and the placeholders that came and went', () => {
    const { changes, placeholders } = compareVersions(version, {
      ...version,
      name: 'Second reminder',
      content: 'Dear ((first name)), (( ZONE ))',
      literal_values: true,
    })
    expect(changes.map(({ field }) => field)).toEqual(['name', 'values', 'content'])
    expect(placeholders).toEqual({ added: ['first name'], removed: ['name'] })
  })

  test('a text message has no subject', () => {
    const text = { ...version, subject: null }
    expect(compareVersions(text, { ...text, category_name: 'Alert' }).changes.map(({ field }) => field)).toEqual([
      'category',
    ])
  })
})
