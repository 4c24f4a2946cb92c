// The work of the sending lanes: load messages, hand them to a provider, and record the outcomes.
import type { Compiled } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import { sealsEqualOnce } from '../core/seal.ts'
import { delaySeconds } from '../engine/backoff.ts'
import type { Entry, Handled, Work } from '../engine/work.ts'
import type { EventHints } from '../events/hints.ts'
import { cleanLine, cleanRef } from '../providers/clean.ts'
import type { Outcome } from '../providers/port.ts'
import { replyClass } from '../providers/reply-class.ts'
import { SUSPECT_TAKES, type Ticket } from '../queue/port.ts'
import type { Again } from '../queue/tickets.ts'
import type { Services } from '../services/load.ts'
import { isActive } from '../services/service.ts'
import type { LoadedService } from '../services/sql.ts'
import { crashPoint } from '../telemetry/crash.ts'
import type { Note } from '../telemetry/log.ts'
import type { Templates } from '../templates/cache.ts'
import { HAND_OVER, type HandedItem, type HandOverApp } from './hand-over.ts'
import { type DueMessage, inMemory } from './in-memory.ts'
import { due, handingOver, markUncertain, type Result, record } from './sql/record.ts'
import { NOT_ACTIVE } from './status.ts'

export type DeliverApp = HandOverApp & {
  clock: Clock
  ids: { next(): Id }
  services: Services
  templates: Templates
  owner: Id
  hints: Pick<EventHints, 'announce'>
  note: Note
  random(): number
}

/** A message in memory. Hundreds of them wait for their turn, so it has only the columns that sending needs. */
type MessageToSend = HandedItem & {
  service: LoadedService | null
  waits: number
  /** A process that crashed had begun to hand it over. */
  mayBeSent: boolean
} & Pick<DueMessage, 'is_international'>
/** `reply`: what the provider said, to be sealed when it is recorded. */
export type DeliveryResult = Omit<Result, 'id' | 'ticket' | 'takes' | 'diagnosis'> & { reply: string | null }

/** Retries end four hours after the first attempt: a message may be old when it is tried at last. */
const RETRY_PERIOD_MS = 4 * 3_600_000
const MAX_DELAY_SECONDS = { high: 25, other: 300 } as const
/** How often a message waits in its slot for a provider that is down, before it is deferred and frees the slot. */
const MAX_WAITS = 3

export function deliver(app: DeliverApp): Work<MessageToSend, DeliveryResult> {
  return {
    isHandedOver: true,
    async load(tickets) {
      const fresh = tickets.flatMap(ticket => inMemory(ticket) ?? [])
      const others = tickets.filter(ticket => !inMemory(ticket))
      const retaken = others.filter(ticket => ticket.takes > 1)
      if (retaken.length > 0)
        await markUncertain(
          app.sql,
          app.owner,
          retaken,
          retaken.flatMap(ticket => ticket.subjects),
        )
      const ids = others.flatMap(ticket => ticket.subjects)
      const read = ids.length > 0 ? await due(app.sql, ids) : []
      const suspects = others.filter(isSuspect).flatMap(ticket => ticket.subjects)
      const begun = suspects.length > 0 ? await handingOver(app.sql, suspects) : []
      const items = await itemsOf(app, [...fresh, ...read.map(row => ({ ...row, personal: null }))])
      for (const { id } of begun) {
        const item = items.get(id)
        if (item) item.mayBeSent = true
      }
      return items
    },

    async handle(item, ticket, recall) {
      const { service } = item
      if (!isActive(service)) return refused(NOT_TRIED, NOT_ACTIVE)
      crashPoint('before-send', () => [item.id])
      const turn = { urgent: ticket.lane.endsWith('-high'), isSuspect: isSuspect(ticket), recall }
      const answer = await HAND_OVER[item.channel](app, item, service, turn)
      if (answer.kind === 'recalled') return answer
      if (answer.kind === 'wait' && ++item.waits < MAX_WAITS) return { kind: 'wait', until: answer.until }
      const outcome: Outcome = answer.kind === 'wait' ? { kind: 'deferred', detail: answer.detail } : answer.outcome
      const tried =
        answer.kind === 'wait'
          ? NOT_TRIED
          : { provider: answer.provider?.name ?? null, took: answer.took, parts: answer.parts ?? null }
      switch (outcome.kind) {
        case 'accepted':
          crashPoint('after-provider-ok', () => [item.id])
          return handedOver(item, tried, answer.kind === 'answered' && answer.provider?.reports === true, outcome.ref)
        case 'rejected':
          return outcome.permanent === undefined
            ? refused(tried, outcome.detail)
            : bounced(tried, outcome.permanent, outcome.detail)
        case 'deferred':
          return later(app, ticket, tried, outcome)
      }
    },

    setAside: item => (item.mayBeSent ? MAYBE_SENT : SET_ASIDE),
    setAsideUnseen: () => SET_ASIDE,
    unrecordable: written => ({ ...written, ref: null, response: null, detail: null, reply: null }),
  }
}

