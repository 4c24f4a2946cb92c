// TLS over an open connection: at once (RFC 8314) or after STARTTLS (RFC 3207).
import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { refusedCertificate, type Trouble, troubleOf } from '../../unreachable.ts'
import type { Relay } from '../relay.ts'

/** `done` is called once: without a socket when there is no TLS, or the certificate is not accepted. */
export function encrypt(
  plain: Socket,
  relay: Relay,
  done: (result: { socket: TLSSocket } | { socket: null; trouble: Trouble }) => void,
): void {
  let isDone = false
  const settle = (result: Parameters<typeof done>[0]) => {
    if (isDone) return
    isDone = true
    done(result)
  }
  const socket = connect({
    socket: plain,
    host: relay.host,
    ...(isIP(relay.host) === 0 && { servername: relay.host }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: false, // decided below
    ...(relay.ca !== null && { ca: relay.ca }),
  })
  socket.once('secureConnect', () => {
    // A relay that may be used without TLS may also be used with a certificate that cannot be verified.
    const trouble = relay.tls === 'required' ? refusedCertificate(socket) : null
    if (trouble === null) return settle({ socket })
    socket.destroy()
    settle({ socket: null, trouble })
  })
  socket.on('error', error => settle({ socket: null, trouble: handshakeTrouble(error) }))
  socket.once('close', () => settle({ socket: null, trouble: { code: 'closed' } }))
}

/** OpenSSL has many codes for octets that are not TLS. */
function handshakeTrouble(error: Error): Trouble {
  const trouble = troubleOf(error)
  return /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNEXPECTED_MESSAGE)$|^EPROTO$/.test(trouble.code)
    ? { code: 'no-tls' }
    : trouble
}
