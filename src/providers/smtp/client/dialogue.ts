// A new connection before its first message: one command and one reply at a time, each with a timeout.
import type { Trouble } from '../../unreachable.ts'
import type { Relay } from '../relay.ts'
import type { Fault, Stage } from '../replies.ts'
import { type Connection, createConnection } from './connection.ts'
import { byteString, decoded } from './reply.ts'

export const NO_ANSWER = 'The provider did not answer in time'
export const OUT_OF_TURN = 'The provider spoke out of turn'

export type Dialogue = {
  connection: Connection
  /** Waits for something that is not a reply: the connection, or TLS on it. */
  step(begin: (done: () => void) => void): Promise<void>
  greeting(): Promise<string>
  ask(command: string): Promise<string>
  /** Throws if the server has sent more replies than commands it got. */
  finish(): void
}

export class HandshakeFailed extends Error {
  readonly fault: Fault
  readonly trouble: Trouble | undefined
  constructor(stage: Stage, reply: string | null, problem: string, trouble?: Trouble) {
    super(problem)
    this.trouble = trouble
    this.fault = { stage, reply: reply === null ? null : decoded(reply), problem }
  }
}

const failed = (problem: string, trouble?: Trouble) => new HandshakeFailed('open', null, problem, trouble)

export function createDialogue(relay: Relay): Dialogue {
  let waiting: { resolve(reply: string): void; reject(error: HandshakeFailed): void } | null = null
  /** A reply that arrived while none was awaited. Allowed for the greeting, which may follow the TLS handshake immediately. */
  let early: string | null = null
  let problem = ''
  let trouble: Trouble | undefined

  const connection = createConnection(relay, {
    onReply(reply) {
      if (waiting) waiting.resolve(reply)
      else if (early === null) early = reply
      else connection.end(OUT_OF_TURN)
    },
    onEnded(why, ended) {
      problem = why
      trouble = ended
      waiting?.reject(failed(why, ended))
    },
  })

  function wait(begin: (done: () => void) => void): Promise<string> {
    return new Promise((resolve, reject) => {
      if (!connection.isOpen()) return reject(failed(problem, trouble))
      const timer = setTimeout(() => connection.end(NO_ANSWER, { code: 'timeout' }), relay.connectSeconds * 1000)
      const settle = () => {
        clearTimeout(timer)
        waiting = null
      }
      waiting = {
        resolve(reply) {
          settle()
          resolve(reply)
        },
        reject(error) {
          settle()
          reject(error)
        },
      }
      begin(() => waiting?.resolve(''))
    })
  }

  function finish() {
    if (early !== null) throw failed(OUT_OF_TURN)
    if (!connection.isOpen()) throw failed(problem, trouble)
  }

  return {
    connection,
    async step(begin) {
      finish()
      await wait(begin)
    },
    async greeting() {
      const reply = early
      early = null
      return reply ?? wait(() => {})
    },
    async ask(command) {
      finish()
      if (/[\r\n\0]/.test(command)) throw failed('A command to the provider would not be one line')
      return wait(() => connection.write(`${byteString(command)}\r\n`))
    },
    finish,
  }
}