/** Loads each service and template once: hundreds of messages share a few of them. */
async function itemsOf(app: DeliverApp, rows: readonly DueMessage[]): Promise<Map<Id, MessageToSend>> {
  const services = new Map<Id, LoadedService | null>()
  const versions = new Map<string, Compiled>()
  const items = new Map<Id, MessageToSend>()
  for (const row of rows) {
    const { id, channel, sender_id, is_international, sealed, personal } = row
    const { service_id, template_id, template_version } = row
    if (!services.has(service_id)) services.set(service_id, await app.services.get(service_id))
    const name = `${template_id}/${template_version}`
    const version = versions.get(name) ?? (await app.templates.version(template_id, template_version))
    versions.set(name, version)
    const service = services.get(service_id) ?? null
    // Fields by name, here and below: copying them by spread is a tenth of the cost of a delivery.
    items.set(id, {
      id,
      channel,
      sender_id,
      is_international,
      sealed,
      personal,
      service,
      version,
      waits: 0,
      mayBeSent: false,
    })
  }
  return items
}

const isSuspect = ({ takes }: Ticket) => takes > SUSPECT_TAKES

const NOTHING: DeliveryResult = {
  ...{ status: null, moves: [], provider: null, ref: null, uncertain: false },
  ...{ response: null, detail: null, reply: null, took: null, parts: null, delay: null },
}
/** The provider that was tried, the milliseconds that it took, and the parts of a text message. */
type Tried = Pick<DeliveryResult, 'provider' | 'took' | 'parts'>
const NOT_TRIED: Tried = { provider: null, took: null, parts: null }
/** It may have been sent: it waits for a receipt like any sent message (contract 6.3). */
const MAYBE_SENT: DeliveryResult = { ...NOTHING, status: 'sending', moves: ['sending'], uncertain: true }
const SET_ASIDE: DeliveryResult = {
  ...NOTHING,
  status: 'technical-failure',
  moves: ['technical-failure'],
  response: 'set aside after repeated faults',
}

function handedOver(item: MessageToSend, tried: Tried, reports: boolean, ref: string): Handled<DeliveryResult> {
  if (item.is_international) return accepted(tried, 'sent', SENT, null)
  // A provider that sends no receipts: its acceptance counts as delivery.
  return reports
    ? accepted(tried, 'sending', SENDING, cleanRef(ref) || item.id)
    : accepted(tried, 'delivered', DELIVERED, null)
}

const SENT = ['sent']
const SENDING = ['sending']
const DELIVERED = ['sending', 'delivered']

const accepted = (
  { provider, took, parts }: Tried,
  status: DeliveryResult['status'],
  moves: readonly string[],
  ref: string | null,
): Handled<DeliveryResult> => ({
  kind: 'done',
  result: {
    status,
    moves,
    provider,
    ref,
    uncertain: false,
    response: null,
    detail: null,
    reply: null,
    took,
    parts,
    delay: null,
  },
})

const done = (written: Partial<DeliveryResult>): Handled<DeliveryResult> => ({
  kind: 'done',
  result: { ...NOTHING, ...written },
})

const refused = (tried: Tried, response: string) =>
  done({ ...tried, status: 'technical-failure', moves: ['technical-failure'], response: cleanLine(response) })

/** The provider rejects the recipient or the content: an immediate bounce. Its reply is stored sealed, for operators only. */
const bounced = (tried: Tried, detail: string, reply: string) =>
  done({
    ...tried,
    status: 'permanent-failure',
    moves: ['sending', 'permanent-failure'],
    detail,
    reply: cleanLine(reply),
  })

