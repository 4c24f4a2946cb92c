// The program `herald`.
import { startPeriodic } from '../runtime/periodic.ts'
import { run } from './run.ts'

// `herald … | head` closes stdout early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await run(process.argv.slice(2), {
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
})

// A handle that is still open, for example a statement that never ends, must not keep the process alive after the command.
startPeriodic(
  async () => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
  },
  500,
  () => {},
)
