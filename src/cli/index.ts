// The program `herald`.
import { terminalVariables } from '../config/terminal.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { run } from './run.ts'
import { screenOf } from './terminal.ts'

// Without it (Node 20) pg looks at the Response of fetch to find out where it runs, which loads all of undici: 20 ms.
if (!('navigator' in globalThis))
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node}` },
    configurable: true,
  })

// `herald … | head` closes stdout early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const variables = terminalVariables()

process.exitCode = await run(process.argv.slice(2), {
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  screens: { out: screenOf(process.stdout, variables), err: screenOf(process.stderr, variables) },
  hasCursor: variables.TERM !== 'dumb',
})

// A handle that is still open, for example a statement that never ends, must not keep the process alive after the command.
startPeriodic(
  async () => {
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
  },
  500,
  () => {},
)
