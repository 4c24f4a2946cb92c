// The connection pool and the `sql` tag. Statements are written as templates, so every value is a parameter by construction and
// every statement is prepared under a stable name: sql`select id from keys where digest = ${digest}`.
import { createHash } from 'node:crypto'
import net from 'node:net'
import pg from 'pg'
import { createCircuitBreaker } from '../runtime/circuit-breaker.ts'
import { hostsOf } from './hosts.ts'
import { askHosts, createPrimary, type Look, type Primary, refuseStandby, StandbyError } from './primary.ts'

export type Row = Record<string, unknown>

/** Runs a statement, alone or inside a transaction: the caller does not need to know which. */
export type Sql = <R extends object = Row>(strings: TemplateStringsArray, ...values: unknown[]) => Promise<R[]>

export type Database = {
  sql: Sql
  /** All statements of `work` commit together or not at all. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** A text of several statements without parameters: migrations only. */
  script(text: string): Promise<void>
  /** A connection outside the pool, for LISTEN and for session locks. */
  client(): DedicatedClient
  /** Another pool on the same database, with limits of its own. The caller stops it. */
  separate(options: Pick<PoolOptions, 'size' | 'name' | 'statementSeconds'>): Database
  /** Number of connections, of idle ones, and of statements that wait for one. */
  load(): { total: number; idle: number; waiting: number }
  /** Ends the connections that are in use: their statements fail at once, whatever the server does. */
  interrupt(): void
  /** False: statements fail at once, because no primary answers. */
  isAnswering(): boolean
  stop(): Promise<void>
}

/** `destroy` closes the socket at once: `end` on a dead connection would wait for an answer. */
export type DedicatedClient = pg.Client & { destroy(): void }

export type Connection = { url: string } | { host: string; user: string; database: string }

export type PoolOptions = {
  size: number
  name: string
  statementSeconds: number
  onIdleError(error: Error): void
  /** Called when the hosts were asked which of them is the primary. */
  onLook?(look: Look): void
}

/** A piece of a statement, to be used inside another: part`and service_id = ${id}`. */
export type Part = { readonly [PART]: true; readonly strings: readonly string[]; readonly values: readonly unknown[] }
const PART = Symbol('part')
export const part = (strings: TemplateStringsArray, ...values: unknown[]): Part => ({ [PART]: true, strings, values })
export const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && PART in value

export function connect(connection: Connection, options: PoolOptions): Database {
  const places = 'url' in connection ? hostsOf(connection.url).map(url => ({ url })) : [connection]
  const primary = createPrimary(
    places.map(place => clientSettings(place, options)),
    options.onLook,
  )
  const database = connectTo(places, primary, options)
  return {
    ...database,
    stop() {
      primary.stop()
      return database.stop()
    },
  }
}

/** Asks every host of an address once; null: there is only one. */
export async function askAll(url: string): Promise<Look | null> {
  const urls = hostsOf(url)
  const options = { size: 1, name: 'herald-doctor', statementSeconds: 5, onIdleError() {} }
  return urls.length === 1 ? null : askHosts(urls.map(url => clientSettings({ url }, options)))
}

