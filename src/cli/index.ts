// The program `herald`.
import { isOnPath, terminalVariables } from '../config/terminal.ts'
import { startPeriodic } from '../runtime/periodic.ts'
import { isReaderGone } from '../runtime/process.ts'
import { run } from './run.ts'
import { table } from './table.ts'
import { npxHint, screenOf } from './terminal.ts'

// Without it (Node 20) pg looks at the Response of fetch to find out where it runs, which loads all of undici: 20 ms.
if (!('navigator' in globalThis))
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node}` },
    configurable: true,
  })

// `herald … | head` closes stdout early, which is not an error. A closed terminal takes both, and Herald stops in order.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error.code, stream.isTTY)) throw error
  })

const variables = terminalVariables()
const hints = isOnPath('herald') ? {} : { hint: npxHint([...new Set(table.map(({ noun }) => noun))]) }

process.exitCode = await run(process.argv.slice(2), {
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text),
  screens: {
    out: { ...screenOf(process.stdout, variables), ...hints },
    err: { ...screenOf(process.stderr, variables), ...hints },
  },
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
