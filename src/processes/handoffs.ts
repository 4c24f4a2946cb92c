// Connections that the supervisor is giving to a process. node:cluster keeps such a connection open until the process confirms it,
// also when the process has died before: the caller would never get a response, and the descriptor would stay open (Node 20 to 24).
// The messages are node:cluster's own; test/handoffs.test.ts fails when they change.
import type { Worker } from 'node:cluster'
import type { EventEmitter } from 'node:events'

type Offer = { cmd: 'NODE_CLUSTER'; act: 'newconn'; seq: number }
type Confirmation = { cmd: 'NODE_CLUSTER'; ack: number }
type Connection = { close(): void }

/**
 * When the process is gone, what it has not confirmed is refused in its place: node:cluster gives it to another process. A process
 * confirms before it reads, so nothing of the request is lost. `hasOthers`: whether another process accepts connections; without one
 * they are closed.
 */
export function recoverHandoffs(worker: Worker, hasOthers: () => boolean): void {
  const unconfirmed = new Map<number, Connection>()
  const channel = worker.process
  const send = channel.send.bind(channel) as (...given: unknown[]) => boolean
  channel.send = (...given: unknown[]): boolean => {
    const [message, connection] = given
    if (isOffer(message) && connection) unconfirmed.set(message.seq, connection as Connection)
    return send(...given)
  }
  // Not in the types: they have only the events for programs.
  const internal = channel as EventEmitter
  internal.on('internalMessage', (message: unknown) => {
    if (isConfirmation(message)) unconfirmed.delete(message.ack)
  })
  let isOver = false
  // After the listener of node:cluster itself, which takes the process out of the turns.
  channel.once('disconnect', () => {
    isOver = true
    for (const [seq, connection] of [...unconfirmed])
      if (hasOthers()) internal.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false })
      else connection.close()
    unconfirmed.clear()
  })
  // Node calls it at the end of the channel, and emits nothing then while a connection is on its way.
  const disconnect = channel.disconnect.bind(channel)
  channel.disconnect = () => {
    disconnect()
    process.nextTick(() => {
      if (!isOver) channel.emit('disconnect')
    })
  }
}

const isOffer = (message: unknown): message is Offer => isInternal(message) && message.act === 'newconn'

const isConfirmation = (message: unknown): message is Confirmation =>
  isInternal(message) && typeof message.ack === 'number'

const isInternal = (message: unknown): message is Record<string, unknown> =>
  typeof message === 'object' && message !== null && 'cmd' in message && message.cmd === 'NODE_CLUSTER'
