// One of several processes of a start. The supervisor (supervisor.ts) runs this module, with the slot as its argument.
import { once } from 'node:events'
import { explained } from './cli/explain.ts'
import { readSettings } from './config/index.ts'
import { shareOf } from './config/share.ts'
import { start } from './main.ts'
import { createLink } from './processes/link.ts'
import type { Slot } from './processes/messages.ts'
import { firstSignal, limitGarbageCollector, unlessAborted } from './runtime/process.ts'
import { faultOf } from './telemetry/fault.ts'
import { createLog } from './telemetry/log.ts'

const slot = JSON.parse(process.argv[2] ?? '') as Slot
const stopping = new AbortController()
const { signal } = stopping
const link = createLink(() => stopping.abort())
// Ctrl-C reaches all processes of a terminal. A signal for this one alone ends it in order, and another takes its place.
firstSignal(() => stopping.abort())
process.exit(await run())

async function run(): Promise<0 | 1> {
  limitGarbageCollector()
  try {
    // The supervisor has printed the warnings.
    const config = shareOf(
      readSettings(() => {}, { part: slot.only ?? 'all' }),
      slot,
    )
    const only = slot.only ?? (slot.at > slot.engines ? 'http' : undefined)
    const running = await unlessAborted(signal, () =>
      start(config, { ...(only && { only }), signal, supervised: link }),
    )
    if (!running) return 0
    const { parts, address, port, console, consolePort } = running
    link.offer(parts.metrics.values)
    await link.started({ address, port, console, consolePort })
    if (!signal.aborted) await once(signal, 'abort')
    await running.stop()
    return 0
  } catch (error) {
    if (slot.isAgain) createLog('error', `process ${slot.at}`).error({ error: faultOf(error) }, 'a process has failed')
    await link.failed(explained(error))
    return 1
  }
}
