// Text messages by SMPP 3.4 (SMPP Developers Forum, version 3.4 issue 1.2): several binds as transceiver, each with a window. Long
// messages are sent in parts. Receipts are acknowledged only when they are stored.
import { createCapacity } from '../../runtime/admission.ts'
import type { Recall } from '../../runtime/recall.ts'
import { type Outcome, type ProviderWorld, RECALLED, type TextMessage, type TextProvider } from '../port.ts'
import type { Reply } from './connection.ts'
import { createReceiver } from './deliver.ts'
import { type ReceiptOptions, refOf } from './receipts.ts'
import { createSession, type Session, type SessionOptions } from './session.ts'
import { isThrottle, ok, refusal } from './statuses.ts'
import { type Fields, requestsOf, type SubmitOptions } from './submit.ts'
import { createThrottle } from './throttle.ts'

export type SmppSettings = SessionOptions &
  ReceiptOptions &
  SubmitOptions & {
    binds: number
    /** Parts per second over all binds; null: as fast as the window allows. */
    perSecond: number | null
  }

const stopMillis = 5_000
/** A later part of a message that is throttled is retried here, because the first part has been sent already. */
const partTries = 4

export function createSmpp(settings: SmppSettings, world: ProviderWorld, name = 'smpp'): TextProvider {
  const receiver = createReceiver(name, settings, world)
  const binds = Array.from({ length: settings.binds }, () => ({
    busy: 0,
    session: createSession(settings, {
      onDeliver: receiver.onDeliver,
      onMalformed(connection, pdu) {
        world.warn({ provider: name }, 'A deliver_sm with wrong lengths was refused')
        connection.respond(pdu, { command_status: 0x01 })
      },
      onBroken: (why, reason) =>
        world.warn({ provider: name, why, ...(reason !== undefined && { reason }) }, 'The SMPP connection broke'),
    }),
  }))
  const lastError = () => binds[0]?.session.lastError() ?? { why: 'no bind' }
  const capacity = capacityOf(settings)
  const throttle = createThrottle()
  let sending = 0
  let stopping: Promise<void> | null = null

  async function send(message: TextMessage, urgent = false, recall?: Recall): Promise<Outcome> {
    if (stopping !== null) return { kind: 'deferred', detail: 'The provider is being stopped', down: true }
    const requests = requestsOf(message, settings)
    if ('kind' in requests) return requests
    const throttledSeconds = throttle.remainingSeconds()
    if (throttledSeconds > 0) return { kind: 'deferred', detail: 'Throttled', retryAfterSeconds: throttledSeconds }
    const backlogMs = capacity.rate.backlogMs(urgent)
    if (backlogMs > settings.patienceMillis)
      return { kind: 'deferred', detail: 'Rate used up', retryAfterSeconds: Math.ceil(backlogMs / 1000) }
    sending += 1
    try {
      if (!binds.some(({ session }) => session.isBound())) await firstBound(binds)
      if (recall?.isRecalled()) return RECALLED
      // Chosen and counted without an await in between: otherwise concurrent messages would choose the same bind.
      const bind = leastBusy(binds)
      if (!bind) {
        const { why, ...reason } = lastError()
        return { kind: 'deferred', detail: `Not bound: ${why}`, down: true, ...reason }
      }
      bind.busy += 1
      try {
        return await submitAll(bind.session, requests, message, { urgent, recall })
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

  // One part after the other: a rejected part ends the message before more of it is sent.
  async function submitAll(
    session: Session,
    requests: readonly Fields[],
    message: TextMessage,
    { urgent, recall }: { urgent: boolean; recall: Recall | undefined },
  ): Promise<Outcome> {
    // A long message that is sent as one request counts as its parts.
    const cost = requests.length === 1 ? message.parts : 1
    let ref = ''
    for (const [index, fields] of requests.entries()) {
      const isLater = index > 0
      // What has been sent in part is finished.
      const reply = await submitOne(session, fields, { cost, urgent, isLater, recall: isLater ? undefined : recall })
      if (reply === null) return RECALLED
      if (reply.kind === 'silence') return { kind: 'deferred', detail: 'No answer in time', uncertain: true }
      if (reply.kind === 'broken') {
        const uncertain = reply.written || isLater
        return { kind: 'deferred', detail: `Line broken: ${reply.why}`, ...(uncertain && { uncertain }), down: true }
      }
      const { command_status: status, message_id: messageId } = reply.pdu
      if (status !== ok) return throttle.outcomeOf(refusal(status), status)
      throttle.onAccepted()
      ref = typeof messageId === 'string' ? refOf(messageId.replace(/[^\x20-\x7e]/g, ''), settings.ids, 'answer') : ''
    }
    // An answer without an id is still an acceptance: a retry would send the message twice.
    return { kind: 'accepted', ref: ref === '' ? message.id : ref }
  }

  /** Null: it was recalled before it was written. */
  async function submitOne(session: Session, fields: Fields, { cost, urgent, isLater, recall }: Part) {
    for (let tries = 1; ; tries++) {
      // Later parts go first, so that no message stays half sent.
      if ((await capacity.rate.turn(cost, urgent || isLater, recall)) === false) return null
      const reply: Reply = await session.submit(fields, urgent, recall)
      if (reply.kind === 'broken' && !reply.written && recall?.isRecalled()) return null
      if (reply.kind !== 'answer' || !isThrottle(reply.pdu.command_status)) return reply
      throttle.onThrottled()
      if (!isLater || tries >= partTries || throttle.remainingMs() > settings.patienceMillis) return reply
      await sleep(throttle.remainingMs())
    }
  }

  async function stop(): Promise<void> {
    const until = performance.now() + stopMillis
    while ((sending > 0 || receiver.unstored() > 0) && performance.now() < until) await sleep(5)
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
      for (const { session } of binds) session.bindNow()
      await firstBound(binds)
      if (await leastBusy(binds)?.session.isAlive()) return { ok: true }
      const { why, ...reason } = lastError()
      return { ok: false, detail: why, ...reason }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

type Part = { cost: number; urgent: boolean; isLater: boolean; recall: Recall | undefined }

/** Not more messages inside than the rate lets through within `patienceMillis`: the others would be deferred. */
function capacityOf({ binds, window, perSecond, patienceMillis }: SmppSettings) {
  const places = binds * window
  const inTime = perSecond === null ? places : Math.ceil((perSecond * patienceMillis) / 1000)
  return createCapacity({ perSecond, messages: Math.min(places, inTime), pacedBy: 'part' })
}

type Bind = { session: Session; busy: number }

function leastBusy(binds: readonly Bind[]): Bind | null {
  let best: Bind | null = null
  for (const bind of binds) if (bind.session.isBound() && (best === null || bind.busy < best.busy)) best = bind
  return best
}

/** Resolves when the first bind succeeds, or when every attempt in progress has failed. */
function firstBound(binds: readonly Bind[]): Promise<void> {
  return new Promise(resolve => {
    let open = binds.length
    for (const { session } of binds)
      void session.whenBound().then(isBound => {
        open -= 1
        if (isBound || open === 0) resolve()
      })
  })
}

const sleep = (millis: number) => new Promise<void>(resolve => setTimeout(resolve, millis))
