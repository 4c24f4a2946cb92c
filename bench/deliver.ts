// Accepted and delivered at the same time by one process: 64 callers, every message handed to a mail server.
// npm run bench -- deliver [--seconds 5] [--repeats 3]
import { parseArgs } from 'node:util'
import { createHouse } from './support/house.ts'
import { load } from './support/load.ts'
import { figure, median, print, table } from './support/report.ts'
import { emails } from './support/requests.ts'
import { startService } from './support/service.ts'
import { startSink } from './support/sink.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { seconds: { type: 'string', default: '5' }, repeats: { type: 'string', default: '3' } },
})
/** The reference peer on this kind of machine delivers so many a second (issue 8). */
const PEER = 66

const house = await createHouse()
const sink = await startSink()
const service = await startService(house, sink.port)
try {
  const rounds: { accepted: number; delivered: number; p99: number }[] = []
  for (let round = 0; round <= Number(values.repeats); round++) {
    sink.reset()
    const since = performance.now()
    const before = await stored()
    const outcome = await load({
      address: service.address,
      connections: 64,
      seconds: Number(values.seconds),
      warmUp: 0,
      requests: emails(house),
    })
    const all = (await stored()) - before
    const last = await sink.received(all)
    // The first round warms up.
    if (round > 0)
      rounds.push({ accepted: outcome.perSecond, delivered: (all / (last - since)) * 1000, p99: outcome.p99 })
  }
  const accepted = median(rounds.map(round => round.accepted))
  const delivered = median(rounds.map(round => round.delivered))
  table(
    ['at the same time', '/s', '× peer'],
    [
      ['accepted', accepted, '-'],
      ['reached the mail server', delivered, delivered / PEER],
    ],
  )
  print([figure('deliver_accepted', accepted, '/s', 2_500), figure('deliver_delivered', delivered, '/s', PEER)])
} finally {
  await service.stop()
  sink.stop()
  await house.stop()
}

async function stored(): Promise<number> {
  const [row] = await house.store.db.sql<{ n: number }>`select count(*)::integer as n from notifications`
  return row?.n ?? 0
}
