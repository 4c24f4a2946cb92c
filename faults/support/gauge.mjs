// Preloaded into a process: every few seconds it collects garbage and writes the remaining memory, one line of JSON. Without the
// collection, a leak could not be distinguished from garbage.
import { appendFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const EVERY_MS = 5_000

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  setInterval(() => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const resources = process.getActiveResourcesInfo().length
    const line = { at: Date.now(), megabytes: (heapUsed + external) / 1_048_576, resources }
    appendFileSync(process.env.FAULTS_GAUGE ?? '', `${JSON.stringify(line)}\n`)
  }, EVERY_MS).unref()
}
