// One bind as transceiver that keeps itself alive: binds, asks now and then whether the other side is there, and binds
// again with growing pauses. At most `window` requests wait for an answer.
import type { Pdu } from 'smpp'
import { createWindow } from '../../runtime/admission.ts'
import { createLine, type Line, type LineOptions, type Reply } from './line.ts'
import { invalidCommand, nameOf, ok } from './statuses.ts'

export type SessionOptions = LineOptions & {
  systemId: string
  password: string
  systemType: string
  window: number
  /** How long a message may wait for its turn before it is handed back: whoever sends holds a lease. */
  patienceMillis: number
  enquireMillis: number
  /** First and longest pause before another try. */
  retryMillis: readonly [number, number]
}

export type Session = {
  /** Waits for a place in the window first. */
  submit(fields: Record<string, unknown>, urgent: boolean): Promise<Reply>
  isBound(): boolean
  /** True once bound; false as soon as a try fails, or at once between two tries. */
  bound(): Promise<boolean>
  /** Tries now rather than after the pause. */
  hurry(): void
  isAlive(): Promise<boolean>
  trouble(): string
  stop(): Promise<void>
}

type Hear = { deliver(line: Line, pdu: Pdu): void; torn(line: Line, pdu: Pdu): void; trouble(why: string): void }

/** An answer to enquire_link is worth waiting for this long; a bind too. */
const aliveMillis = 10_000
/** A bind that lasted so long was a good one: the pauses start small again. */
const steadyMillis = 10_000
const unbindMillis = 1_000

export function createSession(options: SessionOptions, hear: Hear): Session {
  const window = createWindow(options.window)
  let line: Line | null = null
  let state: 'binding' | 'bound' | 'pausing' | 'stopped' = 'binding'
  let trouble = 'not bound yet'
  let failures = 0
  let boundAt = 0
  let retry: NodeJS.Timeout | undefined
  let enquiry: NodeJS.Timeout | undefined
  let waiting: ((isBound: boolean) => void)[] = []

  function enter(next: typeof state) {
    if (state === 'stopped') return
    state = next
    if (next === 'binding') return
    const told = waiting
    waiting = []
    for (const tell of told) tell(next === 'bound')
  }

  function start() {
    enter('binding')
    line = createLine(options, { open: bind, hear: heard, torn: hear.torn, closed: broken })
  }

  async function bind(opened: Line): Promise<void> {
    const { systemId, password, systemType } = options
    const fields = { system_id: systemId, password, system_type: systemType, interface_version: 0x34 }
    const reply = await opened.request('bind_transceiver', fields, Math.min(aliveMillis, options.replyMillis))
    if (reply.kind === 'broken') return
    if (reply.kind === 'silence') return opened.close('no answer to the bind')
    const status = reply.pdu.command_status
    if (status !== ok) return opened.close(`bind refused: ${nameOf(status)}`)
    boundAt = performance.now()
    enquiry = setInterval(() => void enquire(opened), options.enquireMillis)
    enter('bound')
  }

  async function enquire(asked: Line): Promise<boolean> {
    const reply = await asked.request('enquire_link', {}, Math.min(aliveMillis, options.replyMillis))
    if (reply.kind === 'silence') asked.close('no answer to enquire_link')
    return reply.kind === 'answer'
  }

  function broken(why: string) {
    clearInterval(enquiry)
    if (state === 'stopped') return
    if (state === 'bound' && performance.now() - boundAt > steadyMillis) failures = 0
    trouble = why
    hear.trouble(why)
    enter('pausing')
    const [first, longest] = options.retryMillis
    const pause = Math.min(longest, first * 2 ** Math.min(failures, 20))
    failures += 1
    // Half of the pause is chance, so that many binds do not come back in step.
    retry = setTimeout(start, pause / 2 + (Math.random() * pause) / 2)
  }

  function heard(from: Line, pdu: Pdu) {
    switch (pdu.command) {
      case 'deliver_sm':
        return hear.deliver(from, pdu)
      case 'enquire_link':
        return from.respond(pdu)
      case 'unbind':
        from.respond(pdu)
        return from.close('unbound by the other side')
      case 'alert_notification': // has no answer
      case 'outbind':
        return
      default:
        return from.respond(pdu, { command_status: invalidCommand })
    }
  }

  start()

  return {
    async submit(fields, urgent) {
      const place = window.enter(urgent, options.patienceMillis)
      if (place !== undefined && !(await place))
        return { kind: 'broken', written: false, why: 'no answer to what was sent before' }
      try {
        return (await line?.request('submit_sm', fields)) ?? { kind: 'broken', written: false, why: trouble }
      } finally {
        window.leave(urgent)
      }
    },
    isBound: () => state === 'bound',
    bound() {
      if (state !== 'binding') return Promise.resolve(state === 'bound')
      return new Promise(tell => waiting.push(tell))
    },
    hurry() {
      if (state !== 'pausing') return
      clearTimeout(retry)
      start()
    },
    isAlive: async () => state === 'bound' && line !== null && (await enquire(line)),
    trouble: () => trouble,
    async stop() {
      if (state === 'stopped') return
      const wasBound = state === 'bound'
      clearTimeout(retry)
      clearInterval(enquiry)
      enter('stopped')
      if (wasBound) await line?.request('unbind', {}, unbindMillis)
      line?.close('stopped')
    },
  }
}
