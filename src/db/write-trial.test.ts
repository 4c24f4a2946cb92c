import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { databaseUrl, onServer, poolOptions } from '../../test/support/database.ts'
import { connect, type Database } from './connect.ts'
import { createWriteTrial } from './write-trial.ts'

const name = `t_${randomUUID().replaceAll('-', '')}`
const SOON = { timeout: 60_000, interval: 50 }
let db: Database
beforeAll(async () => {
  await onServer(inject('server'), `create database ${name}`)
  db = connect({ url: databaseUrl(inject('server'), name) }, poolOptions)
})
afterAll(async () => {
  await db.stop()
  await onServer(inject('server'), `drop database if exists ${name} with (force)`)
})

function trialOf() {
  const changes: (string | null)[] = []
  const trial = createWriteTrial(db, problem => changes.push(problem), { restMs: 0, patienceMs: 200 })
  const become = (problem: string | null) => vi.waitFor(() => expect(trial.problem()).toBe(problem), SOON)
  return { trial, changes, become }
}

test('a read-only database is a problem until it is writable again, and leaves nothing behind', async () => {
  const { trial, changes, become } = trialOf()
  expect(trial.problem()).toBe(null)
  await onServer(inject('server'), `alter database ${name} set default_transaction_read_only = on`)
  trial.suspect()
  await become('the database is read-only')
  await onServer(inject('server'), `alter database ${name} reset default_transaction_read_only`)
  await become(null)
  expect(changes).toEqual(['the database is read-only', null])
  expect(await db.sql`select relname from pg_class where relname like 'herald%'`).toEqual([])
  await trial.stop()
})

test('a write that does not end is a problem, and is not tried beside it', async () => {
  const { trial, become } = trialOf()
  const blocker = db.client()
  await blocker.connect()
  await blocker.query('begin; create table herald_write_trial ()')
  trial.suspect()
  await become('writes to the database do not end')
  trial.suspect()
  const waiting = async () =>
    db.sql`select pid from pg_stat_activity where datname = ${name} and wait_event_type = 'Lock'`
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), SOON)
  await blocker.query('rollback')
  await become(null)
  await blocker.end()
  await trial.stop()
})

test('a stop ends a trial that waits', async () => {
  const { trial, become } = trialOf()
  const blocker = db.client()
  await blocker.connect()
  await blocker.query('begin; create table herald_write_trial ()')
  trial.suspect()
  await become('writes to the database do not end')
  await trial.stop()
  await blocker.end()
})
