// A running Herald on a database of its own, and callers that send HTTP requests to it.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Operator } from '../../src/audit/actor.ts'
import { readConfig } from '../../src/config/index.ts'
import { type Clock, createClock } from '../../src/core/clock.ts'
import type { Id } from '../../src/core/id.ts'
import { inboxToken } from '../../src/inbox/link.ts'
import { create as createKey } from '../../src/keys/create.ts'
import { start } from '../../src/main.ts'
import type { Parts } from '../../src/parts.ts'
import { change } from '../../src/services/change.ts'
import { create as createService } from '../../src/services/create.ts'
import { addOrigin } from '../../src/services/origins.ts'
import { addUser } from '../../src/services/people.ts'
import { addToSafelist } from '../../src/services/safelist.ts'
import { addFolder } from '../../src/templates/folders.ts'
import { databaseUrl, onServer } from './database.ts'
import { atEnd } from './ends.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
export type Reply = { status: number; body: any; headers: Headers; text: string }

/** Starts the service, with the engine only where a test wants messages to be sent; everything ends with the test file. */
export async function world(
  env: Record<string, string> = {},
  { engine = false, urlOf }: { engine?: boolean; urlOf?: (database: string) => string } = {},
) {
  const server = inject('server')
  const database = `t_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${database} template ${inject('template')}`)
  const data = mkdtempSync(join(tmpdir(), 'herald-world-'))
  const config = readConfig({
    DATABASE_URL: urlOf?.(database) ?? databaseUrl(server, database),
    HERALD_DATA: data,
    HERALD_PORT: '0',
    HERALD_CAPTURE: '1',
    HERALD_LOG_LEVEL: 'silent',
    ...env,
  })
  // The clock can be moved, because it is the one thing a test may fake; the database clock stays unchanged.
  let moved = 0
  const real = createClock()
  const micros = () => real.micros() + moved * 1000
  const clock: Clock = { micros, now: () => Math.floor(micros() / 1000), follow: real.follow }
  const running = await start(config, { clock, say: () => {}, ...(!engine && { only: 'http' }) })
  atEnd(async () => {
    await running.stop()
    await onServer(server, `drop database if exists ${database} with (force)`)
    rmSync(data, { recursive: true, force: true })
  })
  const { parts, port } = running
  // Where it actually listens, whatever its public address is.
  const address = `http://127.0.0.1:${port}`
  return {
    parts,
    address,
    port,
    config,
    running,
    moveClock: (ms: number) => {
      moved += ms
    },
    call: (method: string, path: string, options: CallOptions = {}) => call(address, method, path, options),
    /** The inbox as JSON, for the holder of its link. */
    inbox: (path = '/inbox') => call(address, 'GET', `${path}?token=${inboxToken(parts)}`),
    service: (options: ServiceOptions = {}) => makeService(parts, address, options),
  }
}

export type World = Awaited<ReturnType<typeof world>>

type CallOptions = { body?: unknown; raw?: string | Buffer; headers?: Record<string, string> }

/** One request, exactly as given; `raw` sends the bytes unchanged. */
export async function call(address: string, method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  const { body, raw, headers = {} } = options
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(address + path, {
    method,
    redirect: 'manual',
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(payload !== undefined && { body: payload as string }),
  })
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  return { status: response.status, body: isJson && text ? JSON.parse(text) : text, headers: response.headers, text }
}

type ServiceOptions = { name?: string; mode?: 'trial' | 'live' } & Parameters<typeof change>[3]
type KeyOptions = {
  type?: 'normal' | 'team' | 'test'
  manageTemplates?: boolean
  manageWebhooks?: boolean
  name?: string
}

/** The actor that creates the objects of a test. */
export const OPERATOR: Operator = { kind: 'operator', name: 'tests' }

async function makeService(parts: Parts, address: string, options: ServiceOptions) {
  const { name = `Test service ${randomUUID()}`, mode = 'live', ...changes } = options
  const { id } = await createService(parts, OPERATOR, { name, mode })
  const service = await change(parts, OPERATOR, id, { name, ...changes })
  const user = await addUser(parts, OPERATOR, id, {
    name: 'Maria',
    email_address: 'maria@example.org',
    phone_number: '+16135550199',
  })
  return {
    ...service,
    user,
    async key({ type = 'normal', manageTemplates = true, manageWebhooks = false, name = 'a key' }: KeyOptions = {}) {
      const made = await createKey(parts, OPERATOR, service, {
        name,
        key_type: type,
        manage_templates: manageTemplates,
        manage_webhooks: manageWebhooks,
      })
      return { ...made, ...callerWith(address, made.key) }
    },
    change: (wanted: Parameters<typeof change>[3]) => change(parts, OPERATOR, id, wanted),
    addReplyTo: (value: string, makeDefault = false) =>
      addOrigin(parts, OPERATOR, 'reply-to', id, { value, makeDefault }),
    addSender: (value: string, makeDefault = false) => addOrigin(parts, OPERATOR, 'sender', id, { value, makeDefault }),
    addToSafelist: (recipient: string) => addToSafelist(parts, OPERATOR, id, recipient),
    addFolder: (folder: string) => addFolder(parts, OPERATOR, id, folder),
  }
}

export type Caller = ReturnType<typeof callerWith>

export function callerWith(address: string, key: string) {
  const headers = { authorization: `ApiKey-v1 ${key}` }
  const as =
    (method: string) =>
    (path: string, body?: unknown, more: Record<string, string> = {}) =>
      call(address, method, path, { ...(body !== undefined && { body }), headers: { ...headers, ...more } })
  return { key, get: as('GET'), post: as('POST'), patch: as('PATCH'), delete: as('DELETE'), put: as('PUT') }
}

export const CATEGORY = {
  general: '207b293c-2ae5-48e8-836d-fcabd60b2153' as Id,
  authentication: 'b6c42a7e-2a26-4a07-802b-123a5c3198a9' as Id,
}
