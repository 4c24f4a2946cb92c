// Whether the database can store anything. A read does not show that its disk is full or hangs, or that it is read-only: so after a
// write has failed, a write is tried until one succeeds.
import pg from 'pg'
import { pause } from '../runtime/within.ts'
import type { Database } from './connect.ts'

export type WriteTrial = {
  /** Something could not be stored: a trial begins, unless one runs. */
  suspect(): void
  /** Why nothing can be stored; null: nothing is known to prevent it. */
  problem(): string | null
  stop(): Promise<void>
}

/** The trial takes new space, as messages do: an update of a small table succeeds on a full disk. Only a commit waits for the disk. */
const TRIAL = `
  begin;
  create table herald_write_trial (filler text);
  insert into herald_write_trial (filler) select repeat('x', 1900) from generate_series(1, 512);
  drop table herald_write_trial;
  commit`

/** Each trial writes a little WAL, for which a full disk has no room for long. */
const AGAIN_MS = { first: 1_000, longest: 5_000 }
/** Errors that a trial does not see may go on: they start one only so often. */
const REST_MS = 10_000
/** A trial that takes longer is a problem; it goes on, because the next one would only wait beside it. */
const PATIENCE_MS = 3_000

/** `onChange`: called with the problem, and with null when there is none any more. */
export function createWriteTrial(
  db: Pick<Database, 'client'>,
  onChange: (problem: string | null, error: unknown) => void,
  { restMs = REST_MS, patienceMs = PATIENCE_MS } = {},
): WriteTrial {
  const stopping = new AbortController()
  const { signal } = stopping
  let problem: string | null = null
  let series: Promise<void> | null = null
  let succeededAt = Number.NEGATIVE_INFINITY

  function found(now: string | null, error: unknown = null) {
    if (now === problem || signal.aborted) return
    problem = now
    onChange(problem, error)
  }

  async function attempt(): Promise<boolean> {
    const client = db.client()
    const destroy = () => client.destroy()
    signal.addEventListener('abort', destroy)
    const patience = setTimeout(() => found(UNANSWERED), patienceMs)
    try {
      await client.connect()
      await client.query(TRIAL)
      return true
    } catch (error) {
      if (isForbidden(error)) return true
      found(sentenceOf(error), error)
      return false
    } finally {
      clearTimeout(patience)
      signal.removeEventListener('abort', destroy)
      destroy()
    }
  }

  async function tryUntilStored() {
    await pause(Math.max(0, succeededAt + restMs - performance.now()), signal)
    for (let again = AGAIN_MS.first; !signal.aborted && !(await attempt()); again *= 2)
      await pause(Math.min(again, AGAIN_MS.longest), signal)
    succeededAt = performance.now()
    found(null)
  }

  return {
    suspect() {
      if (signal.aborted) return
      series ??= tryUntilStored().finally(() => {
        series = null
      })
    },
    problem: () => problem,
    async stop() {
      stopping.abort()
      await series
    },
  }
}

/** The user may not create tables: the trial says nothing about other writes. */
const isForbidden = (error: unknown) => error instanceof pg.DatabaseError && error.code === '42501'

const UNANSWERED = 'writes to the database do not end'

function sentenceOf(error: unknown): string {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  return SENTENCES[code] ?? (code ? `the database refuses a write (${code})` : 'the database does not answer a write')
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SENTENCES: Readonly<Record<string, string>> = {
  '25006': 'the database is read-only',
  '53100': 'the disk of the database is full',
}
