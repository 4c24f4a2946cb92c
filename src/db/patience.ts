// Patience: a statement of a request that meets a lost or refused connection, or a server that is read-only now, waits for the
// primary and is repeated, so that a switchover fails no request. Only what certainly changed nothing is repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import { canRepeat, type Database, isPart, mayHaveCommitted, type Sql } from './connect.ts'

type Answering = Pick<Database, 'isAnswering'>

/**
 * The same database with patience. A single statement is repeated when it was not run, and a read also when its answer was lost. A
 * transaction is repeated when none of its statements was sent: its callback is called once at most.
 */
export function createPatient(db: Database, seconds: number): Database {
  return {
    ...db,
    sql: ((strings: TemplateStringsArray, ...values: unknown[]) =>
      persist(
        db,
        seconds,
        () => db.sql(strings, ...values),
        error => canRepeat(error) || (mayHaveCommitted(error) && isIdempotent(textOf(strings, values))),
      )) as Sql,
    transaction(work) {
      let hasBegun = false
      const begin = () =>
        db.transaction(sql => {
          hasBegun = true
          return work(sql)
        })
      return persist(db, seconds, begin, error => !hasBegun && canRepeat(error))
    },
  }
}

async function persist<T>(
  db: Answering,
  seconds: number,
  run: () => Promise<T>,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  const until = performance.now() + seconds * 1000
  for (;;)
    try {
      return await run()
    } catch (error) {
      if (!mayRepeat(error) || !(await answersBefore(db, until))) throw error
    }
}

/** Waits for a moment, and on until statements can be run again. False: not before `until`, which is by performance.now(). */
export async function answersBefore(db: Answering, until: number): Promise<boolean> {
  do {
    const left = until - performance.now()
    if (left <= 0) return false
    await sleep(Math.min(PAUSE_MS, left))
  } while (!db.isAnswering())
  return performance.now() < until
}

const PAUSE_MS = 50

/** All text of a statement, also that of its parts. Values are parameters and not in it. */
const textOf = (strings: readonly string[], values: readonly unknown[]): string =>
  [...strings, ...values.map(value => (isPart(value) ? textOf(value.strings, value.values) : ''))].join(' ')

/** Whether it can be run twice: a read, or a delete whose result is not used. */
const isIdempotent = (text: string) => {
  const [, verb = '', rest = ''] = /^\s*(\w+)(.*)$/s.exec(text) ?? []
  if (/^delete$/i.test(verb)) return !/\breturning\b/i.test(rest)
  return /^(select|with)$/i.test(verb) && !/\b(insert|update|delete|merge|nextval|setval|pg_\w*lock\w*)\b/i.test(rest)
}
