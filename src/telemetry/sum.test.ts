import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'
import { createSum } from './sum.ts'

/** A process with its gauges. */
function process(name: string, { waiting, up }: { waiting: number; up: number }) {
  const metrics = createMetrics(['email'], name)
  metrics.gauge('herald_reads_waiting', 'Reads.', () => waiting)
  metrics.gauge('herald_database_up', 'Up.', () => up, 'min')
  metrics.gauges('herald_waiting_tickets', 'Tickets.', ['lane'], () => [[{ lane: 'x' }, 7]], 'database')
  return { name, metrics }
}

const sample = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))].map(([, labels = '', value]) => [
    labels,
    Number(value),
  ])
const ACCEPTED = 'channel="email",outcome="accepted"'
const sends = (text: string) => sample(text, 'herald_sends_total').find(([labels]) => labels === ACCEPTED)?.[1]

test('counters and histograms are added up, gauges as each says, figures of the database are taken once', async () => {
  const [one, two] = [process('a-1', { waiting: 2, up: 1 }), process('a-2', { waiting: 3, up: 0 })]
  one.metrics.sends.inc({ channel: 'email', outcome: 'accepted' }, 5)
  two.metrics.sends.inc({ channel: 'email', outcome: 'accepted' }, 6)
  one.metrics.requests.observe({ method: 'GET', route: '/' }, 0.003)
  two.metrics.requests.observe({ method: 'GET', route: '/' }, 0.03)
  const sum = createSum()
  sum.keep('a-1', await one.metrics.values(true))
  sum.keep('a-2', await two.metrics.values(false))
  const text = await sum.text(new Set(['a-1', 'a-2']))
  expect(sends(text)).toBe(11)
  expect(sample(text, 'herald_http_request_seconds_count')).toEqual([['method="GET",route="/"', 2]])
  expect(sample(text, 'herald_http_request_seconds_bucket').map(([, value]) => value)).toEqual([
    0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
  ])
  expect(sample(text, 'herald_reads_waiting')).toEqual([['', 5]])
  expect(sample(text, 'herald_database_up')).toEqual([['', 0]])
  expect(sample(text, 'herald_waiting_tickets')).toEqual([['lane="x"', 7]])
  expect(sample(text, 'herald_process_resident_memory_bytes').map(([labels]) => labels)).toEqual([
    'process="a-1"',
    'process="a-2"',
  ])
})

test('what a process has counted stays when it ends or does not answer, its gauges do not', async () => {
  const [one, two] = [process('a-1', { waiting: 2, up: 1 }), process('a-2', { waiting: 3, up: 0 })]
  one.metrics.sends.inc({ channel: 'email', outcome: 'accepted' }, 5)
  two.metrics.sends.inc({ channel: 'email', outcome: 'accepted' }, 6)
  const sum = createSum()
  sum.keep('a-1', await one.metrics.values(true))
  sum.keep('a-2', await two.metrics.values(false))
  const silent = await sum.text(new Set(['a-1']))
  expect([sends(silent), sample(silent, 'herald_reads_waiting')]).toEqual([11, [['', 2]]])
  sum.end('a-2')
  const ended = await sum.text(new Set(['a-1']))
  expect([sends(ended), sample(ended, 'herald_database_up')]).toEqual([11, [['', 1]]])
  // Its successor counts from 0, twice.
  for (const count of [1, 2]) {
    const next = process('a-2', { waiting: 0, up: 1 })
    next.metrics.sends.inc({ channel: 'email', outcome: 'accepted' }, count)
    sum.keep('a-2', await next.metrics.values(false))
    sum.end('a-2')
  }
  expect(sends(await sum.text(new Set(['a-1'])))).toBe(14)
})
