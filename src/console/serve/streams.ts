// Answers that take long: event streams and downloads. Who asked is checked again while they run, so that they end with the rights:
// when the person is removed, signed out or has a lower role, or when the service is archived.
import type { FastifyReply } from 'fastify'
import type { Parts } from '../../parts.ts'
import type { SignedIn } from '../../people/person.ts'
import { readAgain } from '../../people/session.ts'
import { createTurns, type Turns } from '../../runtime/turns.ts'
import { pause } from '../../runtime/within.ts'
import type { DirectAnswer } from '../page.ts'
import type { Who } from '../who.ts'
import { isPermitted } from './enter.ts'

const CHECK_MS = 2_000

export const takesLong = ({ kind }: DirectAnswer): boolean =>
  kind === 'events' || kind === 'download' || kind === 'export'

type Stream = { who: Who; signedIn: SignedIn; service: string | undefined }

export type EndWithRights = (stream: Stream, reply: FastifyReply, abort: () => void) => Promise<void>

/**
 * Calls `abort` once the person may not have the answer any more. It ends with the answer. Checks do not wait for the turns of reads,
 * because the streams may have them; one runs at a time, so that many streams take one connection from others.
 */
export function createEndWithRights(parts: Parts): EndWithRights {
  const checks = createTurns({ atOnce: 1, ofOne: 1 })
  return (stream, reply, abort) => endWithRights(parts, checks, stream, reply, abort)
}

async function endWithRights(
  parts: Parts,
  checks: Turns,
  { who, signedIn, service }: Stream,
  reply: FastifyReply,
  abort: () => void,
): Promise<void> {
  const closed = new AbortController()
  if (reply.raw.closed) closed.abort()
  else reply.raw.once('close', () => closed.abort())
  const isAllowed = async () => {
    const now = await checks.run(signedIn.person.id, () => readAgain(parts, signedIn))
    return now !== null && isPermitted(who, now, service)
  }
  while (!closed.signal.aborted) {
    await pause(CHECK_MS, closed.signal)
    // A database that does not answer says nothing about rights: the next check asks again.
    if (closed.signal.aborted || (await isAllowed().catch(() => true))) continue
    abort()
    // The end of an event stream would wait for a reader that takes nothing.
    await pause(CHECK_MS, closed.signal)
    if (!closed.signal.aborted) reply.raw.destroy()
    return
  }
}