function connectTo(places: readonly Connection[], primary: Primary, options: PoolOptions): Database {
  let stopped = false
  const inUse = new Set<pg.PoolClient>()
  /** By socket, the position of its host. */
  const dedicated = new Map<net.Socket, number>()
  const pooled = new Set<net.Socket>()
  /** All connections of a pool go to the host that is the primary; it is opened when it is needed. */
  let pool: pg.Pool | null = null

  async function current(): Promise<pg.Pool> {
    const at = primary.current() ?? (await primary.find())
    if (stopped) throw new Error('the database was stopped')
    pool ??= open(placeAt(at))
    return pool
  }

  const placeAt = (at: number) => places[at] as Connection

  function open(place: Connection): pg.Pool {
    const made = new pg.Pool({
      ...clientSettings(place, options),
      max: options.size,
      // A statement does not wait longer for a connection than for its result.
      connectionTimeoutMillis: Math.min(4, options.statementSeconds) * 1000,
      idleTimeoutMillis: 60_000,
      stream: () => registered(new net.Socket()),
      ...(mayBeStandby(place) && { onConnect: refuseStandby }),
    })
    const registered = (socket: net.Socket) => {
      pooled.add(socket)
      return socket.once('close', () => pooled.delete(socket))
    }
    made.on('error', error => {
      // Errors during stop are ignored: the pool does not wait for the server, which may close the connection first.
      if (!stopped && made === pool) options.onIdleError(error)
    })
    // The pool handles errors of idle connections only. Those of a connection in use would end the process; its statement fails with
    // the same error, and that is enough.
    made.on('connect', client => {
      client.on('error', () => {})
      client.on('notice', ({ routine }) => {
        if (routine === WAIT_FOR_STANDBY) unconfirmed.add(client)
      })
    })
    return made
  }

  // Until a primary answers on a new connection, statements fail at once instead of waiting for a timeout each.
  const breaker = createCircuitBreaker({
    probe: () =>
      primary.find().then(
        () => true,
        () => false, // probed again
      ),
    pauseMs: failed => (failed === 0 ? 0 : PROBE_MS),
  })

  /** Ends all connections of the pool, also those in use. The next statement opens another. */
  function dropPool() {
    const old = pool
    pool = null
    void old?.end()
    for (const socket of pooled) socket.destroy()
  }

  // A server that was the primary hangs, is cut off from us, or is a standby now: every connection to it is useless.
  function lookAgain(used: pg.Pool) {
    if (used !== pool || stopped) return
    dropPool()
    breaker.trip()
  }

  primary.onMove(() => {
    dropPool()
    for (const [socket, at] of dedicated) if (at !== primary.current()) socket.destroy()
  })

  function afterRefused(error: unknown, from: pg.Pool | null) {
    notice(error)
    if (!from || from !== pool || stopped) return
    if (error instanceof StandbyError) lookAgain(from)
    else if (isConnectionError(error) && !isQueueTimeout(error)) breaker.trip()
  }

  async function withClient<T>(work: (checkout: Checkout) => Promise<T>): Promise<T> {
    let from = pool
    let client: pg.PoolClient
    try {
      if (breaker.isOpen()) throw new Error('the database does not answer')
      from ??= await current()
      client = await from.connect()
    } catch (error) {
      afterRefused(error, from)
      throw error
    }
    inUse.add(client)
    // A broken connection reports its error to the statement, and again as an event that would end the process if nobody listened.
    const heard = () => {}
    client.on('error', heard)
    // A connection that lost its server or timed out may still be busy: it must not be handed to the next request. The errors of its
    // statements decide that, not the one that `work` throws: a refusal inside a transaction leaves the connection as it was.
    let isUsable = true
    const run: Checkout['run'] = async statement => {
      try {
        return await client.query(statement)
      } catch (error) {
        notice(error)
        if (isConnectionError(error)) isUsable = false
        // The server ends a statement before our timeout does. When our timeout came first, the server hangs or the network is dead.
        if (isUnanswered(error) || isReadOnly(error)) lookAgain(from)
        throw error
      }
    }
    const rollBack = async () => {
      if (!isUsable) return
      // The caller throws the error that it rolls back for. Without a rollback the connection would keep its transaction.
      await run('rollback').catch(() => {
        isUsable = false
      })
    }
    try {
      return await work({ client, run, rollBack })
    } finally {
      inUse.delete(client)
      client.off('error', heard)
      client.release(!isUsable)
    }
  }

  return {
    // The victim of a deadlock has changed nothing, and the deadlock is over: a single statement can be repeated.
    sql: tagFor(async query => {
      const once = () => withClient(({ client, run }) => committing(client, run(query)))
      return once().catch(error => (isDeadlock(error) ? once() : Promise.reject(error)))
    }),
    transaction: work =>
      withClient(async ({ client, run, rollBack }) => {
        await run('begin')
        // `work` may fail while another of its branches still runs: its next statement must not reach the connection's next user.
        let isOpen = true
        try {
          const result = await work(tagFor(query => (isOpen ? run(query) : Promise.reject(new Error(ENDED)))))
          isOpen = false
          await committing(client, run('commit'))
          return result
        } catch (error) {
          isOpen = false
          await rollBack()
          throw error
        }
      }),
    script: text =>
      withClient(async ({ run, rollBack }) => {
        try {
          await run(text)
        } catch (error) {
          await rollBack()
          throw error
        }
      }),
    client() {
      const at = primary.current() ?? 0
      // Often made because a connection was lost: the primary may be another host now.
      if (places.length > 1) void primary.find().catch(() => {}) // asked again for the next one
      const place = placeAt(at)
      const socket = new net.Socket()
      const settings = clientSettings(place, { ...options, statementSeconds: 0 })
      const client = new pg.Client({ ...settings, connectionTimeoutMillis: CONNECT_MS, stream: () => socket })
      client.on('error', () => {}) // a statement in progress fails with the same error
      dedicated.set(socket, at)
      socket.once('close', () => dedicated.delete(socket))
      const connect = client.connect.bind(client)
      return Object.assign(client, {
        async connect() {
          await connect()
          if (mayBeStandby(place)) await refuseStandby(client)
        },
        destroy: () => void socket.destroy(),
      })
    },
    separate: others => connectTo(places, primary, { ...options, ...others }),
    load: () => ({
      total: pool?.totalCount ?? 0,
      idle: pool?.idleCount ?? 0,
      waiting: pool?.waitingCount ?? 0,
    }),
    interrupt() {
      for (const client of inUse) void client.end() // with a statement in progress, it closes the socket
      for (const socket of dedicated.keys()) socket.destroy()
    },
    isAnswering: () => !breaker.isOpen(),
    async stop() {
      stopped = true
      void breaker.stop() // a look in progress ends its own connections
      await pool?.end()
    },
  }
}

