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
    destination ?? pino.destination({ fd: 2, sync: false }),
  )
}

/** The request log names a request by its id; a whole one by accident is left out. */
const idOnly = (request: unknown) => (typeof request === 'string' ? request : undefined)

// An error's message can quote what it choked on; its name and code cannot.
const nameOnly = (error: unknown) =>
  error instanceof Error ? { name: error.name, code: (error as { code?: unknown }).code } : undefined
