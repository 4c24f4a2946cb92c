// The database is killed under load, alone and together with all processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { newKey } from '../support/client.ts'
import { type Block, factorOf, verdict } from '../support/promise.ts'

export const killedDatabase: Block = {
  name: 'kill -9 of PostgreSQL under load',
  async run(environment) {
    const kills = environment.isLong ? 20 : 3
    // The production lease is longer than a restart of the database; a shorter one would make the restart look like a crashed
    // worker.
    const result = await environment.scenario(
      { apps: 2, env: { HERALD_LEASE_SECONDS: '12' } },
      async ({ apps, client, senders, allow }) => {
        allow.killed = true
        const gaps: number[] = []
        const starts: number[] = []
        const pids = apps.map(app => app.pid())
        const sending = client.load(kills * 500, 120, n => ({
          sender: senders[n % 2] as (typeof senders)[0],
          idempotencyKey: n % 3 === 0 ? newKey() : null,
        }))
        for (let kill = 0; kill < kills; kill++) {
          await sleep(environment.random.between(1_000, 2_500))
          await environment.database.kill()
          await sleep(environment.random.between(0, 300))
          const begun = Date.now()
          await environment.database.start()
          const back = Date.now()
          starts.push((back - begun) / 1000)
          const first = await client.send({ sender: senders[0] as (typeof senders)[0], idempotencyKey: newKey() })
          gaps.push((first.answeredAt - back) / 1000)
        }
        await sending
        return { gaps, starts, stayed: apps.every((app, at) => app.pid() === pids[at]) }
      },
    )
    const { counts } = result
    const factor = factorOf(3, 4 * Math.max(...result.starts)) // a machine that starts slowly is slow in everything else, too
    return [
      verdict(
        'D2',
        'kill -9 of PostgreSQL under load',
        'lost 0, extra 0, stays up, accepts again ≤ 3 s (or four starts of the database)',
        `${counts.accepted} accepted, ${kills} kills, ${counts.lost} lost, ${counts.extra} extra, ${counts.refused} refused, longest gap ${Math.max(...result.gaps).toFixed(2)} s`,
        {
          'none lost': counts.lost === 0,
          'no extra': counts.extra === 0,
          'processes stayed up': result.stayed,
          'accepts again in time': Math.max(...result.gaps) <= 3 * factor,
        },
        result.violations,
        factor,
      ),
    ]
  },
}

export const killedAll: Block = {
  name: 'everything killed together',
  async run(environment) {
    const rounds = environment.isLong ? 10 : 1
    const result = await environment.scenario({ apps: 2 }, async ({ apps, client, senders, allow }) => {
      const seconds: number[] = []
      const ups: number[] = []
      for (let round = 0; round < rounds; round++) {
        Object.assign(allow, { extra: allow.extra + 256, killed: true })
        const sending = client.load(500, 200, n => ({
          sender: senders[n % 2] as (typeof senders)[0],
          idempotencyKey: n % 2 === 0 ? newKey() : null,
        }))
        await sleep(environment.random.between(800, 1_800))
        for (const app of apps) app.expect('any') // they may start before the database does
        await Promise.all([environment.database.kill(), ...apps.map(app => app.kill())])
        const since = Date.now()
        await environment.database.start()
        await Promise.all(apps.map(app => app.up()))
        ups.push((Date.now() - since) / 1000)
        for (const app of apps) app.expect('nothing')
        while (!environment.sink.arrivals().some(arrival => arrival.at > since + 50) && Date.now() < since + 30_000)
          await sleep(20)
        seconds.push((Date.now() - since) / 1000)
        await sending
      }
      return { seconds, ups }
    })
    const { counts, seconds, ups } = result
    return [
      verdict(
        'D3',
        'all processes and the database killed together',
        'lost 0, first send ≤ 10 s after start (or 5 s after all are up)',
        `${counts.accepted} accepted, ${counts.lost} lost, ${counts.extra} extra, first send after ${Math.max(...seconds).toFixed(1)} s, all up after ${Math.max(...ups).toFixed(1)} s`,
        {
          'none lost': counts.lost === 0,
          'first send in time': seconds.every((one, at) => one <= 10 * factorOf(10, (ups[at] ?? 0) + 5)),
        },
        result.violations,
        factorOf(10, Math.max(...ups) + 5),
      ),
    ]
  },
}

const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

export const unsafeDatabase: Block = {
  name: 'a database without durability',
  async run(environment) {
    const { sql, script } = environment.store.db
    const refused: string[] = []
    const why: string[] = []
    for (const setting of DURABLE) {
      await script(`alter system set ${setting} = off`)
      await sql`select pg_reload_conf()`
      await sleep(500)
      const { code, words } = await environment.tryStart({})
      if (code !== null && code !== 0 && words.includes(setting)) refused.push(setting)
      else why.push(`${setting}: ended with ${code}, ${words.slice(0, 300)}`)
      if (setting === 'synchronous_commit') {
        const allowed = await environment.tryStart({ HERALD_ALLOW_UNSAFE_DATABASE: 'true' })
        if (allowed.code !== null) why.push(`not even when allowed: ${allowed.words.slice(0, 300)}`)
      }
      await script(`alter system reset ${setting}`)
      await sql`select pg_reload_conf()`
    }
    await sleep(500)
    const { code } = await environment.tryStart({})
    return [
      verdict(
        'D4',
        'a database without durability is refused',
        'the start fails and names the setting',
        `refused: ${refused.join(', ')}; starts when they are on`,
        { 'all refused': refused.length === DURABLE.length, 'starts when they are on': code === null },
        why,
      ),
    ]
  },
}
