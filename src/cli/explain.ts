// What went wrong, for a person who wants to know what to do next.
import { ConfigProblems } from '../config/index.ts'
import { Refusal } from '../core/refusal.ts'

/** The sentences to say, most important first. */
export function explained(error: unknown): readonly string[] {
  if (error instanceof Refusal) return error.messages
  if (error instanceof ConfigProblems) return [error.message]
  // Several failures of ours; those of Node's attempts to connect come without a message.
  if (error instanceof AggregateError && error.message !== '') return error.errors.flatMap(explained)
  const { code, message } = innermost(error)
  const remedy = remedies[code]
  return remedy ? [remedy(message)] : [message || `Something failed without saying why (${code || 'no code'}).`]
}

type Remedy = (message: string) => string
const noAnswer: Remedy = message =>
  `The database does not answer (${message}). Check DATABASE_URL and that PostgreSQL runs, then try: herald doctor`

const remedies: Record<string, Remedy> = {
  ECONNREFUSED: noAnswer,
  ECONNRESET: noAnswer,
  ETIMEDOUT: noAnswer,
  EHOSTUNREACH: noAnswer,
  ENOTFOUND: noAnswer,
  EAI_AGAIN: noAnswer,
  '57P03': noAnswer,
  '28P01': message => `The database refuses the user or password of DATABASE_URL (${message}).`,
  '28000': message => `The database refuses the user of DATABASE_URL (${message}).`,
  '3D000': message => `The database named in DATABASE_URL is not there (${message}). Make it with: createdb NAME`,
  '42501': message => `The database user may not do this (${message}). Give it the right to make tables in its schema.`,
  '55P03': () => 'The database is busy: a lock was not given in time. Try again in a moment.',
  EADDRINUSE: message =>
    `The port is in use already (${message}). Stop the other program, or choose another with HERALD_PORT.`,
  EADDRNOTAVAIL: message => `This machine has no such address (${message}). Correct HERALD_HOST.`,
  EACCES: message => `This user may not do that (${message}). Change the rights, or run as another user.`,
  ENOSPC: message => `The disk is full (${message}). Make room and try again.`,
}

/** Node gives several tries to connect as one error without a message, and the driver wraps its own. */
function innermost(error: unknown): { code: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0])
  if (!(error instanceof Error)) return { code: '', message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { code, message: error.message }
}
