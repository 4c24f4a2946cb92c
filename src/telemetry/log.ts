// One logger, to standard error: standard output belongs to what a command answers. JSON, but for a terminal. What may be in a line is an
// allow-list (see fault.ts and main.ts): ids, sizes, codes, never a recipient, a value, a key or a body. Pino's own
// serializers would print requests and errors whole, so they are replaced.
import { writeSync } from 'node:fs'
import pino, { type Logger } from 'pino'
import { readable } from './readable.ts'

export type Log = Logger

const { isoTime } = pino.stdTimeFunctions

export function createLog(level: string, destination?: pino.DestinationStream): Log {
  const nothing = () => undefined
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: isoTime,
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
    destination ?? errors(),
  )
}

export type Answered = {
  request: string
  method: string
  route: string
  status: number
  ms: number
  service: string | undefined
  /** The id of the message, job or template that was made. */
  made: string | null
  /** Of a refusal: the name of the error, and a sentence of ours without what the caller gave. */
  error: string | undefined
  reason: string | null
}

/**
 * One line for every request, in the shape of all others. It is put together here, because pino looks at every field anew:
 * 2.6 against 1.2 µs. All its fields are words of ours or were checked (a request's id, http/server.ts): only a sentence needs
 * quoting. `destination` is the one the log was created with; pino has no public way to ask for it.
 */
export function createRequestLog(log: Log, destination = errors()): (answered: Answered) => void {
  return ({ request, method, route, status, ms, service, made, error, reason }) => {
    if (!log.isLevelEnabled('info')) return
    const by = service === undefined ? '' : `,"service":"${service}"`
    const id = made === null ? '' : `,"id":"${made}"`
    const why =
      error === undefined ? '' : `,"error":"${error}"${reason === null ? '' : `,"reason":${JSON.stringify(reason)}`}`
    destination.write(
      `{"level":30${isoTime()},"pid":${process.pid},"request":"${request}","method":"${method}","route":"${route}","status":${status},"ms":${ms}${by}${id}${why},"msg":"answered"}\n`,
    )
  }
}

const GATHER_MS = 20
const MOST_GATHERED = 65_536

// Lines of a few milliseconds are written together: handing over each took 3 µs, writing each a tenth of what a request costs.
// What is not written yet is written when the process ends by itself; `kill -9` takes the last lines with it.
function standardError(): pino.DestinationStream {
  const stream = pino.destination({ fd: 2, sync: false })
  let gathered = ''
  let isGathering = false
  const flush = () => {
    isGathering = false
    if (gathered !== '') stream.write(gathered)
    gathered = ''
  }
  // After the stream has said its own last words: it registered first.
  process.once('exit', () => {
    try {
      if (gathered !== '') writeSync(2, gathered)
    } catch {
      // nobody reads any more
    }
  })
  // A line at a time: pino and the request log write whole ones.
  const shown = process.stderr.isTTY ? readable : (line: string) => line
  return {
    write(line) {
      gathered += shown(line)
      if (gathered.length > MOST_GATHERED) flush()
      if (isGathering) return
      isGathering = true
      setTimeout(flush, GATHER_MS).unref()
    },
  }
}

let shared: pino.DestinationStream | undefined
/** One for the process, whoever logs. */
function errors(): pino.DestinationStream {
  shared ??= standardError()
  return shared
}

/** The request log names a request by its id; a whole one by accident is left out. */
const idOnly = (request: unknown) => (typeof request === 'string' ? request : undefined)

// An error's message can quote what it choked on; its name and code cannot.
const nameOnly = (error: unknown) =>
  error instanceof Error ? { name: error.name, code: (error as { code?: unknown }).code } : undefined
