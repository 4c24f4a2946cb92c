// TLS over an open connection: at once (RFC 8314) or after STARTTLS (RFC 3207).
import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { Relay } from '../relay.ts'

/** `done` is called once: with null when there is no TLS, or the certificate is not accepted. */
export function encrypt(plain: Socket, relay: Relay, done: (socket: TLSSocket | null) => void): void {
  let isDone = false
  const settle = (result: TLSSocket | null) => {
    if (isDone) return
    isDone = true
    done(result)
  }
  const socket = connect({
    socket: plain,
    host: relay.host,
    ...(isIP(relay.host) === 0 && { servername: relay.host }),
    minVersion: 'TLSv1.2',
    // A relay that may be used without TLS may also be used with a certificate that cannot be verified.
    rejectUnauthorized: relay.tls === 'required',
    ...(relay.ca !== null && { ca: relay.ca }),
  })
  socket.once('secureConnect', () => settle(socket))
  socket.on('error', () => settle(null))
  socket.once('close', () => settle(null))
}
