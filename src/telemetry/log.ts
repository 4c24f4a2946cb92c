// The logger. It writes to standard error, because standard output is for the results of commands: JSON, or text on a terminal. Only
// allowed fields are logged (fault.ts, main.ts): ids, sizes, codes; never a recipient, a value, a key or a body. Pino's serializers
// would print whole requests and errors, so they are replaced.
import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import pino, { type Logger } from 'pino'
import type { Id } from '../core/id.ts'
import { isReaderGone } from '../runtime/process.ts'
import { readable } from './readable.ts'

export type Log = Logger

const { isoTime } = pino.stdTimeFunctions

/** `name`: of the process, in every line; the logs of several machines are often read together. */
export function createLog(level: string, name = hostname(), destination?: pino.DestinationStream): Log {
  const nothing = () => undefined
  return pino(
    {
      level,
      base: { pid: process.pid, process: name },
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
  level: 'info' | 'debug'
  request: string
  method: string
  route: string
  status: number
  ms: number
  service: string | undefined
  /** The id of the message, job or template that was created. */
  made: string | null
  /** The id in the address of the request. */
  about: string | null
  /** Of a refusal: the name of the error, and its sentence without the values of the caller. */
  error: string | undefined
  reason: string | null
}

/**
 * Logs one line per request, in the same format as pino. It is built here because pino serialises every field: 2.6 µs instead of
 * 1.2 µs. All fields are our own words or validated (the request id, http/server.ts), so only the sentence needs quoting. `destination` is the one the log was created with; pino has no public way to ask for it.
 */
export function createRequestLog(log: Log, destination = errors()): (answered: Answered) => void {
  // Without the process id, which pino leaves out.
  const by = JSON.stringify({ pid: process.pid, ...log.bindings() }).slice(1, -1)
  return ({ level, request, method, route, status, ms, service, made, about, error, reason }) => {
    if (!log.isLevelEnabled(level)) return
    const of = service === undefined ? '' : `,"service":"${service}"`
    const id = (made === null ? '' : `,"id":"${made}"`) + (about === null ? '' : `,"about":"${about}"`)
    const why =
      error === undefined ? '' : `,"error":"${error}"${reason === null ? '' : `,"reason":${JSON.stringify(reason)}`}`
    destination.write(
      `{"level":${LEVELS[level]}${timeNow()},${by},"request":"${request}","method":"${method}","route":"${route}","status":${status},"ms":${ms}${of}${id}${why},"msg":"answered"}\n`,
    )
  }
}

const LEVELS = { info: 30, debug: 20 } as const

/** A line of the life of a message or a job: ids and our own words only, which need no quoting. */
export type Note = (fields: NoteFields, sentence: string) => void
type NoteFields = Readonly<
  Record<string, string | number | boolean | readonly Id[] | Readonly<Record<string, number>> | null | undefined>
>

/** As the request log, and for the same reason. Null and undefined are left out. */
export function createNote(log: Log, destination = errors()): Note {
  const by = JSON.stringify({ pid: process.pid, ...log.bindings() }).slice(1, -1)
  return (fields, sentence) => {
    if (!log.isLevelEnabled('info')) return
    let line = `{"level":30${timeNow()},${by}`
    for (const name in fields) {
      const value = fields[name]
      if (value === null || value === undefined) continue
      if (typeof value === 'string') line += `,"${name}":"${value}"`
      else line += `,"${name}":${typeof value === 'object' ? JSON.stringify(value) : value}`
    }
    destination.write(`${line},"msg":"${sentence}"}\n`)
  }
}

let [millis, timeText] = [-1, '']
/** As pino's isoTime. Lines come in groups, and formatting the time is half the cost of a line. */
function timeNow(): string {
  const now = Math.floor(performance.now())
  if (now !== millis) {
    millis = now
    timeText = isoTime()
  }
  return timeText
}

const GATHER_MS = 20
const MOST_GATHERED = 65_536

// Lines are buffered for a few milliseconds and written together: passing on each line took 3 µs, and writing each a tenth of the cost
// of a request. The buffer is flushed when the process exits; `kill -9` loses the last lines.
function standardError(): pino.DestinationStream {
  const stream = pino.destination({ fd: 2, sync: false })
  let gathered = ''
  let isGathering = false
  let isClosed = false
  // Pino itself ignores a closed pipe, but not a closed terminal. What it still holds would be written, and fail, at the exit.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error.code, process.stderr.isTTY)) throw error
    isClosed = true
    stream.destroy()
  })
  const flush = () => {
    isGathering = false
    if (gathered !== '' && !isClosed) stream.write(gathered)
    gathered = ''
  }
  // Runs after the stream's own exit handler, which was registered first.
  process.once('exit', () => {
    try {
      if (gathered !== '') writeSync(2, gathered)
    } catch {
      // the reader is gone
    }
  })
  // Whole lines only, as pino and the request log write them.
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
/** One for the whole process. */
function errors(): pino.DestinationStream {
  shared ??= standardError()
  return shared
}

/** A request is logged by its id only; a request object is left out. */
const idOnly = (request: unknown) => (typeof request === 'string' ? request : undefined)

// The message of an error can quote its input; the name and the code cannot.
const nameOnly = (error: unknown) =>
  error instanceof Error ? { name: error.name, code: (error as { code?: unknown }).code } : undefined
