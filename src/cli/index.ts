// The program `herald`.
import { startPeriodic } from '../runtime/periodic.ts'
import { run } from './run.ts'

// `herald … | head` closes our output early; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await run(process.argv.slice(2), {
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
})

// Nothing of ours should still be open. What is, e.g. a statement that never ends, does not keep an ended command alive.
startPeriodic(
  async () => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
  },
  500,
  () => {},
)
