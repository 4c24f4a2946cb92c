import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { counted, diff, facts, layOut, listing, paragraph, SHORT_IDS, usageLine, verbatim } from './print.ts'
import { createProgress, cut, hasColours, NO_SCREEN, npxHint, type Screen, screenOf, widthOf } from './terminal.ts'

const at = (columns: number): Screen => ({ columns, paint: (_, text) => text })
const coloured = screenOf({ isTTY: true, columns: 80 }, { TERM: 'xterm' })

test('colours: on a terminal only, and by FORCE_COLOR', () => {
  expect(hasColours(true, { TERM: 'xterm' })).toBe(true)
  expect(hasColours(false, { TERM: 'xterm' })).toBe(false)
  expect(hasColours(true, { TERM: 'dumb' })).toBe(false)
  expect(hasColours(true, { NO_COLOR: '1' })).toBe(false)
  expect(hasColours(true, { NO_COLOR: '' })).toBe(true)
  expect(hasColours(false, { FORCE_COLOR: '1' })).toBe(true)
  expect(hasColours(true, { FORCE_COLOR: '0' })).toBe(false)
  expect(hasColours(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true)
})

test.each([
  ['Ann', 3],
  ['李明', 4],
  ['한국', 4],
  ['ﾊﾝｶｸ', 4],
  ['e\u0301te\u0301', 3],
  ['👩‍👩‍👧', 2],
  ['🇨🇦', 2],
  ['❤️', 2],
  ['😀', 2],
  ['a\u200bb', 2],
  ['', 0],
])('the width of %s is %i columns', (text, columns) => expect(widthOf(text)).toBe(columns))

test('a text is cut between characters, and never wider than asked', () => {
  expect(cut('Parking permits', 8)).toBe('Parking…')
  expect(cut('李明李明', 8)).toBe('李明李明')
  expect(cut('李明李明', 7)).toBe('李明李…')
  expect(cut('李明李明', 6)).toBe('李明…')
  for (let columns = 1; columns < 12; columns++)
    expect(widthOf(cut('a李👩‍👩‍👧e\u0301bc한d', columns))).toBeLessThanOrEqual(columns)
})

describe('a table', () => {
  const ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
  const rows = [
    [ID, '李 and a name that is much longer than any column should be', 'delivered', 7, '2026-11-17 14:50 UTC'],
    [ID, 'Ann', 'permanent-failure', 12, null],
  ]
  const table = listing(['ID', 'NAME', 'STATUS', 'N', 'MADE'], rows, 'nothing')

  test('fits the terminal: long texts are cut, ids, times and numbers are not', () => {
    const lines = layOut(table, at(100)).split('\n')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(100)
    expect(lines[0]).toMatch(/^ID +NAME +STATUS +N {2}MADE UTC$/)
    expect(lines[1]).toMatch(new RegExp(`^${ID} {2}李 and.*… {2}delivered .* 7 {2}2026-11-17 14:50$`))
    const columnOf = (line: string | undefined, text: string) => widthOf(line?.slice(0, line.indexOf(text)) ?? '')
    expect(columnOf(lines[1], 'delivered')).toBe(columnOf(lines[2], 'permanent'))
  })

  test('the last columns are left out where even that is too wide, and a line says so', () => {
    const lines = layOut(table, at(60)).split('\n')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60)
    expect(lines[0]).toMatch(/^ID +NAME +STATUS +N$/)
    expect(lines.slice(3).join(' ')).toBe('Not shown: MADE UTC. Widen the terminal, or add --json.')
  })

  test('ids that a command takes by their first characters become short before a name is cut', () => {
    const service = (id: string, name: string) => [id, name, 'live', 'active', '2026-11-17 14:50 UTC']
    const services = [
      service('5f0c3a9e-9c1d-4b7e-8a9b-0c1d2e3f4a5b', 'Parking permits of the town'),
      service('5f0c3a9f-9c1d-4b7e-8a9b-0c1d2e3f4a5b', 'Library'),
    ]
    const head = ['ID', 'NAME', 'MODE', 'STATE', 'CREATED']
    const lines = layOut(listing(head, services, 'nothing', SHORT_IDS), at(80)).split('\n')
    expect(lines[1]).toBe('5f0c3a9e  Parking permits of the town  live  active  2026-11-17 14:50')
    expect(lines).toHaveLength(3)
    const timed = [
      ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', 'https://permits.example.org/events', 'standard', 'live', 'active', 0],
      ['0190a1b2-c3d4-7e5e-8a9b-0c1d2e3f4a5b', 'https://permits.example.org/other', 'standard', 'live', 'active', 0],
    ]
    const hooks = ['ID', 'URL', 'FORMAT', 'KEYS', 'STATE', 'NOT SENT']
    const [, first = ''] = layOut(listing(hooks, timed, 'nothing', SHORT_IDS), at(90)).split('\n')
    expect(first).toMatch(/^0190a1b2-c3d4-7e5f {2}https:\/\/permits\.example\.org\/e/)
    const wide = layOut(listing(head, services, 'nothing', SHORT_IDS), at(200))
    for (const screen of [NO_SCREEN, at(200)])
      expect(layOut(listing(head, services, 'nothing', SHORT_IDS), screen)).toContain(String(services[0]?.[0]))
    expect(wide).toContain(String(services[1]?.[0]))
  })

  test('for a program it is complete, without colours and control characters', () => {
    const hostile = listing(['NAME', 'STATE'], [['a\u001b[31m\nb'.padEnd(200, 'x'), 'active']], 'nothing')
    expect(layOut(hostile, NO_SCREEN)).toMatch(/\na \[31m bx{192} {2}active$/)
    expect(layOut(table, NO_SCREEN)).toContain('2026-11-17 14:50 UTC')
    expect(layOut(table, NO_SCREEN)).toContain('than any column should be')
    expect(layOut(listing(['NAME'], [], 'There is none.'), at(80))).toBe('There is none.')
  })

  test('statuses have colours', () => {
    const text = layOut(table, { ...coloured, columns: 200 })
    expect(text).toContain('\u001b[32mdelivered\u001b[39m')
    expect(text).toContain('\u001b[31mpermanent-failure\u001b[39m')
    expect(text).toContain('\u001b[1mNAME\u001b[22m')
  })
})

test('facts, paragraphs and usage lines continue below their beginning', () => {
  const long = 'word '.repeat(30).trim()
  expect(layOut(facts([['name', long]]), at(40)).split('\n')[1]).toMatch(/^ {6}word/)
  expect(layOut(facts([['name', long]]), NO_SCREEN)).toBe(`name  ${long}`)
  expect(layOut(paragraph(long), at(40)).split('\n')).toHaveLength(4)
  expect(layOut(usageLine(long), at(40)).split('\n')[1]).toMatch(/^ {7}word/)
  expect(layOut(usageLine(long), NO_SCREEN)).toBe(`Usage: ${long}`)
  expect(layOut(diff('- a\n+ b\n  c'), coloured)).toBe('\u001b[31m- a\u001b[39m\n\u001b[32m+ b\u001b[39m\n  c')
})

test('hints name the command that works: npx herald, where herald is not on the PATH', () => {
  const screen: Screen = { ...at(80), hint: npxHint(['release', 'doctor', 'key']) }
  expect(layOut('Sending is held. To resume: herald release', screen)).toBe(
    'Sending is held. To resume: npx herald release',
  )
  expect(layOut(usageLine('herald key create'), screen)).toBe('Usage: npx herald key create')
  expect(layOut(listing(['NAME'], [], 'No key (herald key create)'), screen)).toBe('No key (npx herald key create)')
  expect(layOut('npx herald doctor, /opt/herald doctor, herald serves', screen)).toBe(
    'npx herald doctor, /opt/herald doctor, herald serves',
  )
  const content = [verbatim('herald doctor'), listing(['NAME'], [['herald doctor']], 'nothing')]
  expect(layOut(content, screen)).not.toContain('npx')
  expect(layOut('herald release', NO_SCREEN)).toBe('herald release')
})

test('one is singular', () =>
  expect([counted(0, 'template'), counted(1, 'template'), counted(2, 'service')]).toEqual([
    '0 templates',
    '1 template',
    '2 services',
  ]))

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const started = (columns: number | null) => {
    const written: string[] = []
    const screen = { columns, paint: NO_SCREEN.paint }
    const progress = createProgress(
      text => void written.push(text),
      screen,
      () => Date.now(),
    )
    return { progress, written }
  }

  test('on a terminal: one line after a second, which disappears', () => {
    const { progress, written } = started(80)
    progress.show('Copying', 10, 40, n => `${n} MB`)
    vi.advanceTimersByTime(900)
    expect(written).toEqual([])
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toBe('\rCopying [######..................]  25%  10 MB of 40 MB  1 s\u001b[K')
    progress.show('Copying', 39, 40)
    vi.advanceTimersByTime(1_000)
    expect(written.at(-1)).toMatch(/ 97% {2}39 of 40 {2}2 s/)
    progress.end()
    expect(written.at(-1)).toBe('\r\u001b[K')
    const { length } = written
    vi.advanceTimersByTime(5_000)
    expect(written).toHaveLength(length)
  })

  test('without a total only the time is shown, in a narrow terminal no bar', () => {
    const { progress, written } = started(30)
    progress.show('Working')
    vi.advanceTimersByTime(2_000)
    expect(written.at(-1)).toBe('\rWorking … 2 s\u001b[K')
    progress.show('Storing services', 1, 2)
    vi.advanceTimersByTime(1_000)
    expect(written.at(-1)).toBe('\rStoring services 50%  3 s\u001b[K')
  })

  test('elsewhere: a line every five seconds, where there is a total', () => {
    const { progress, written } = started(null)
    progress.show('Working')
    vi.advanceTimersByTime(6_000)
    expect(written).toEqual([])
    progress.show('Storing services', 1, 2)
    vi.advanceTimersByTime(6_000)
    progress.end()
    expect(written).toEqual(['Storing services: 1 of 2\n'])
  })
})
