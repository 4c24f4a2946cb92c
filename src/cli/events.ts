import type { Timestamp } from '../core/clock.ts'
import { type Clock, zulu } from '../core/clock.ts'
import { readTime } from '../core/read-time.ts'
import type { Sql } from '../db/connect.ts'
import { BEGINNING, EVENT_TYPES, type EventType, type Position, type Scope } from '../events/event.ts'
import { newGroups } from '../events/sql.ts'
import { readCursor, writeCursor } from '../feed/cursor.ts'
import { presentEvent } from '../feed/present.ts'
import { comparePositions, endOfLog, type LoggedEvent, oldestOf, positionAt, readEvents } from '../feed/read.ts'
import { KEY_TYPES } from '../keys/key.ts'
import { STOP_SIGNALS } from '../runtime/process.ts'
import { pause } from '../runtime/within.ts'
import { find } from '../services/find.ts'
import { list, type ShownService } from '../services/sql.ts'
import { openStore } from '../store.ts'
import { type Command, type CommandInput, type Io, KEY_TYPE_CHOICES, SERVICE, UsageError } from './command.ts'
import { typeFrom } from './key.ts'
import { firstLine } from './print.ts'

const PAGE = 500
const LOOK_MS = 250

export const commands: readonly Command[] = [
  {
    noun: 'events',
    args: [{ ...SERVICE, optional: true }],
    options: [
      { name: 'follow', sentence: 'Go on until interrupted, and print events as they happen.' },
      {
        name: 'after',
        value: 'PLACE',
        sentence:
          'Begin after a cursor, at a time (2026-01-31T12:00:00Z), or now. Default: all that is stored; now with --follow.',
      },
      {
        name: 'types',
        value: 'TYPES',
        many: true,
        sentence: 'Only these types, separated by commas: notification.delivered,job.finished.',
      },
      { name: 'key-type', value: 'TYPE', ...KEY_TYPE_CHOICES, sentence: 'Only what was sent with keys of this type.' },
    ],
    sentence: 'Print what happened to messages and jobs, in order; of all services, or of one.',
    more: 'With --json every line is a JSON document, with a cursor to go on after it. Recipients and contents are not shown.',
    examples: [
      'herald events "Parking permits" --follow',
      'herald events --types notification.permanent-failure --after 2026-01-31 --json',
    ],
    async run(io, input) {
      const types = typesIn(input)
      const signal = interrupted()
      const store = await openStore(io.config())
      try {
        const named = input.maybe('SERVICE')
        const services = named === undefined ? await list(store.db.sql) : [await find(store, named)]
        const typed = input.maybe('key-type')
        const keyType = typed === undefined ? undefined : typeFrom(typed)
        const ways = services.flatMap(service =>
          KEY_TYPES.filter(type => keyType === undefined || type === keyType).map(key_type => ({
            service,
            scope: { service_id: service.id, key_type },
          })),
        )
        const sources = await Promise.all(
          ways.map(async way => ({ ...way, position: await placeOf(store.db.sql, way.scope, input) })),
        )
        const app = { sql: store.db.sql, clock: store.clock, types, isOpen: () => !signal.aborted && isOpen() }
        await printAll(io, app, sources)
        while (input.has('follow') && app.isOpen()) {
          await pause(LOOK_MS, signal)
          await printNew(io, app, sources)
        }
      } finally {
        await store.stop()
      }
      return undefined
    },
  },
]

type App = { sql: Sql; clock: Clock; types: readonly EventType[] | null; isOpen(): boolean }
type Source = { service: ShownService; scope: Scope; position: Position }

/** Where stdout is a pipe whose reader has ended, there is nobody to print for. */
const isOpen = () => process.stdout.writable

function interrupted(): AbortSignal {
  const asked = new AbortController()
  for (const name of STOP_SIGNALS) process.once(name, () => asked.abort())
  return asked.signal
}

function typesIn(input: CommandInput): readonly EventType[] | null {
  const named = input
    .list('types')
    .flatMap(list => list.split(','))
    .filter(type => type !== '')
  const unknown = named.find(type => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown !== undefined) throw new UsageError(`There is no type "${unknown}". Types: ${EVENT_TYPES.join(', ')}.`)
  return named.length === 0 ? null : (named as EventType[])
}

