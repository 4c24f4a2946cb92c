// The generated table of docs/scaling.md: the cost of one message times a rate.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { figure } from '../bench/support/report.ts'
import { readResults } from '../bench/support/results.ts'
import { scalingOf } from '../bench/support/scaling.ts'

/** Eight machines cost 1.25 times as much of the service as one, and less of PostgreSQL. */
const measured = (stored: number) => [
  figure('deliver_cpu_service', 400, 'µs', 1),
  figure('deliver_cpu_database', 250, 'µs', 1),
  figure('machines_many_1_cpu_service', 2_000, 'µs', 2_000),
  figure('machines_many_1_cpu_database', 1_000, 'µs', 1_000),
  figure('machines_many_8_cpu_service', 2_500, 'µs', 2_000),
  figure('machines_many_8_cpu_database', 900, 'µs', 1_000),
  figure('disk_email_wal', 2, 'kB', 1),
  figure('disk_email_stored', stored, 'kB', 1),
]
const rowsOf = (text: string) => text.split('\n').filter(line => /^\| \d/.test(line))

test('cores, WAL and disk are the cost of a message times the rate', () => {
  const [hundred, , tenThousand] = rowsOf(scalingOf(measured(1)))
  expect(hundred).toBe('| 100 | 0.05 | 0.03 | 0.2 MB/s | 8.64 GB | disk for 7 days (0.76 % of a cell) | 1 |')
  expect(tenThousand).toBe('| 10,000 | 5 | 2.5 | 20 MB/s | 864 GB | disk for 7 days (76 % of a cell) | 1 |')
})

test('the resource with the largest share decides the number of cells', () => {
  expect(rowsOf(scalingOf(measured(1)))[3]).toContain('disk for 7 days (756 % of a cell) | 8 |')
  expect(rowsOf(scalingOf(measured(0.1)))[3]).toContain('WAL (200 % of a cell) | 2 |')
})

test('without figures there is no table', () => {
  const text = scalingOf(measured(1).slice(0, -1))
  expect(text).toContain('Not measured yet')
  expect(rowsOf(text)).toEqual([])
})

test('docs/scaling.md shows the results of the last run', () => {
  const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8')
  expect(page).toContain(`<!-- bench:scaling -->\n\n${scalingOf(readResults().figures)}\n<!-- /bench:scaling -->`)
})
