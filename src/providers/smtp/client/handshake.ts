// Everything before the first message: connect, greeting, EHLO, STARTTLS (RFC 3207), AUTH (RFC 4954).
import { isLoopback } from '../../../core/network.ts'
import { type Trouble, unreachable } from '../../unreachable.ts'
import { namesBy, type Relay } from '../relay.ts'
import type { Fault } from '../replies.ts'
import { authenticate } from './auth.ts'
import type { Connection } from './connection.ts'
import { createDialogue, type Dialogue, HandshakeFailed } from './dialogue.ts'
import { type Extensions, readExtensions } from './extensions.ts'
import { isClosing, isPositive } from './reply.ts'

export type Greeted = { ok: true; connection: Connection; extensions: Extensions } | { ok: false; fault: Fault }

/** Has a timeout as a whole, because a server may be slow at every step. */
export async function openConnection(relay: Relay, giveUp: AbortSignal): Promise<Greeted> {
  const dialogue = createDialogue(relay)
  const { connection } = dialogue
  const stopped = () => connection.end('The provider is being stopped')
  const tooLate = () => connection.end('The provider took too long to greet', { code: 'timeout' })
  const timer = setTimeout(tooLate, 3 * relay.connectSeconds * 1000)
  giveUp.addEventListener('abort', stopped)
  try {
    if (giveUp.aborted) stopped()
    return { ok: true, connection, extensions: await handshake(dialogue, relay) }
  } catch (error) {
    connection.close()
    if (!(error instanceof HandshakeFailed)) throw error
    return { ok: false, fault: { ...error.fault, ...reasonOf(relay, error) } }
  } finally {
    clearTimeout(timer)
    giveUp.removeEventListener('abort', stopped)
  }
}

const NAMES = namesBy(variable => variable)

function reasonOf(relay: Relay, { trouble }: HandshakeFailed): { reason?: string } {
  if (!trouble) return {}
  return { reason: unreachable({ host: relay.host, port: relay.port, names: relay.names ?? NAMES }, trouble) }
}

async function handshake(dialogue: Dialogue, relay: Relay): Promise<Extensions> {
  const { connection } = dialogue
  await dialogue.step(connection.connect)
  if (relay.implicitTls) await dialogue.step(connection.secure)
  const greeting = await greetingOf(dialogue, relay)
  if (!greeting.startsWith('220')) throw refused(greeting)
  let extensions = await hello(dialogue, relay)
  // The reply before TLS may have been changed by an attacker, so the server is asked again (RFC 3207, 4.2).
  if (await startTls(dialogue, relay, extensions)) extensions = await hello(dialogue, relay)
  await logIn(dialogue, relay, extensions)
  dialogue.finish()
  return extensions
}

/** A server that wants TLS from the first byte waits for it in silence. */
async function greetingOf(dialogue: Dialogue, { implicitTls }: Relay): Promise<string> {
  try {
    return await dialogue.greeting()
  } catch (error) {
    if (implicitTls || !(error instanceof HandshakeFailed) || error.trouble?.code !== 'timeout') throw error
    throw new HandshakeFailed('open', null, error.fault.problem, { code: 'no-greeting' })
  }
}

const failure = (stage: Fault['stage'], reply: string | null, problem: string, trouble: Trouble) =>
  new HandshakeFailed(stage, reply, problem, { ...trouble, ...(reply !== null && { reply: reply.slice(0, 3) }) })
// The reply says why.
const refused = (reply: string) => new HandshakeFailed('open', reply, 'The provider refused the connection')

async function hello(dialogue: Dialogue, relay: Relay): Promise<Extensions> {
  const reply = await dialogue.ask(`EHLO ${relay.name}`)
  if (isPositive(reply)) return readExtensions(reply)
  if (isClosing(reply) || (relay.tls === 'required' && !dialogue.connection.isSecure())) throw refused(reply)
  // A server that knows no extensions (RFC 5321, 3.2).
  const older = await dialogue.ask(`HELO ${relay.name}`)
  if (!isPositive(older)) throw refused(older)
  return readExtensions('')
}

/** False when the connection stays as it is: it is encrypted already, or need not be. */
async function startTls(dialogue: Dialogue, relay: Relay, { startTls }: Extensions): Promise<boolean> {
  if (dialogue.connection.isSecure() || relay.tls === 'never') return false
  const reply = startTls ? await dialogue.ask('STARTTLS') : null
  if (reply?.startsWith('220')) {
    await dialogue.step(dialogue.connection.secure)
    return true
  }
  if (relay.tls === 'required' || (reply !== null && isClosing(reply)))
    throw failure('open', reply, 'No TLS connection to the provider', { code: 'no-starttls' })
  return false
}

async function logIn(dialogue: Dialogue, relay: Relay, { auth }: Extensions): Promise<void> {
  const { user, password } = relay
  if (user === null || password === null) return
  if (!dialogue.connection.isSecure() && relay.tls !== 'never' && !isLoopback(relay.host))
    throw failure('open', null, 'The provider offers no encryption, so the password was not sent', {
      code: 'login-unencrypted',
    })
  const reply = await authenticate(dialogue.ask, auth, { user, password })
  if (!isPositive(reply)) throw failure('login', reply, 'The provider refused the login', { code: 'login-refused' })
}
