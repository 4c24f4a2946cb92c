// docs/security.md and the table of promises name tests and files; all of them must exist.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CHAPTERS } from '../../faults/support/promises.ts'

const page = readFileSync('docs/security.md', 'utf8')
const rows = page.split('\n').filter(line => /^\| S-\d/.test(line))

/** A title belongs to the last file named before it. */
function testsIn(cell: string): [file: string, title: string][] {
  let file = ''
  return [...cell.matchAll(/`([^`]+)`|“((?:[^”]|”(?!;| \||$))+)”/g)].flatMap(([, named, title]) => {
    if (named !== undefined) file = named
    return title === undefined ? [] : [[file, title] as [string, string]]
  })
}

/** A test, a describe block, or a row of test.each, as written in the source. */
function isThere(file: string, title: string): boolean {
  if (!existsSync(file)) return false
  return readFileSync(file, 'utf8')
    .split('\n')
    .some(line => line.includes(title) && /(\btest|\bdescribe)\b|^\s*\[|^\s*['"`]/.test(line))
}

describe('docs/security.md', () => {
  test('has every threat once, in order', () => {
    const ids = Array.from({ length: 72 }, (_, at) => `S-${String(at + 1).padStart(2, '0')}`)
    expect(rows.map(row => row.split('|')[1]?.trim())).toEqual(ids)
  })

  test.each(rows.map(row => [row.split('|')[1]?.trim() ?? '', row] as const))(
    '%s names tests and files that are there',
    (_id, row) => {
      const [, , , control = '', tests = ''] = row.split(/(?<!\\) ?\| ?/)
      const named = testsIn(tests)
      if (!control.includes('console, not built')) expect(named.length).toBeGreaterThan(0)
      expect(named.filter(([file, title]) => !isThere(file, title))).toEqual([])
      const files = [...control.matchAll(/`((?:src|migrations|scripts|test)\/[^`]+|package-lock\.json)`/g)].map(
        ([, file]) => file ?? '',
      )
      expect(files.filter(file => !existsSync(file))).toEqual([])
    },
  )

  test('would notice a test that is missing', () => {
    expect(testsIn('`a.test.ts` “one”; “two "quoted"”; `b.test.ts` “three”')).toEqual([
      ['a.test.ts', 'one'],
      ['a.test.ts', 'two "quoted"'],
      ['b.test.ts', 'three'],
    ])
    expect(isThere('test/security/table.test.ts', 'would notice a test that is gone')).toBe(true)
    expect(isThere('test/security/table.test.ts', ['never', 'written'].join(' '))).toBe(false)
    expect(isThere('test/security/gone.test.ts', 'x')).toBe(false)
  })
})

test('every test that a promise names exists', () => {
  const named = CHAPTERS.flatMap(({ promises }) => promises.flatMap(({ test: by }) => (by ? [by] : [])))
  expect(named.filter(([file, title]) => !isThere(file, title))).toEqual([])
})
