// One bind as transceiver that is kept alive: binds, sends enquire_link as a heartbeat, and binds again with a backoff when the
// connection breaks. At most `window` requests are unanswered.
import type { Pdu } from 'smpp'
import { createWindow } from '../../runtime/admission.ts'
import { type Periodic, startPeriodic } from '../../runtime/periodic.ts'
import type { Recall } from '../../runtime/recall.ts'
import { type Connection, type ConnectionOptions, createConnection, type Reply } from './connection.ts'
import { invalidCommand, nameOf, ok, refusedBind } from './statuses.ts'

export type SessionOptions = ConnectionOptions & {
  systemId: string
  password: string
  systemType: string
  window: number
  /** How long a message may wait for its turn or a place in the window before it is deferred. */
  patienceMillis: number
  enquireMillis: number
  /** First and longest pause before the next attempt to bind. */
  retryMillis: readonly [number, number]
}

export type Session = {
  /** Waits for a place in the window first. What is recalled meanwhile is answered as broken and not written. */
  submit(fields: Record<string, unknown>, urgent: boolean, recall?: Recall): Promise<Reply>
  isBound(): boolean
  /** True once bound; false when the attempt in progress fails, or at once if there is none. */
  whenBound(): Promise<boolean>
  /** Ends a pause between two attempts. */
  bindNow(): void
  isAlive(): Promise<boolean>
  lastError(): { why: string; reason?: string }
  stop(): Promise<void>
}

type Events = {
  onDeliver(connection: Connection, pdu: Pdu): void
  onMalformed(connection: Connection, pdu: Pdu): void
  onBroken(why: string, reason?: string): void
}

/** The longest wait for the answer to a bind or an enquire_link. */
const aliveMillis = 10_000
/** After a bind that lasted this long, the backoff starts again with its first pause. */
const steadyMillis = 10_000
const unbindMillis = 1_000

export function createSession(options: SessionOptions, events: Events): Session {
  const window = createWindow(options.window)
  let connection: Connection | null = null
  let state: 'binding' | 'bound' | 'pausing' | 'stopped' = 'binding'
  let lastError: { why: string; reason?: string } = { why: 'not bound yet' }
  let failures = 0
  let boundAt = 0
  let retry: NodeJS.Timeout | undefined
  let heartbeat: Periodic | undefined
  let waiting: ((isBound: boolean) => void)[] = []

  function enter(next: typeof state) {
    if (state === 'stopped') return
    state = next
    if (next === 'binding') return
    const waiters = waiting
    waiting = []
    for (const resolve of waiters) resolve(next === 'bound')
  }

  function start() {
    enter('binding')
    connection = createConnection(options, {
      onOpen: bind,
      onRequest,
      onMalformed: events.onMalformed,
      onClosed,
    })
  }

  async function bind(opened: Connection): Promise<void> {
    const { systemId, password, systemType } = options
    const fields = { system_id: systemId, password, system_type: systemType, interface_version: 0x34 }
    const reply = await opened.request('bind_transceiver', fields, Math.min(aliveMillis, options.replyMillis))
    if (reply.kind === 'broken') return
    if (reply.kind === 'silence') return opened.close('no answer to the bind', { code: 'timeout' })
    const status = reply.pdu.command_status
    if (status !== ok) return opened.close(`bind refused: ${nameOf(status)}`, refusedBind(status))
    boundAt = performance.now()
    heartbeat = startPeriodic(
      () => enquire(opened),
      options.enquireMillis,
      () => {},
    )
    enter('bound')
  }

  async function enquire(asked: Connection): Promise<boolean> {
    const reply = await asked.request('enquire_link', {}, Math.min(aliveMillis, options.replyMillis))
    if (reply.kind === 'silence') asked.close('no answer to enquire_link')
    return reply.kind === 'answer'
  }

  function onClosed(why: string, reason?: string) {
    void heartbeat?.stop()
    if (state === 'stopped') return
    if (state === 'bound' && performance.now() - boundAt > steadyMillis) failures = 0
    lastError = { why, ...(reason !== undefined && { reason }) }
    events.onBroken(why, reason)
    enter('pausing')
    const [first, longest] = options.retryMillis
    const pause = Math.min(longest, first * 2 ** Math.min(failures, 20))
    failures += 1
    // Half of the pause is random, so that several binds do not reconnect at the same moment.
    retry = setTimeout(start, pause / 2 + (Math.random() * pause) / 2)
  }

  function onRequest(from: Connection, pdu: Pdu) {
    switch (pdu.command) {
      case 'deliver_sm':
        return events.onDeliver(from, pdu)
      case 'enquire_link':
        return from.respond(pdu)
      case 'unbind':
        from.respond(pdu)
        return from.close('unbound by the other side')
      case 'alert_notification': // has no response
      case 'outbind':
        return
      default:
        return from.respond(pdu, { command_status: invalidCommand })
    }
  }

  start()

  return {
    async submit(fields, urgent, recall) {
      const place = window.enter(urgent, options.patienceMillis, recall)
      if (place !== undefined && !(await place))
        return { kind: 'broken', written: false, why: 'no answer to what was sent before' }
      try {
        return (
          (await connection?.request('submit_sm', fields)) ?? { kind: 'broken', written: false, why: lastError.why }
        )
      } finally {
        window.leave(urgent)
      }
    },
    isBound: () => state === 'bound',
    whenBound() {
      if (state !== 'binding') return Promise.resolve(state === 'bound')
      return new Promise(resolve => waiting.push(resolve))
    },
    bindNow() {
      if (state !== 'pausing') return
      clearTimeout(retry)
      start()
    },
    isAlive: async () => state === 'bound' && connection !== null && (await enquire(connection)),
    lastError: () => lastError,
    async stop() {
      if (state === 'stopped') return
      const wasBound = state === 'bound'
      clearTimeout(retry)
      void heartbeat?.stop()
      enter('stopped')
      if (wasBound) await connection?.request('unbind', {}, unbindMillis)
      connection?.close('stopped')
    },
  }
}
