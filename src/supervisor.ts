// Several processes as one start: the supervisor prepares the database, runs the processes on one port, and stops them together.
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Config } from './config/index.ts'
import { enginesOf, nameOf } from './config/share.ts'
import { databaseAbout } from './db/about.ts'
import { checkPorts, HELD, lostHealth, refuseContradictions, type Started, start } from './main.ts'
import { currentOperator } from './operator.ts'
import { fitting } from './processes/count.ts'
import type { Slot } from './processes/messages.ts'
import { supervise } from './processes/supervise.ts'
import { holdingOf } from './queue/hold.ts'
import { createLifetime } from './runtime/lifetime.ts'
import { makeFirstSample, type SampleKeys } from './sample.ts'
import { openStore, type Say } from './store.ts'
import { startHealth } from './telemetry/health.ts'
import { createLog } from './telemetry/log.ts'

export type StartOptions = { only?: 'http' | 'engine'; say: Say; sampleKeys: SampleKeys; signal: AbortSignal }

/** As `start` of main.ts. One process, if the database has connections for no more. */
export async function startSeveral(config: Config, options: StartOptions): Promise<Started> {
  const { only, say, sampleKeys } = options
  // Here, too: what a process reports as its failure is only sentences.
  refuseContradictions(config, only)
  const log = createLog(config.logLevel, config.processName ?? hostname())
  // Before the database: a start that cannot listen changes nothing.
  await checkPorts(config, only)
  const lifetime = createLifetime(options.signal)
  const { signal } = lifetime
  const store = await openStore(config, { say, log, make: true, signal })
  try {
    lifetime.add(store.stop)
    const { most_connections } = await databaseAbout(store.db.sql)
    const count = fitting(config.processes, config.databaseConnections, most_connections)
    if (count === 1) {
      await lifetime.stop()
      return await start(config, options)
    }
    if (await holdingOf(store.db.sql)) {
      log.warn('sending is held until an operator releases it')
      say(HELD)
    }
    const engines = only === 'http' ? 0 : enginesOf(config, count)
    const of = only === 'engine' ? engines : count
    const slots = Array.from(
      { length: of },
      (_, at): Slot => ({ at: at + 1, of, engines, only: only ?? null, isAgain: false }),
    )
    const supervisor = supervise(slots, { entry: ENTRY, nameOf: slot => nameOf(config, slot), log })
    const { host, healthPort } = config
    if (healthPort !== null) {
      // Stopped last: it says that the processes are stopping.
      const health = startHealth({ host, port: healthPort }, supervisor.health, lostHealth(log))
      lifetime.add(() => health.then(({ stop }) => stop()).catch(() => {})) // a failed one is reported below
      lifetime.add(supervisor.stop)
      await health
    } else lifetime.add(supervisor.stop)
    signal.addEventListener('abort', () => void supervisor.stop().catch(() => {})) // reported by the stop that follows
    const { address, port, console } = await supervisor.started
    log.info({ processes: of, engines }, 'all processes have started')
    // An external database gets no sample service.
    const sample =
      config.databaseUrl || only === 'engine' ? null : await makeFirstSample(store, currentOperator(), sampleKeys)
    signal.throwIfAborted()
    return { address, port, console, sample, parts: store, stop: lifetime.stop }
  } catch (error) {
    return await lifetime.fail(error)
  }
}

// Development runs the sources.
const ENTRY = fileURLToPath(new URL(`./child.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))
