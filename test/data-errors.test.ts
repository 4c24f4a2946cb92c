// An error in the data must be distinguished from an outage: the first is split and set aside, the second is retried.
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { connect, type Database } from '../src/db/connect.ts'
import { isDataError } from '../src/db/errors.ts'
import { databaseUrl, poolOptions } from './support/database.ts'

let db: Database
beforeAll(() => {
  db = connect({ url: databaseUrl(inject('server'), inject('template')) }, { ...poolOptions, statementSeconds: 1 })
})
afterAll(() => db.stop())

const fails = (statement: () => Promise<unknown>) => statement().then(() => null, isDataError)

test('an invalid value, a violated constraint and a limit of the database are errors in the data', async () => {
  expect(await fails(() => db.sql`select ${'a\u0000b'}::text`)).toBe(true)
  expect(await fails(() => db.sql`select to_timestamp(${1e300}::float8)`)).toBe(true)
  expect(await fails(() => db.sql`select ${'not a number'}::integer`)).toBe(true)
  expect(
    await fails(() =>
      db.transaction(async sql => {
        const add = () => sql`insert into handovers (provider, ref, id) values ('x', 'x', gen_random_uuid())`
        await add()
        await add()
      }),
    ),
  ).toBe(true)
  // Longer than an index entry may be.
  expect(
    await fails(
      () => db.sql`
        insert into handovers (provider, ref, id)
        select 'x', string_agg(md5(n::text), ''), gen_random_uuid() from generate_series(1, 1000) n`,
    ),
  ).toBe(true)
})

test('an outage, a missing partition and a wrong statement of ours are not', async () => {
  expect(await fails(() => db.sql`select pg_sleep(5)`)).toBe(false)
  expect(await fails(() => db.sql`select pg_terminate_backend(pg_backend_pid())`)).toBe(false)
  expect(await fails(() => db.sql`select nothing_that_is_there`)).toBe(false)
  expect(
    await fails(
      () => db.sql`
        insert into states (id, service_id, key_type, channel, in_job, status)
        values ('00000000-0000-7000-8000-000000000000', gen_random_uuid(), 'normal', 'email', false, 'created')`,
    ),
  ).toBe(false)
  expect(isDataError(new Error('Connection terminated unexpectedly'))).toBe(false)
})
