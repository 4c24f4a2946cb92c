// Idempotency (contract 18, 21.17): a repeated Idempotency-Key gets the stored answer and sends nothing. The answer is stored by
// the statement that stores the message; here it is read before anything else is done.
import { createHash } from 'node:crypto'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { refuse } from './refusals.ts'
import { find, forget, type StoredReplay } from './sql.ts'

export type SendAnswer = { status: number; body: string }

/** What is stored with the answer to a request that has a key. */
export type Replay = { keyDigest: Buffer; requestDigest: Buffer }

/** Together with the value of the header, this identifies a key (contract 22.12). */
export type Scope = { service: Id; keyType: KeyType }

export type Replays = {
  /**
   * Runs `first` for a new key; returns the stored answer for a known one. A key whose first request is still processed here is
   * refused, unless the request `waits` for it.
   */
  once(
    scope: Scope,
    header: string,
    request: { route: string; body: Buffer; waits?: boolean },
    first: (replay: Replay) => Promise<SendAnswer>,
  ): Promise<SendAnswer & { replayed: boolean }>
  /** The stored answer of a key; null: there is none. Waits while the first request with this key is processed here. */
  answerOf(scope: Scope, header: string): Promise<SendAnswer | null>
}

const VALID = /^[\x20-\x7e]{1,255}$/

export function createReplays(app: { sql: Sql; seal: Seal }): Replays {
  const { sql, seal } = app
  const underWay = new Map<string, Promise<unknown>>()

  async function stored(service: Id, keys: readonly Buffer[], requestDigest: Buffer): Promise<SendAnswer | null> {
    const found = await find(sql, service, keys)
    if (!found) return null
    if (!found.request_digest.equals(requestDigest)) throw refuse.otherRequest()
    return opened(found)
  }

  const opened = ({ status, answer }: StoredReplay): SendAnswer => ({
    status,
    body: seal.open(answer).toString('utf8'),
  })

  function keysOf({ service, keyType }: Scope, header: string) {
    const scoped = `${keyType}\n${header}`
    const keyDigest = seal.digest(scoped)
    return {
      keyDigest,
      // Earlier versions stored answers under the header alone; such answers expire after a day.
      keys: [...seal.digests(scoped), ...seal.digests(header)],
      name: service + keyDigest.toString('hex'),
    }
  }

  async function answered(
    scope: Scope,
    header: string,
    { route, body }: { route: string; body: Buffer },
    first: (replay: Replay) => Promise<SendAnswer>,
  ): Promise<SendAnswer & { replayed: boolean }> {
    const { service } = scope
    const { keys, keyDigest } = keysOf(scope, header)
    const requestDigest = await digestOf(route, body)
    const before = await stored(service, keys, requestDigest)
    if (before) return { ...before, replayed: true }
    await forget(sql, service, keys)
    try {
      return { ...(await first({ keyDigest, requestDigest })), replayed: false }
    } catch (error) {
      // Another process has stored an answer for this key meanwhile.
      const other = isTaken(error) ? await stored(service, keys, requestDigest) : null
      if (!other) throw error
      return { ...other, replayed: true }
    }
  }

  return {
    async once(scope, header, request, first) {
      if (!VALID.test(header)) throw refuse.notValid()
      const { name } = keysOf(scope, header)
      for (let other = underWay.get(name); other; other = underWay.get(name)) {
        if (!request.waits) throw refuse.inProgress()
        await settled(other)
      }
      const work = answered(scope, header, request, first)
      underWay.set(name, work)
      try {
        return await work
      } finally {
        underWay.delete(name)
      }
    },
    async answerOf(scope, header) {
      if (!VALID.test(header)) return null
      const { name, keys } = keysOf(scope, header)
      await settled(underWay.get(name))
      const found = await find(sql, scope.service, keys)
      return found && opened(found)
    },
  }
}

/** The first request gets the error. */
const settled = async (work: Promise<unknown> | undefined) => {
  await work?.catch(() => {})
}

/** Hashed between two turns of the event loop: takes about 5 ms. */
const PIECE_BYTES = 4 * 1024 * 1024

async function digestOf(route: string, body: Buffer): Promise<Buffer> {
  const hash = createHash('sha256').update(`${route}\n`)
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise(resume => setImmediate(resume))
    hash.update(body.subarray(at, at + PIECE_BYTES))
  }
  return hash.digest()
}

/** Thrown when an answer for the key already exists. */
export class KeyTaken extends Error {}
const isTaken = (error: unknown) => error instanceof KeyTaken
