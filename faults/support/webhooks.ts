// Services with endpoints and readers, for the blocks about events.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { create as createKey } from '../../src/keys/create.ts'
import { CALLBACK_TYPES } from '../../src/webhooks/webhook.ts'
import type { Client, Sender } from './client.ts'
import { type Environment, OPERATOR } from './environment.ts'
import { judgeEndpoint, judgeFeed, judgeLog, type Logged, watchChanges } from './event-checker.ts'
import type { Env } from './herald.ts'
import type { Reader } from './reader.ts'
import { ALLOWED, createReceiver, type Delivery, type Receiver } from './receiver.ts'

/** `name`: its path at the receiver. */
export type Endpoint = { id: string; name: string; sender: Managing; types: string[] | null }
export type Managing = Sender & { manager: string }

/** A receiver and the independent record of statuses, as long as the block runs. */
export async function withReceiver<T>(
  environment: Environment,
  run: (receiver: Receiver, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'he-'))
  const receiver = await createReceiver(folder)
  const watch = await watchChanges(environment.store.db)
  try {
    return await run(receiver, folder)
  } finally {
    await watch.stop()
    await environment.store.db.script("delete from webhooks; delete from tickets where lane = 'webhooks'")
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export const allowing = (receiver: Receiver): Env => ({
  HERALD_WEBHOOK_ALLOW: `${ALLOWED}/32`,
  HERALD_WEBHOOK_PORTS: String(receiver.port),
  HERALD_WEBHOOK_SCHEMES: 'http',
})

/** The service with a further key, which may manage webhooks. */
export async function managing({ store }: Environment, sender: Sender): Promise<Managing> {
  const shape = { name: 'webhooks', key_type: 'normal' as const, manage_templates: false, manage_webhooks: true }
  const service = { id: sender.service, name: '', state: 'active' as const }
  return { ...sender, manager: (await createKey(store, OPERATOR, service, shape)).key }
}

type Shape = { batch?: number; types?: string[]; format?: 'standard' | 'callback'; host?: string }

export async function createEndpoint(
  client: Client,
  receiver: Receiver,
  sender: Managing,
  name: string,
  { host, ...shape }: Shape = {},
): Promise<Endpoint> {
  const token = shape.format === 'callback' ? { token: `token-of-${name}` } : {}
  const made = await manage(client, sender, 'POST', '', { url: receiver.addressOf(name, host), ...shape, ...token })
  const { id, secret, types } = made as { id: string; secret?: string; types: string[] | null }
  await receiver.set(name, { secret: secret ?? token.token ?? '' })
  return { id, name, sender, types: types ?? (token.token ? [...CALLBACK_TYPES] : null) }
}

/** A request about webhooks, repeated while nobody answers. */
export async function manage(client: Client, sender: Managing, method: string, path: string, body?: unknown) {
  for (let tries = 0; ; tries++) {
    const question = { key: sender.manager, ...(body !== undefined && { body }) }
    const reply = await client.ask(method, `/herald/v1/webhooks${path}`, question)
    if (reply.status >= 200 && reply.status < 300) return reply.body === '' ? null : (JSON.parse(reply.body) as unknown)
    if ((reply.status !== 0 && reply.status < 500) || tries > 50)
      throw new Error(`${method} /herald/v1/webhooks${path}: ${reply.status} ${reply.body.slice(0, 300)}`)
    await sleep(100)
  }
}

export type Following = { reader: Reader; sender: Sender }

/** The part of the log that an endpoint must be sent. */
export const wantedBy = (log: readonly Logged[], { sender, types }: Endpoint) =>
  ofService(log, sender).filter(event => types === null || types.includes(event.type))

const ofService = (log: readonly Logged[], sender: Sender) =>
  log.filter(event => event.service === sender.service && event.keyType === 'normal')

export type Outcome = {
  log: string[]
  feed: string[]
  endpoints: string[]
  changes: number
  events: number
  read: number
  /** At all endpoints together. */
  received: number
  repeats: number
  count: number
}

/** Waits until readers and endpoints have everything, and says what is still wrong after that time. */
export async function settled(
  environment: Environment,
  given: { senders: readonly Sender[]; readers: readonly Following[]; endpoints: readonly Endpoint[] },
  deliveries: () => readonly Delivery[],
  seconds = 30,
): Promise<Outcome> {
  const services = given.senders.map(sender => sender.service)
  for (const until = performance.now() + seconds * 1000; ; await sleep(300)) {
    const { violations, changes, events } = await judgeLog(environment.store.db.sql, services)
    const feed = given.readers.flatMap(({ reader, sender }, n) =>
      judgeFeed(`reader ${n}`, ofService(events, sender), reader.pages()),
    )
    const all = deliveries()
    const judged = given.endpoints.map(one => judgeEndpoint(one.name, wantedBy(events, one), all))
    const endpoints = judged.flatMap(one => one.violations)
    if (performance.now() < until && feed.length + endpoints.length > 0) continue
    return {
      log: violations,
      feed,
      endpoints,
      changes,
      events: events.length,
      read: given.readers.reduce((sum, { reader }) => sum + reader.pages().flatMap(page => page.events).length, 0),
      received: judged.reduce((sum, one) => sum + one.events, 0),
      repeats: judged.reduce((sum, one) => sum + one.repeats, 0),
      count: judged.length,
    }
  }
}
