// An SMSC in the test, by the npm package's own server, that can also misbehave.
import type { AddressInfo } from 'node:net'
import smpp, { type Pdu, type Session } from 'smpp'

export type SmppMode =
  | 'ok'
  | 'reject'
  | 'throttle'
  | 'queue-full'
  | 'hang'
  | 'drop'
  | 'drop-last'
  | 'garbage'
  | 'short-length'
  | 'half'
  | 'huge'
  | 'bare'
  | 'bind-refused'
  | 'bind-silent'

export type Submitted = { from: string; to: string; text: string; parts: Pdu[]; ref: string }

export type SmppServer = Awaited<ReturnType<typeof startSmppServer>>

/** `heard` is called with every submit_sm before it is answered, and may choose the answer. */
export async function startSmppServer(
  options: { key: string; cert: string } | null = null,
  heard: (to: string, text: string) => SmppMode | null = () => null,
) {
  const pdus: Pdu[] = []
  const messages: Submitted[] = []
  const open = new Map<string, Pdu[]>()
  const bound = new Set<Session>()
  const answers: { status: number; sequence: number }[] = []
  let mode: SmppMode = 'ok'
  let binds = 0
  let unbinds = 0
  let numbered = 0
  let waiting = 0
  let most = 0
  let early: ((ref: string) => Record<string, unknown> | null) | null = null
  let script: SmppMode[] = []
  let delayMillis = 0
  let nextId = () => `${++numbered}`

  const listen = (session: Session) => {
    session.on('error', () => session.destroy())
    session.on('close', () => bound.delete(session))
    session.on('bind_transceiver', (pdu: Pdu) => {
      binds += 1
      if (mode === 'bind-silent') return
      if (mode === 'bind-refused') return void session.send(pdu.response({ command_status: 0x0e }))
      bound.add(session)
      session.send(pdu.response({ system_id: 'test' }))
    })
    session.on('enquire_link', (pdu: Pdu) => session.send(pdu.response()))
    session.on('unbind', (pdu: Pdu) => {
      unbinds += 1
      session.send(pdu.response())
      session.close()
    })
    session.on('deliver_sm_resp', (pdu: Pdu) => {
      answers.push({ status: pdu.command_status, sequence: pdu.sequence_number })
    })
    session.on('submit_sm', (pdu: Pdu) => {
      waiting += 1
      most = Math.max(most, waiting)
      const go = () => {
        waiting -= 1
        submitted(session, pdu)
      }
      if (delayMillis === 0) go()
      else setTimeout(go, delayMillis)
    })
  }

  function submitted(session: Session, pdu: Pdu) {
    const now = heard(String(pdu.destination_addr), textOf(pdu.short_message)) ?? script.shift() ?? mode
    const header = Buffer.alloc(16)
    switch (now) {
      case 'reject':
        return void session.send(pdu.response({ command_status: 0x0b }))
      case 'throttle':
        return void session.send(pdu.response({ command_status: 0x58 }))
      case 'queue-full':
        return void session.send(pdu.response({ command_status: 0x14 }))
      case 'hang':
        return
      case 'drop':
        return session.destroy()
      case 'drop-last': {
        const { total, number } = partOf(pdu)
        if (number === total) return session.destroy()
        break
      }
      case 'garbage':
        return void session.socket.write(Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>'))
      case 'short-length':
        header.writeUInt32BE(4, 0)
        return void session.socket.write(header)
      case 'half':
        return void session.socket.end(pdu.response({ message_id: 'half-an-identifier' }).toBuffer().subarray(0, 22))
      case 'huge':
        return void session.socket.write(Buffer.alloc(1_048_576, 0x41))
      case 'bare': // an answer without the message id
        header.writeUInt32BE(16, 0)
        header.writeUInt32BE(0x80000004, 4)
        header.writeUInt32BE(pdu.sequence_number, 12)
        return void session.socket.write(header)
      default:
    }
    const ref = nextId()
    take(pdu, ref)
    const receipt = early?.(ref)
    if (receipt) session.deliver_sm(receipt)
    session.send(pdu.response({ message_id: ref }))
  }

  function take(pdu: Pdu, ref: string) {
    pdus.push(pdu)
    const { total, number, reference } = partOf(pdu)
    const key = `${String(pdu.destination_addr)} ${reference}`
    const parts = total === 1 ? [] : (open.get(key) ?? [])
    parts[number - 1] = pdu
    if (parts.filter(Boolean).length < total) return void open.set(key, parts)
    open.delete(key)
    const text = parts.map(part => textOf(part.short_message) || textOf(part.message_payload)).join('')
    messages.push({ from: String(pdu.source_addr), to: String(pdu.destination_addr), text, parts, ref })
  }

  const server = options ? smpp.createServer(options, listen) : smpp.createServer(listen)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  return {
    port: (server.address() as AddressInfo).port,
    pdus,
    messages,
    /** Answers to our deliver_sm. */
    answers,
    bound,
    counts: () => ({ binds, unbinds, most }),
    mode(next: SmppMode) {
      mode = next
    },
    /** Modes of the next submit_sm, one each; then the general mode applies again. */
    script(...modes: SmppMode[]) {
      script = modes
    },
    delay(millis: number) {
      delayMillis = millis
    },
    /** A receipt that is sent before the answer to submit_sm. */
    earlyReceipt(make: typeof early) {
      early = make
    },
    ids(next: () => string) {
      nextId = next
    },
    deliver(fields: Record<string, unknown>) {
      for (const session of bound) session.deliver_sm(fields)
    },
    raw(octets: Buffer) {
      for (const session of bound) session.socket.write(octets)
    },
    unbindAll() {
      for (const session of bound) session.unbind()
    },
    async stop() {
      for (const session of bound) session.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

type Decoded = { message?: string | Buffer; udh?: Buffer[] }

function partOf(pdu: Pdu): { total: number; number: number; reference: number } {
  const udh = (pdu.short_message as Decoded | undefined)?.udh?.[0]
  return udh
    ? { reference: udh[2] ?? 0, total: udh[3] ?? 1, number: udh[4] ?? 1 }
    : { reference: 0, total: 1, number: 1 }
}

function textOf(value: unknown): string {
  const message = (value as Decoded | undefined)?.message
  return typeof message === 'string' ? message : ''
}

/** Appendix B of SMPP 3.4. */
export function receiptText(id: string, stat: string, err = '000', done = '2611150500'): Record<string, unknown> {
  return {
    esm_class: 0x04,
    source_addr: '16135550100',
    destination_addr: '12345',
    short_message: Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2611150459 done date:${done} stat:${stat} err:${err} text:hello`,
      'latin1',
    ),
  }
}
