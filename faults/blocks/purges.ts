// Many expired rows at once: every purge finishes, in short steps, and callers are not delayed.

import { setTimeout as sleep } from 'node:timers/promises'
import { makeEventPartitions } from '../../src/events/partitions.ts'
import { makePartitions } from '../../src/notifications/partitions.ts'
import type { Environment } from '../support/environment.ts'
import { DAYS_AGO, KINDS, SERVICES } from '../support/expired.ts'
import { type Block, percentile, verdict } from '../support/promise.ts'

const DAY_MICROS = 86_400_000_000
const PER_SECOND = 100
const MUCH = 2_000_000
const LITTLE = 20_000

export const purges: Block = {
  name: 'many expired rows of each kind',
  async run(environment) {
    // In a short run one kind, chosen by the seed, has as many rows as each has in a long run; not files, which are purged in
    // steps of 500 and 50.
    const quick = KINDS.flatMap((kind, at) => (/^(recipient )?files$/.test(kind.name) ? [] : [at]))
    const much = environment.random.pick(quick)
    const counts = KINDS.map((_, at) => (environment.isLong || at === much ? MUCH : LITTLE))
    await fill(environment, counts)
    const result = await environment.scenario({ apps: 0 }, async ({ app, client, senders }) => {
      const one = await app({})
      const took: Record<string, number> = {}
      const since = performance.now()
      let isOver = false
      const sending = (async () => {
        while (!isOver)
          await client.load(PER_SECOND, PER_SECOND, n => ({ sender: senders[n % 2] as (typeof senders)[0] }))
      })()
      for (const until = since + 1_200_000; performance.now() < until && Object.keys(took).length < KINDS.length; ) {
        for (const kind of KINDS)
          if (took[kind.name] === undefined && (await isGone(environment, kind.left)))
            took[kind.name] = (performance.now() - since) / 1000
        await sleep(250)
      }
      isOver = true
      await sending
      const times = client.answers.map(answer => answer.answeredAt - answer.sentAt)
      return { took, p95: percentile(times, 0.95), p99: percentile(times, 0.99), log: one.log() }
    })
    await environment.store.db.script('delete from jobs where name = $$Expired$$')
    const failed = result.log.match(/maintenance task failed: [\w-]+/g) ?? []
    const seconds = Object.entries(result.took).map(([name, one]) => `${name} ${one.toFixed(0)} s`)
    const { counts: sums } = result
    const many = environment.isLong
      ? 'each kind'
      : `one kind (${KINDS[much]?.name}), ${LITTLE.toLocaleString('en')} of the others`
    return [
      verdict(
        'C6',
        `${MUCH.toLocaleString('en')} expired rows of ${many}, beside ${PER_SECOND} messages a second`,
        'all deleted, no maintenance task fails, 0 refused, accept p95 ≤ 250 ms',
        `gone after: ${seconds.join(', ')}; accept p95 ${result.p95.toFixed(0)} ms, p99 ${result.p99.toFixed(0)} ms, ${sums.accepted} accepted, ${sums.refused} refused`,
        {
          'all are gone': KINDS.every(kind => result.took[kind.name] !== undefined),
          'no maintenance task failed': failed.length === 0,
          'nobody was refused': sums.refused === 0,
          'accepts stay quick': result.p95 <= 250,
          'none lost': sums.lost === 0,
        },
        [...failed, ...result.violations],
      ),
    ]
  },
}

async function fill(environment: Environment, counts: readonly number[]) {
  const { db, clock } = environment.store
  const client = db.client() // outside the pool: no timeout
  await client.connect()
  try {
    await client.query(SERVICES)
    for (const days of Object.values(DAYS_AGO))
      for (const make of [makePartitions, makeEventPartitions])
        await make(db, { ...clock, micros: () => clock.micros() - days * DAY_MICROS })
    for (const [at, kind] of KINDS.entries()) await client.query(kind.fill(counts[at] ?? 0))
  } finally {
    await client.end()
  }
}

/** Checked without reading all remaining rows. */
async function isGone(environment: Environment, left: string): Promise<boolean> {
  const text = [`select not exists (${left.replace('count(*)::integer as left', '1')}) as gone`]
  const [row] = await environment.store.db.sql<{ gone: boolean }>(Object.assign(text, { raw: text }))
  return row?.gone === true
}
