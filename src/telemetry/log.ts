// One logger, to standard error: standard output belongs to what a command answers. What may be in a line is an
// allow-list (see http/errors.ts and main.ts): ids, sizes, codes, never a recipient, a value, a key or a body. Pino's own
// serializers would print requests and errors whole, so they are replaced.
import pino, { type Logger } from 'pino'

export type Log = Logger

export function createLog(level: string, destination?: pino.DestinationStream): Log {
  const nothing = () => undefined
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {
        req: nothing,
        res: nothing,
        request: idOnly,
        reply: nothing,
        headers: nothing,
        body: nothing,
        err: nameOnly,
      },
    },
    destination ?? standardError(),
  )
}

const GATHER_MS = 20

// Lines of a few milliseconds are written together: a write for each took a tenth of what a request costs. What is not
// written yet is written when the process ends by itself; `kill -9` takes the last lines with it.
function standardError(): pino.DestinationStream {
  const stream = pino.destination({ fd: 2, sync: false, minLength: 12_288 })
  let isGathering = false
  const flush = () => {
    isGathering = false
    stream.flush()
  }
  return {
    write(line) {
      stream.write(line)
      if (isGathering) return
      isGathering = true
      setTimeout(flush, GATHER_MS).unref()
    },
  }
}

/** The request log names a request by its id; a whole one by accident is left out. */
const idOnly = (request: unknown) => (typeof request === 'string' ? request : undefined)

// An error's message can quote what it choked on; its name and code cannot.
const nameOnly = (error: unknown) =>
  error instanceof Error ? { name: error.name, code: (error as { code?: unknown }).code } : undefined
