// Text messages by SMPP 3.4 (SMPP Developers Forum, version 3.4 issue 1.2): several binds as transceiver, each with a
// window; long messages in parts; receipts acknowledged only when they are on disk.
import type { Pdu } from 'smpp'
import { createCapacity } from '../../runtime/admission.ts'
import type { Outcome, ProviderWorld, Receipt, TextMessage, TextProvider } from '../port.ts'
import { destination, source } from './addresses.ts'
import type { Line, Reply } from './line.ts'
import { type ReceiptOptions, readReceipt, refOf } from './receipts.ts'
import { cut } from './segments.ts'
import { createSession, type Session, type SessionOptions } from './session.ts'
import { isThrottle, nameOf, ok, refusal, tryAgain } from './statuses.ts'

export type SmppSettings = SessionOptions &
  ReceiptOptions & {
    binds: number
    /** Parts per second over all binds; null: as fast as the window allows. */
    perSecond: number | null
    /** Long texts as parts with a header, or whole in message_payload. */
    long: 'parts' | 'payload'
    /** Whether the SMSC is asked for receipts. */
    reports: boolean
    /** Sender where the service has none. */
    sender: string | null
  }

/** A bound for receipts that are not on disk yet: more than this and the SMSC is asked to come again. */
const mostUnstored = 1000
const stopMillis = 5_000
/** A throttled part of a message whose first part is gone already is tried again here: half a message helps no one. */
const partTries = 4

