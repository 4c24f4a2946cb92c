// The database of the tests behind a relay, so that a test can make the connection slow, silent or dead.
import pg from 'pg'
import { inject } from 'vitest'
import { createRelay, type Relay } from '../../faults/support/relay.ts'
import { databaseUrl } from './database.ts'

export async function relayed(): Promise<{ relay: Relay; url: string }> {
  const { host, port, user, password } = new pg.Client(databaseUrl(inject('server'), 'postgres'))
  const relay = await createRelay(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  const url = new URL(`postgresql://127.0.0.1:${relay.port}/postgres`)
  url.username = user ?? ''
  url.password = typeof password === 'string' ? password : ''
  return { relay, url: url.href }
}
