// Ends connections whose caller has not sent a whole body. The body of GET, HEAD and DELETE is ignored, so its answer is sent in
// full first (contract 23.6).
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Exchange = { request: IncomingMessage; response: ServerResponse; isEnding: boolean }

export type Exchanges = {
  /**
   * False: the connection has no answer that would be disturbed. Otherwise it is closed when the answer of its last request is sent.
   */
  endAfterAnswer(socket: Socket): boolean
}

/** Follows the last request of each connection. */
export function createExchanges(server: Server, lingerMs: number): Exchanges {
  const last = new WeakMap<Socket, Exchange>()
  server.on('request', (request, response) => last.set(request.socket, { request, response, isEnding: false }))
  return {
    endAfterAnswer(socket) {
      const exchange = last.get(socket)
      if (!exchange || exchange.request.complete || !isAnswered(exchange)) return false
      // More of a malformed body is another error.
      if (exchange.isEnding) return true
      exchange.isEnding = true
      if (exchange.response.writableFinished) closeGently(socket, lingerMs)
      else exchange.response.once('finish', () => closeGently(socket, lingerMs))
      return true
    },
  }
}

/** Whether the answer does not depend on the rest of the body. */
const isAnswered = ({ request, response }: Exchange) =>
  response.headersSent || !['POST', 'PATCH', 'PUT'].includes(request.method ?? '')

/**
 * Closes our side, and the connection when the caller has closed theirs or the time is over. Destroying it would discard what the
 * caller has not read yet, if more of the body arrives.
 */
function closeGently(socket: Socket, lingerMs: number): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
  socket.end()
}