/** The embedded database has no standby. */
const mayBeStandby = (place: Connection) => 'url' in place

/** After this time a connection attempt is given up and repeated. */
const CONNECT_MS = 5_000
const PROBE_MS = 200

/**
 * A list of values that need no quotes in PostgreSQL's array syntax: ids, numbers, timestamps, constants of ours. Never text of a
 * caller: pass the array itself for that. (The driver quotes and escapes each element, which takes 4 µs of an accept.)
 */
export const bare = (values: readonly (string | number | boolean | null | undefined)[]) =>
  `{${values.map(value => (value === '' ? '""' : (value ?? 'null'))).join(',')}}`

/**
 * A list of byte strings in PostgreSQL's binary format, which the driver passes through: as text each would be twice as long and
 * slower to parse.
 */
export function bytes(values: readonly (Buffer | null | undefined)[]): Buffer {
  const list = Buffer.allocUnsafe(values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 20))
  // Array header: one dimension, may contain nulls, type bytea, the number of elements, lower bound 1.
  let at = [1, 1, pg.types.builtins.BYTEA, values.length, 1].reduce((at, word) => list.writeInt32BE(word, at), 0)
  for (const value of values) {
    at = list.writeInt32BE(value?.length ?? -1, at)
    if (value) at += value.copy(list, at)
  }
  return list
}

type Query = { text: string; name: string; values: unknown[] }

/** A connection of the pool while one caller uses it. */
type Checkout = {
  client: pg.PoolClient
  run(statement: string | Query): Promise<pg.QueryResult>
  /** Ends a transaction. A connection that cannot be rolled back is closed. */
  rollBack(): Promise<void>
}

const ENDED = 'the transaction has ended'

export const tagFor =
  (run: (query: Query) => Promise<{ rows: unknown[] }>): Sql =>
  async <R extends object>(strings: TemplateStringsArray, ...values: unknown[]) =>
    (await run(compose(strings, values))).rows as R[]

/**
 * A cache of composed statements. A statement is identified by its template and the templates of its parts, which are the same
 * objects on every call. `parts`: by the position of a part among all values, the templates that occurred there.
 */
type Shape = { statement: { text: string; name: string } | null; parts: Map<number, WeakMap<object, Shape>> }
const shapes = new WeakMap<object, Shape>()

function compose(strings: readonly string[], values: readonly unknown[]): Query {
  const flat: unknown[] = []
  let place = 0
  let shape = shapeIn(shapes, strings)
  const follow = (values: readonly unknown[]) => {
    for (const value of values) {
      place++
      if (!isPart(value)) flat.push(value)
      else {
        const here = shape.parts.get(place) ?? new WeakMap<object, Shape>()
        shape.parts.set(place, here)
        shape = shapeIn(here, value.strings)
        follow(value.values)
      }
    }
  }
  follow(values)
  shape.statement ??= written(strings, values)
  return { ...shape.statement, values: flat }
}

function shapeIn(known: WeakMap<object, Shape>, strings: readonly string[]): Shape {
  const found = known.get(strings)
  if (found) return found
  const shape: Shape = { statement: null, parts: new Map() }
  known.set(strings, shape)
  return shape
}

function written(strings: readonly string[], values: readonly unknown[]): { text: string; name: string } {
  let used = 0
  const write = (strings: readonly string[], values: readonly unknown[]): string =>
    values.reduce(
      (text: string, value, at) =>
        `${text}${isPart(value) ? write(value.strings, value.values) : `$${++used}`}${strings[at + 1] ?? ''}`,
      strings[0] ?? '',
    )
  const text = write(strings, values)
  return { text, name: `h_${createHash('sha256').update(text).digest('hex').slice(0, 24)}` }
}

