// The part of the npm package smpp 0.5.1 that we use; it brings no types of its own and the registry has none.
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { Server as NetServer, Socket } from 'node:net'

  /** A protocol data unit. What its fields hold is up to the peer, so they are `unknown` until looked at. */
  export type Pdu = {
    command: string
    command_id: number
    command_status: number
    sequence_number: number
    toBuffer(): Buffer
    isResponse(): boolean
    response(options?: Record<string, unknown>): Pdu
    readonly [field: string]: unknown
  }

  export type Session = EventEmitter & {
    socket: Socket
    send(pdu: Pdu): boolean
    close(): void
    destroy(): void
    deliver_sm(options: Record<string, unknown>, answered?: (pdu: Pdu) => void): boolean
    unbind(): boolean
  }

  type Smpp = {
    PDU: { new (command: string, options?: Record<string, unknown>): Pdu; new (buffer: Buffer): Pdu }
    createServer(listener: (session: Session) => void): NetServer
    createServer(options: { key: string; cert: string }, listener: (session: Session) => void): NetServer
  }

  const smpp: Smpp
  export default smpp
}
