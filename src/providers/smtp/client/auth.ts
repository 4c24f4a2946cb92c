// Authentication (RFC 4954) with a user name and a password: PLAIN (RFC 4616), LOGIN, CRAM-MD5 (RFC 2195).
import { createHmac } from 'node:crypto'

/** Sends a command and waits for the reply to it. */
export type Ask = (command: string) => Promise<string>

export type Credentials = { user: string; password: string }

/** The server's last reply: 235 when it accepts. */
export async function authenticate(ask: Ask, offered: ReadonlySet<string>, given: Credentials): Promise<string> {
  // PLAIN also where no mechanism is offered: some servers accept it without announcing it.
  if (offered.has('PLAIN') || !(offered.has('LOGIN') || offered.has('CRAM-MD5'))) return plain(ask, given)
  return offered.has('LOGIN') ? login(ask, given) : cramMd5(ask, given)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const plain = (ask: Ask, { user, password }: Credentials) => ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`)

async function login(ask: Ask, { user, password }: Credentials): Promise<string> {
  const first = await ask('AUTH LOGIN')
  if (!isChallenge(first)) return first
  const second = await ask(base64(user))
  return isChallenge(second) ? ask(base64(password)) : second
}

async function cramMd5(ask: Ask, { user, password }: Credentials): Promise<string> {
  const reply = await ask('AUTH CRAM-MD5')
  if (!isChallenge(reply)) return reply
  const challenge = Buffer.from(reply.slice(4), 'base64')
  return ask(base64(`${user} ${createHmac('md5', password).update(challenge).digest('hex')}`))
}

const isChallenge = (reply: string) => reply.startsWith('334')