export function createSmpp(settings: SmppSettings, world: ProviderWorld, name = 'smpp'): TextProvider {
  const inbox = createInbox(name, settings, world)
  const binds = Array.from({ length: settings.binds }, () => ({
    busy: 0,
    session: createSession(settings, {
      deliver: inbox.deliver,
      torn(line, pdu) {
        world.warn({ provider: name }, 'A deliver_sm with wrong lengths was refused')
        line.respond(pdu, { command_status: 0x01 })
      },
      trouble: why => world.warn({ provider: name, why }, 'The SMPP connection broke'),
    }),
  }))
  const trouble = () => binds[0]?.session.trouble() ?? 'no bind'
  const capacity = capacityOf(settings)
  const throttle = createThrottle()
  let sending = 0
  let stopping: Promise<void> | null = null

  async function send(message: TextMessage, urgent = false): Promise<Outcome> {
    if (stopping !== null) return { kind: 'deferred', detail: 'The provider is being stopped', down: true }
    const plan = compose(message, settings)
    if ('kind' in plan) return plan
    const held = throttle.heldSeconds()
    if (held > 0) return { kind: 'deferred', detail: 'Throttled', retryAfterSeconds: held }
    const backlogMs = capacity.rate.backlogMs(urgent)
    if (backlogMs > settings.patienceMillis)
      return { kind: 'deferred', detail: 'Rate used up', retryAfterSeconds: Math.ceil(backlogMs / 1000) }
    sending += 1
    try {
      if (!binds.some(({ session }) => session.isBound())) await firstBound(binds)
      // Chosen and counted in one go: those who ask in the same moment must not all choose the same.
      const bind = leastBusy(binds)
      if (!bind) return { kind: 'deferred', detail: `Not bound: ${trouble()}`, down: true }
      bind.busy += 1
      try {
        return await submitAll(bind.session, plan, message, urgent)
      } finally {
        bind.busy -= 1
      }
    } catch (error) {
      world.warn({ provider: name, error: error instanceof Error ? error.name : 'unknown' }, 'A message failed to send')
      return { kind: 'deferred', detail: 'The message could not be sent', uncertain: true }
    } finally {
      sending -= 1
    }
  }

  // One after the other: a refused part ends the message before more of it is sent.
  async function submitAll(
    session: Session,
    plan: readonly Fields[],
    message: TextMessage,
    urgent: boolean,
  ): Promise<Outcome> {
    // A long message that is sent whole counts as its parts.
    const cost = plan.length === 1 ? message.parts : 1
    let ref = ''
    for (const [index, fields] of plan.entries()) {
      const reply = await submitOne(session, fields, { cost, urgent, isLater: index > 0 })
      if (reply.kind === 'silence') return { kind: 'deferred', detail: 'No answer in time', uncertain: true }
      if (reply.kind === 'broken') {
        const uncertain = reply.written || index > 0
        return { kind: 'deferred', detail: `Line broken: ${reply.why}`, ...(uncertain && { uncertain }), down: true }
      }
      const { command_status: status, message_id: messageId } = reply.pdu
      if (status !== ok) return throttle.explain(refusal(status), status)
      throttle.passed()
      ref = typeof messageId === 'string' ? refOf(messageId.replace(/[^\x20-\x7e]/g, ''), settings.ids, 'answer') : ''
    }
    // Taken without a name: it is theirs all the same, and sending again would make two of it.
    return { kind: 'accepted', ref: ref === '' ? message.id : ref }
  }

  async function submitOne(session: Session, fields: Fields, { cost, urgent, isLater }: Part): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      // A message that was begun goes first: half a message helps no one.
      await capacity.rate.turn(cost, urgent || isLater)
      const reply = await session.submit(fields, urgent)
      if (reply.kind !== 'answer' || !isThrottle(reply.pdu.command_status)) return reply
      throttle.hit()
      if (!isLater || tries >= partTries || throttle.heldMillis() > settings.patienceMillis) return reply
      await sleep(throttle.heldMillis())
    }
  }

  async function stop(): Promise<void> {
    const until = performance.now() + stopMillis
    while ((sending > 0 || inbox.size() > 0) && performance.now() < until) await sleep(5)
    await Promise.all(binds.map(({ session }) => session.stop()))
  }

  return {
    name,
    channel: 'sms',
    reports: settings.reports,
    capacity,
    send,
    async probe() {
      if (stopping !== null) return { ok: false, detail: 'stopped' }
      for (const { session } of binds) session.hurry()
      await firstBound(binds)
      if (await leastBusy(binds)?.session.isAlive()) return { ok: true }
      return { ok: false, detail: trouble() }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

type Fields = Record<string, unknown>
type Part = { cost: number; urgent: boolean; isLater: boolean }

/** Every message inside may wait for a turn; more than the rate allows within `patienceMillis` would be handed back. */
function capacityOf({ binds, window, perSecond, patienceMillis }: SmppSettings) {
  const places = binds * window
  const inTime = perSecond === null ? places : Math.ceil((perSecond * patienceMillis) / 1000)
  return createCapacity({ perSecond, messages: Math.min(places, inTime), pacedBy: 'part' })
}

/** The submit_sm of each part, or why there can be none. */
function compose(message: TextMessage, settings: SmppSettings): Fields[] | Outcome {
  const from = source(message.from ?? settings.sender)
  if (!from) return { kind: 'rejected', detail: 'Sender cannot be used for text messages' }
  const to = destination(message.to)
  if (!to) return { kind: 'rejected', detail: 'Invalid destination address' }
  const segments = cut(message.text, message.encoding, referenceOf(message.id))
  if (!segments) return { kind: 'rejected', detail: 'Message is too long' }
  const common = {
    source_addr_ton: from.ton,
    source_addr_npi: from.npi,
    source_addr: from.address,
    dest_addr_ton: to.ton,
    dest_addr_npi: to.npi,
    destination_addr: to.address,
    data_coding: segments.dataCoding,
    registered_delivery: 0,
  }
  const asked = settings.reports ? 1 : 0
  const { parts, whole } = segments
  if (parts.length > 1 && settings.long === 'payload')
    return [{ ...common, registered_delivery: asked, message_payload: whole }]
  // Only the last part asks for a receipt, and its id is the reference: one piece of news per message, not one per part.
  return parts.map((part, index) => ({
    ...common,
    esm_class: parts.length > 1 ? 0x40 : 0,
    registered_delivery: index === parts.length - 1 ? asked : 0,
    short_message: part,
  }))
}

/** The same on every attempt (R6): parts of a second try complete those of the first on the phone. */
function referenceOf(id: string): number {
  return Number.parseInt(id.slice(-2), 16) & 0xff
}

type Bind = { session: Session; busy: number }

function leastBusy(binds: readonly Bind[]): Bind | null {
  let best: Bind | null = null
  for (const bind of binds) if (bind.session.isBound() && (best === null || bind.busy < best.busy)) best = bind
  return best
}

/** Resolves with the first that is bound, or when none is about to be. */
function firstBound(binds: readonly Bind[]): Promise<void> {
  return new Promise(resolve => {
    let open = binds.length
    for (const { session } of binds)
      void session.bound().then(isBound => {
        open -= 1
        if (isBound || open === 0) resolve()
      })
  })
}

/** Receipts that came in one breath are stored together; each is answered when it is on disk. */
function createInbox(name: string, options: ReceiptOptions, world: ProviderWorld) {
  let gathered: { line: Line; pdu: Pdu; receipt: Receipt }[] = []
  let unstored = 0

  async function store() {
    const batch = gathered
    gathered = []
    let status = ok
    try {
      await world.accept(
        name,
        batch.map(({ receipt }) => receipt),
      )
    } catch {
      status = tryAgain // the SMSC keeps it and comes back: nothing is lost
      world.warn({ provider: name, receipts: batch.length }, 'Receipts could not be stored and were not acknowledged')
    }
    unstored -= batch.length
    for (const { line, pdu } of batch) line.respond(pdu, { command_status: status })
  }

  return {
    deliver(line: Line, pdu: Pdu) {
      const receipt = readReceipt(pdu, options)
      if (!receipt) return line.respond(pdu)
      if (unstored >= mostUnstored) return line.respond(pdu, { command_status: tryAgain })
      unstored += 1
      if (gathered.push({ line, pdu, receipt }) === 1) setImmediate(() => void store())
    },
    size: () => unstored,
  }
}

/** While the SMSC wants less, messages are handed back at once instead of being thrown at it. */
function createThrottle() {
  let until = 0
  let millis = 0
  const heldMillis = () => Math.max(0, until - performance.now())
  const heldSeconds = () => Math.ceil(heldMillis() / 1000)
  return {
    heldMillis,
    heldSeconds,
    hit() {
      // The whole window may be refused at once; that is one hint, not ten.
      if (heldMillis() > 0) return
      millis = Math.min(30_000, Math.max(1_000, millis * 2))
      until = performance.now() + millis
    },
    passed() {
      if (heldMillis() === 0) millis = 0
    },
    explain(outcome: Exclude<Outcome, { kind: 'accepted' }>, status: number): Outcome {
      if (outcome.kind === 'rejected' || !isThrottle(status)) return outcome
      return { ...outcome, detail: nameOf(status), retryAfterSeconds: Math.max(1, heldSeconds()) }
    },
  }
}

const sleep = (millis: number) => new Promise<void>(resolve => setTimeout(resolve, millis))