export function clientSettings(connection: Connection, { name, statementSeconds }: PoolOptions): pg.ClientConfig {
  // The port is given explicitly, or the driver would read it from the environment.
  const where =
    'url' in connection
      ? { connectionString: connection.url }
      : { host: connection.host, user: connection.user, database: connection.database, port: 5432 }
  const limit = statementSeconds
    ? // The server's timeout comes first, so that a statement that we report as failed is not committed a moment later.
      { statement_timeout: statementSeconds * 1000, query_timeout: statementSeconds * 1000 + 1_000 }
    : {}
  return {
    ...where,
    ...limit,
    application_name: name,
    // TCP keepalive detects a dead connection in half a minute instead of the default two hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
    options: SESSION,
  }
}

// All our statements use indexes. Plans are cached, and a plan made while a day's partition was still empty would use a sequential
// scan for ever; so sequential scans, hash joins and merge joins are disabled. Planning a statement over many partitions costs more
// than running it, so generic plans are forced. JIT costs more than it saves. The last four settings make the server release the locks
// of a connection whose client is gone.
const SESSION = [
  'TimeZone=UTC',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
  'plan_cache_mode=force_generic_plan',
  'idle_in_transaction_session_timeout=30s',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=4',
]
  .map(setting => `-c ${setting}`)
  .join(' ')

// Timestamps stay text: a JavaScript Date would lose the microseconds.
const asText = (value: string) => value
const asNumber = (value: string) => Number(value)
const parsers = new Map<number, (value: string) => unknown>([
  [pg.types.builtins.TIMESTAMPTZ, asText],
  [pg.types.builtins.TIMESTAMP, asText],
  [pg.types.builtins.DATE, asText],
  [pg.types.builtins.INT8, asNumber],
])
const getTypeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text') =>
  (format !== undefined && (format as string) !== 'text' ? undefined : parsers.get(oid)) ??
  pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser

// Errors of a connection that was lost when the commit may have been sent but its result had not arrived. After any other error it is
// certain that nothing was committed.
const lostCommits = new WeakSet<object>()
export const mayHaveCommitted = (error: unknown) =>
  typeof error === 'object' && error !== null && lostCommits.has(error)

async function committing<T>(client: pg.ClientBase, statement: Promise<T>): Promise<T> {
  try {
    const result = await statement
    if (unconfirmed.delete(client)) throw new Error('the commit is perhaps not on the standby: its wait was cancelled')
    return result
  } catch (error) {
    notice(error)
    if (isConnectionError(error)) lostCommits.add(error as object)
    throw error
  }
}

// A commit whose wait for the synchronous standby is cancelled (pg_cancel_backend) succeeds with a warning. Its text depends on the
// language of the server; the function of the server that it comes from does not.
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN'
/** Connections that have received this warning. */
const unconfirmed = new WeakSet<pg.ClientBase>()

// Errors of a lost, refused or read-only connection, or of none.
const outages = new WeakSet<object>()
/** An outage after which it is certain that nothing was committed: the statement or transaction can be repeated. */
export const canRepeat = (error: unknown) =>
  typeof error === 'object' && error !== null && outages.has(error) && !lostCommits.has(error)

function notice(error: unknown) {
  if (isConnectionError(error) || isReadOnly(error)) outages.add(error as object)
}

export const isDatabaseError = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && !SHUTDOWN.has(error.code ?? '')
const SHUTDOWN = new Set(['57P01', '57P02', '57P03'])
/** The message of the driver after query_timeout. */
const isUnanswered = (error: unknown) => error instanceof Error && error.message === 'Query read timeout'
/** The message of the pool when all its connections were in use for too long. */
const isQueueTimeout = (error: unknown) =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect'
/** The server has become a standby, or was made read-only. */
const isReadOnly = (error: unknown) => error instanceof pg.DatabaseError && error.code === '25006'
const isConnectionError = (error: unknown) => !(error instanceof pg.DatabaseError) || SHUTDOWN.has(error.code ?? '')

const isDeadlock = (error: unknown) => error instanceof pg.DatabaseError && error.code === '40P01'
/** A statement waited longer for a lock than its lock_timeout. */
export const isLockTimeout = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03'
export const isUniqueViolation = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23505'
