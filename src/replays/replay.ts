// The same Idempotency-Key gets the same answer and sends nothing twice (contract 18, 21.17). The first answer is stored by
// the statement that stores the message; here it is looked for before anything else is done.
import { createHash } from 'node:crypto'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { refuse } from './refusals.ts'
import { find, forget } from './sql.ts'

export type Answer = { status: number; body: string }

/** A request that carries a key: what is stored with its answer. */
export type Replay = { keyDigest: Buffer; requestDigest: Buffer }

/** A key is known by the service, the type of the API key and the value of the header (contract 22.12). */
export type Scope = { service: Id; keyType: KeyType }

export type Replays = {
  /** Runs `first` for a key that is new; gives the stored answer for one that is not. */
  once(
    scope: Scope,
    header: string,
    request: { route: string; body: Buffer },
    first: (replay: Replay) => Promise<Answer>,
  ): Promise<Answer & { replayed: boolean }>
}

const VALID = /^[\x20-\x7e]{1,255}$/

export function createReplays(app: { sql: Sql; seal: Seal }): Replays {
  const { sql, seal } = app
  const underWay = new Set<string>()

  async function stored(service: Id, keys: readonly Buffer[], requestDigest: Buffer): Promise<Answer | null> {
    const found = await find(sql, service, keys)
    if (!found) return null
    if (!found.request_digest.equals(requestDigest)) throw refuse.otherRequest()
    return { status: found.status, body: seal.open(found.answer).toString('utf8') }
  }

  return {
    async once({ service, keyType }, header, { route, body }, first) {
      if (!VALID.test(header)) throw refuse.notValid()
      const scoped = `${keyType}\n${header}`
      // Answers stored by a version that did not know key types are found by the header alone; they last a day.
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
          // Another process was faster: its answer is there now.
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

/** Hashed at once: some 5 ms. */
const PIECE_BYTES = 4 * 1024 * 1024

async function digestOf(route: string, body: Buffer): Promise<Buffer> {
  const hash = createHash('sha256').update(`${route}\n`)
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise(resume => setImmediate(resume))
    hash.update(body.subarray(at, at + PIECE_BYTES))
  }
  return hash.digest()
}

/** Thrown by whoever tried to store an answer for a key that has one. */
export class KeyTaken extends Error {}
const isTaken = (error: unknown) => error instanceof KeyTaken