function later(
  app: DeliverApp,
  ticket: Ticket,
  tried: Tried,
  outcome: Extract<Outcome, { kind: 'deferred' }>,
): Handled<DeliveryResult> {
  const uncertain = outcome.uncertain === true
  const reply = { detail: replyClass(outcome.detail), reply: cleanLine(outcome.detail) }
  const { tried_at = null } = ticket
  if (tried_at !== null && app.clock.now() - Date.parse(tried_at) > RETRY_PERIOD_MS) {
    // It may have been sent, so a receipt may still arrive.
    if (uncertain) return done({ ...tried, ...reply, status: 'sending', moves: ['sending'], uncertain })
    return refused(tried, outcome.detail)
  }
  const cap = ticket.lane.endsWith('-high') ? MAX_DELAY_SECONDS.high : MAX_DELAY_SECONDS.other
  const delay = delaySeconds(ticket.attempts + 1, cap, app.random(), outcome.retryAfterSeconds)
  return { kind: 'again', result: { ...NOTHING, ...tried, ...reply, uncertain, delay }, delaySeconds: delay }
}

/** Records outcomes, settles tickets, and inserts tickets for retries. */
export const writeResults =
  (app: Pick<DeliverApp, 'sql' | 'owner' | 'ids' | 'seal' | 'hints' | 'note'>) =>
  async (entries: readonly Entry<DeliveryResult>[]): Promise<void> => {
    const leased = new Map(entries.map(({ ticket }) => [ticket.id, { id: ticket.id, takes: ticket.takes }]))
    const sealed = sealsEqualOnce(app.seal, 'provider reply')
    const results = entries.flatMap(({ id, ticket, result }) =>
      id && result ? [resultOf(result, id, ticket, sealed)] : [],
    )
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(entry => retriesOf(app, entry))
    crashPoint('before-record', () => results.map(result => result.id))
    await record(app.sql, app.owner, [...leased.values()], results, settled, again)
    crashPoint('after-record', () => results.map(result => result.id))
    app.hints.announce(new Set(entries.map(({ ticket }) => ticket.service_id)))
    for (const { id, ticket, result } of entries) if (id && result) app.note(noteOf(id, ticket, result), ATTEMPT)
  }

const ATTEMPT = 'attempt recorded'

/** The reply is left out: it may quote a recipient. Of a deferred message, `class` is what may be said about it. */
function noteOf(id: Id, ticket: Ticket, { status, provider, took, uncertain, detail, delay }: DeliveryResult) {
  const note = {
    message: id,
    service: ticket.service_id,
    lane: ticket.lane,
    attempt: ticket.attempts + 1,
    provider,
    provider_ms: took,
    status: status ?? 'created',
  }
  if (delay === null && !uncertain) return note
  return {
    ...note,
    ...(delay !== null && { class: detail, retry_seconds: Math.round(delay) }),
    ...(uncertain && { uncertain }),
  }
}

const resultOf = (one: DeliveryResult, id: Id, ticket: Ticket, sealed: (text: string) => Buffer): Result => ({
  id,
  ticket: ticket.id,
  takes: ticket.takes,
  status: one.status,
  moves: one.moves,
  provider: one.provider,
  ref: one.ref,
  response: one.response,
  detail: one.detail,
  diagnosis: one.reply === null ? null : sealed(one.reply),
  uncertain: one.uncertain,
  took: one.took,
  parts: one.parts,
  delay: one.delay,
})

/** Subjects of one ticket with a similar delay share the ticket of their retry. */
export function retriesOf(
  app: { ids: { next(): Id } },
  { ticket, settle }: Pick<Entry<unknown>, 'ticket' | 'settle'>,
): Again[] {
  const groups = new Map<string, Id>()
  return (settle ?? []).map(later => {
    const wait = later.delaySeconds === 0 ? -1 : Math.floor(Math.log2(later.delaySeconds))
    const group = `${wait} ${later.attempts} ${later.faults ?? 0} ${later.takes}`
    const next = groups.get(group) ?? app.ids.next()
    groups.set(group, next)
    return { ...later, from: ticket.id, ticket: next, lane: ticket.lane, service_id: ticket.service_id }
  })
}
