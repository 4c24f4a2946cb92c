// The hourly counts while processes and the database are killed: at any moment they are the statuses of the messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { type WrongCount, wrongCounts } from '../support/count-checker.ts'
import { type Environment, RECEIPT_SECRET } from '../support/environment.ts'
import { type Block, verdict } from '../support/promise.ts'
import { startLoad } from './events.ts'

/** The maximum of sends in progress and results not yet on disk in one process (rule R3). */
const IN_FLIGHT = 128
const PER_SECOND = 60

export const hourlyCounts: Block = {
  name: 'hourly counts under kills',
  async run(environment) {
    const kills = environment.isLong ? 30 : 4
    let databaseDeaths = 0
    const result = await environment.scenario({ apps: 2, services: 2 }, async scenario => {
      const { apps, allow, client, senders } = scenario
      allow.killed = true
      const services = senders.map(sender => sender.service)
      await environment.sink.set({
        receipts: {
          mode: 'mixed',
          twice: true,
          secret: RECEIPT_SECRET,
          urls: apps.map(app => `${app.address}/receipts/http`),
        },
      })
      const watch = watchCounts(environment, services)
      const load = startLoad(environment, client, senders, PER_SECOND)
      for (let kill = 0; kill < kills; kill++) {
        allow.extra += 2 * IN_FLIGHT
        await sleep(environment.random.between(500, 1_500))
        if (kill % 3 === 1) {
          for (const app of apps) app.expect('any')
          await environment.database.kill()
          databaseDeaths++
          await environment.database.start()
          await Promise.all(apps.map(app => app.up()))
          for (const app of apps) app.expect('nothing')
        } else {
          const app = environment.random.pick(apps)
          await app.up()
          await app.kill()
        }
      }
      await load.stop()
      await scenario.drained()
      const looks = await watch.stop()
      const { sql } = environment.store.db
      // What is still in the table of changes is added up every ten seconds.
      for (const end = Date.now() + 15_000; Date.now() < end; await sleep(200)) if ((await unfolded(sql)) === 0) break
      const [total] = await sql<{ messages: number; rows: number }>`
        select coalesce(sum(messages), 0)::integer as messages, count(*)::integer as rows
        from hourly_counts where service_id = any (${services}::uuid[])`
      return {
        looks,
        left: await unfolded(sql),
        wrong: await wrongCounts(sql, services),
        total: total ?? { messages: 0, rows: 0 },
      }
    })
    const { looks, wrong, total, counts } = result
    const wrongLooks = looks.filter(one => one.length > 0)
    return [
      verdict(
        'H1',
        'hourly counts are exact while processes and the database are killed',
        'every count = its messages, at any moment',
        `${kills - databaseDeaths} deaths of processes, ${databaseDeaths} of the database: ${total.messages} messages in ${total.rows} counts, ${wrong.length} wrong; ${looks.length} comparisons under load, ${wrongLooks.length} with a difference`,
        {
          'all counts are those of the messages': wrong.length === 0,
          'so they were at every moment': wrongLooks.length === 0,
          'compared often enough': looks.length >= 2 * kills,
          'all changes are added up': result.left === 0,
          'every message is counted': total.messages === counts.stored,
        },
        [
          ...wrong.slice(0, 5).map(one => JSON.stringify(one)),
          ...wrongLooks.slice(0, 3).map(one => JSON.stringify(one.slice(0, 3))),
          ...result.violations,
        ],
      ),
    ]
  },
}

const unfolded = async (sql: Environment['store']['db']['sql']) =>
  (await sql<{ n: number }>`select count(*)::integer as n from hourly_changes`)[0]?.n ?? 0

/** Compares counts and messages again and again, in one snapshot each; while the database is down it cannot. */
function watchCounts({ store: { db } }: Environment, services: readonly string[]) {
  const looks: WrongCount[][] = []
  let isOver = false
  const work = (async () => {
    while (!isOver) {
      const wrong = await wrongCounts(db.sql, services).catch(() => null)
      if (wrong) looks.push(wrong)
      await sleep(150)
    }
  })()
  return {
    async stop() {
      isOver = true
      await work
      return looks
    },
  }
}