async function placeOf(sql: Sql, scope: Scope, input: CommandInput): Promise<Position> {
  const after = input.maybe('after') ?? (input.has('follow') ? 'now' : undefined)
  if (after === undefined) return BEGINNING
  if (after === 'now') return endOfLog(sql, scope)
  const micros = readTime(after)
  if (micros !== null) return positionAt(sql, scope, micros)
  const position = readCursor(after)
  if (!position)
    throw new UsageError(`--after takes a cursor, a time such as 2026-01-31T12:00:00Z, or now, not "${after}".`)
  return position
}

/** Prints to the end of the log: of several sources always the event that is first in the log. */
async function printAll(io: Io, app: App, sources: readonly Source[]): Promise<void> {
  const heads: { source: Source; events: AsyncGenerator<LoggedEvent>; event: LoggedEvent }[] = []
  for (const source of sources) {
    const events = walk(app, source)
    const { value } = await events.next()
    if (value) heads.push({ source, events, event: value })
  }
  while (heads.length > 0 && app.isOpen()) {
    const first = heads.reduce((a, b) => (comparePositions(b.event.position, a.event.position) < 0 ? b : a))
    io.print(lineOf(first.source, first.event))
    const { value } = await first.events.next()
    if (value) first.event = value
    else heads.splice(heads.indexOf(first), 1)
  }
}

/** One statement tells which sources have something new. */
async function printNew(io: Io, app: App, sources: readonly Source[]): Promise<void> {
  const from = sources.map(({ scope, position }) => ({ ...scope, stamp: position.stamp, seq: position.seq }))
  const places = new Set((await newGroups(app.sql, from)).map(({ place }) => place))
  await printAll(
    io,
    app,
    sources.filter((_, at) => places.has(at)),
  )
}

/** The events of a source, page by page; its position moves with them. */
async function* walk({ sql, clock, types }: App, source: Source): AsyncGenerator<LoggedEvent, undefined> {
  for (;;) {
    const oldest = oldestOf(clock, source.service)
    const page = await readEvents(sql, source.scope, source.position, { types, most: PAGE, oldest })
    source.position = page.position
    yield* page.events
    if (!page.hasMore) return
  }
}

const HAPPENED: Readonly<Record<EventType, string>> = {
  'notification.created': 'has passed the scan of its files',
  'notification.sending': 'was handed over',
  'notification.sent': 'was sent',
  'notification.pending': 'is pending at the provider',
  'notification.delivered': 'was delivered',
  'notification.permanent-failure': 'failed permanently',
  'notification.temporary-failure': 'failed for now',
  'notification.technical-failure': 'failed for a technical reason',
  'notification.virus-scan-failed': 'has a virus in its files',
  'notification.cancelled': 'was cancelled',
  'notification.deferred': 'was deferred',
  'notification.uncertain': 'may have been sent',
  'notification.receipt': 'got a receipt that changed nothing',
  'job.accepted': 'was accepted',
  'job.started': 'was started',
  'job.finished': 'has become messages',
  'job.cancelled': 'was cancelled',
  'job.failed': 'could not become messages',
}

const NOUNS = { email: 'e-mail', sms: 'text message' }

function lineOf({ service, scope }: Source, event: LoggedEvent) {
  const details = [
    event.detail,
    event.provider && `provider ${event.provider}`,
    event.nextAt && `next attempt ${second(event.nextAt)}`,
    event.message?.reference && `reference ${firstLine(event.message.reference)}`,
    event.job && `${event.job.notification_count} rows`,
  ].filter(Boolean)
  return {
    text: [
      second(event.at),
      firstLine(service.name),
      `${event.channel ? NOUNS[event.channel] : 'job'} ${event.subject} ${HAPPENED[event.type]}${details.length > 0 ? ` (${details.join(', ')})` : ''}`,
    ].join('  '),
    data: { ...presentEvent(event), ...scope, cursor: writeCursor(event.position) },
  }
}

const second = (t: Timestamp) => `${zulu(t).slice(0, 19).replace('T', ' ')} UTC`
