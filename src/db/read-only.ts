// A database that is not ours and is only read: one connection, one snapshot, and a server that refuses every change. A standby
// will do, because nothing is written.
import pg from 'pg'
import { clientSettings, type Sql, tagFor } from './connect.ts'

const SECONDS = 300

export async function readOnly<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const settings = clientSettings(
    { url },
    { size: 1, name: 'herald-import', statementSeconds: SECONDS, onIdleError() {} },
  )
  const client = new pg.Client({ ...settings, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {}) // the statement in progress fails with the same error
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    return await work(tagFor(query => client.query(query)))
  } finally {
    await client.end()
  }
}
