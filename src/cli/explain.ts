// Turns an error into sentences that say what to do about it.
import { ConfigProblems } from '../config/index.ts'
import { Refusal } from '../core/refusal.ts'

/** Most important sentence first. */
export function explained(error: unknown): readonly string[] {
  if (error instanceof Refusal) return error.messages
  if (error instanceof ConfigProblems) return [error.message]
  // Our own AggregateErrors have a message; those of Node's connection attempts do not.
  if (error instanceof AggregateError && error.message !== '') return error.errors.flatMap(explained)
  const { code, message } = innermost(error)
  const remedy = remedies[code]
  return remedy ? [remedy(message)] : [message || `An error without a message occurred (${code || 'no code'}).`]
}

/** The name of an error for programs, such as ValidationError. */
export function kindOf(error: unknown): string {
  if (error instanceof Refusal) return error.kind
  if (error instanceof ConfigProblems) return 'ConfigProblems'
  return error instanceof Error ? error.name : 'Error'
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
  '3D000': message => `The database named in DATABASE_URL does not exist (${message}). Create it with: createdb NAME`,
  '25006': message =>
    `The database is read-only (${message}). Name the primary in DATABASE_URL, or switch off default_transaction_read_only for the database and its user.`,
  '42501': message => `The database user lacks a privilege (${message}). Allow it to create tables in its schema.`,
  '53100': message => `The disk of the database is full (${message}). Free some space and try again.`,
  '55P03': () => 'The database is busy: a lock timeout expired. Try again in a moment.',
  EADDRINUSE: message =>
    `The port is in use already (${message}). Stop the other program, or choose another with HERALD_PORT.`,
  EADDRNOTAVAIL: message => `This machine has no such address (${message}). Correct HERALD_HOST.`,
  EACCES: message => `Permission denied (${message}). Change the permissions, or run as another user.`,
  ENOSPC: message => `The disk is full (${message}). Free some space and try again.`,
}

/** Node reports several connection attempts as one AggregateError without a message; the first of them explains it. */
function innermost(error: unknown): { code: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0])
  if (!(error instanceof Error)) return { code: '', message: String(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { code, message: error.message }
}
