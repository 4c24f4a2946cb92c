// Idempotency (contract 18, 21.17): a repeated Idempotency-Key gets the stored answer and sends nothing. The answer is stored by
// the statement that stores the message; here it is read before anything else is done.
import { createHash, type Hash, type Hmac } from 'node:crypto'
import type { Id } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { KeyType } from '../keys/key.ts'
import { refuse } from './refusals.ts'
import { find, forget, type StoredReplay } from './sql.ts'

export type SendAnswer = { status: number; body: string }

/** What is stored with the answer to a request that has a key. */
export type Replay = { keyDigest: Buffer; requestDigest: Buffer }

/** `body` as it was received. */
type AskedRequest = { route: string; body: Buffer }

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
    request: AskedRequest & { waits?: boolean },
    first: (replay: Replay) => Promise<SendAnswer>,
  ): Promise<SendAnswer & { replayed: boolean }>
  /** The stored answer of a key; null: there is none. Waits while the first request with this key is processed here. */
  answerOf(scope: Scope, header: string): Promise<SendAnswer | null>
}

const VALID = /^[\x20-\x7e]{1,255}$/

export function createReplays(app: { sql: Sql; seal: Seal }): Replays {
  const { sql, seal } = app
  const underWay = new Map<string, Promise<unknown>>()

  async function stored(
    service: Id,
    keys: readonly Buffer[],
    isOf: (digest: Buffer) => Promise<boolean>,
  ): Promise<SendAnswer | null> {
    const found = await find(sql, service, keys)
    if (!found) return null
    if (!(await isOf(found.request_digest))) throw refuse.otherRequest()
    return opened(found)
  }

  const opened = ({ status, answer }: StoredReplay): SendAnswer => ({
    status,
    body: seal.open('idempotency answer', answer).toString('utf8'),
  })

  function keysOf({ service, keyType }: Scope, header: string) {
    const scoped = `${keyType}\n${header}`
    const keyDigest = seal.digest('idempotency key', scoped)
    return {
      keyDigest,
      // Earlier versions stored answers under the header alone; such answers expire after a day.
      keys: [...seal.digests('idempotency key', scoped), ...seal.digests('idempotency key', header)],
      name: service + keyDigest.toString('hex'),
    }
  }

  async function answered(
    scope: Scope,
    header: string,
    request: AskedRequest,
    first: (replay: Replay) => Promise<SendAnswer>,
  ): Promise<SendAnswer & { replayed: boolean }> {
    const { service } = scope
    const { keys, keyDigest } = keysOf(scope, header)
    const { requestDigest, isOf } = await recognised(seal, request)
    const before = await stored(service, keys, isOf)
    if (before) return { ...before, replayed: true }
    await forget(sql, service, keys)
    try {
      return { ...(await first({ keyDigest, requestDigest })), replayed: false }
    } catch (error) {
      // Another process may have stored the answer while this request was checked. A refusal, such as of the daily limit that the
      // first request has used up, would then say that nothing was stored.
      const other = mayBeAnswered(error) ? await stored(service, keys, isOf) : null
      if (!other) throw error
      return { ...other, replayed: true }
    }
  }

  return {
    async once(scope, header, request, first) {
      if (!VALID.test(header)) throw refuse.notValid()
      const { name } = keysOf(scope, header)
      for (let other = underWay.get(name); other; other = underWay.get(name)) {
        if (!request.waits) throw stillRunning()
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

/** Says nothing about what is stored: the caller repeats the request until it gets the stored answer (contract 23.1). */
function stillRunning(): Refusal {
  const { kind, messages } = refuse.inProgress()
  return new Refusal(kind, messages, { 'retry-after': '1' })
}

/** The first request gets the error. */
const settled = async (work: Promise<unknown> | undefined) => {
  await work?.catch(() => {})
}

/** Hashed between two turns of the event loop: takes about 5 ms. */
const PIECE_BYTES = 4 * 1024 * 1024

type Digester = Hash | Hmac

/** `isOf`: whether a stored digest is that of this request. */
async function recognised(seal: Seal, request: AskedRequest) {
  const requestDigest = await digestBy(hashesOf(seal)[0], request)
  return {
    requestDigest,
    async isOf(digest: Buffer): Promise<boolean> {
      if (digest.equals(requestDigest)) return true
      for (const hash of hashesOf(seal).slice(1)) if (digest.equals(await digestBy(hash, request))) return true
      return false
    },
  }
}

/** The first one is stored. Versions 0.1 and 0.2 stored, and recognise, a digest without a key. */
const hashesOf = (seal: Seal): [Digester, ...Digester[]] => {
  const keyed = seal.digesters('idempotency request')
  const plain = createHash('sha256')
  return seal.format === '1' ? [plain, ...keyed] : [...keyed, plain]
}

async function digestBy(hash: Digester, { route, body }: AskedRequest): Promise<Buffer> {
  hash.update(`${route}\n`)
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise(resume => setImmediate(resume))
    hash.update(body.subarray(at, at + PIECE_BYTES))
  }
  return hash.digest()
}

/** Thrown when an answer for the key already exists. */
export class KeyTaken extends Error {}
const mayBeAnswered = (error: unknown) => error instanceof KeyTaken || error instanceof Refusal
