// Idempotency (contract 18, 21.17): a repeated Idempotency-Key gets the stored answer and sends nothing. The answer is stored by
// the statement that stores the message; here it is read before anything else is done.
import { createHash } from 'node:crypto'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { refuse } from './refusals.ts'
import { find, forget } from './sql.ts'

export type SendAnswer = { status: number; body: string }

/** What is stored with the answer to a request that has a key. */
export type Replay = { keyDigest: Buffer; requestDigest: Buffer }

/** Together with the value of the header, this identifies a key (contract 22.12). */
export type Scope = { service: Id; keyType: KeyType }

export type Replays = {
  /** Runs `first` for a new key; returns the stored answer for a known one. */
  once(
    scope: Scope,
    header: string,
    request: { route: string; body: Buffer },
    first: (replay: Replay) => Promise<SendAnswer>,
  ): Promise<SendAnswer & { replayed: boolean }>
}

const VALID = /^[\x20-\x7e]{1,255}$/

export function createReplays(app: { sql: Sql; seal: Seal }): Replays {
  const { sql, seal } = app
  const underWay = new Set<string>()

  async function stored(service: Id, keys: readonly Buffer[], requestDigest: Buffer): Promise<SendAnswer | null> {
    const found = await find(sql, service, keys)
    if (!found) return null
    if (!found.request_digest.equals(requestDigest)) throw refuse.otherRequest()
    return { status: found.status, body: seal.open(found.answer).toString('utf8') }
  }

  return {
    async once({ service, keyType }, header, { route, body }, first) {
      if (!VALID.test(header)) throw refuse.notValid()
      const scoped = `${keyType}\n${header}`
      // Earlier versions stored answers under the header alone; such answers expire after a day.
      const keys = [...seal.digests(scoped), ...seal.digests(header)]
      const keyDigest = seal.digest(scoped)
      const name = service + keyDigest.toString('hex')
      if (underWay.has(name)) throw refuse.inProgress()
      underWay.add(name)
      try {
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
      } finally {
        underWay.delete(name)
      }
    },
  }
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
