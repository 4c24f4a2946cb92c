// Doors beside the interface: exports of the console, and pages that anyone may open. Cases of the block N (neighbours.ts).
import { fill } from '../../bench/support/fill.ts'
import { startSession } from '../../src/people/session.ts'
import { addUser } from '../../src/services/people.ts'
import type { Sender } from '../support/client.ts'
import { type Environment, OPERATOR } from '../support/environment.ts'
import type { Attack } from '../support/hostile.ts'
import type { Case } from './neighbours.ts'

const EXPORTED = 50_000
const SHAPE = { what: 'pages', share: 0.95, bound: 'twice', honest: 'lists' } as const

export const DOORS: readonly Case[] = [
  { ...SHAPE, id: 'N6', promise: 'one viewer opens 20 exports of 50,000 messages', connections: 20, prepare: exports },
  { ...SHAPE, id: 'N6b', promise: 'one viewer opens 60 of them', connections: 60, prepare: exports },
  { ...SHAPE, id: 'N7', promise: '/metrics on 10 connections', connections: 10, prepare: opens('/metrics') },
  { ...SHAPE, id: 'N7b', promise: '/openapi.json on 10', connections: 10, prepare: opens('/openapi.json') },
  { ...SHAPE, id: 'N7c', promise: '/docs/api on 10', connections: 10, prepare: opens('/docs/api') },
]

function opens(...paths: readonly string[]) {
  return async () => ({ paths })
}

/** A viewer of the hostile service, whose list is long. */
async function exports({ store }: Environment, { service, templates }: Sender): Promise<Partial<Attack>> {
  const viewer = await addUser(store, OPERATOR, service, { name: 'Viewer', email_address: `${service}@example.org` })
  const person = { id: viewer.person_id, email_address: viewer.email_address, name: viewer.name }
  const { token } = await startSession(store, person, { method: 'link', device: 'Firefox on Linux' })
  await fill({ store, service, templates }, { from: 0, to: EXPORTED, days: 0.01, status: 'delivered' })
  return { paths: [`/console/s/${service}/messages/export`], cookie: `herald-console=${token}` }
}
