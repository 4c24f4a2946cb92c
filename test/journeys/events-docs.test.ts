// The programs of docs/events.md and of the guide about webhooks, run as they are printed: receivers that check signatures, and a
// reader of the feed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../support/port.ts'
import { type Env, type Program, programs, type Sample } from '../support/program.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const [page, guide] = ['docs/events.md', 'docs/guides/webhooks.md'].map(file => readFileSync(file, 'utf8')) as [
  string,
  string,
]
const { newDatabase, herald, start, sample } = programs()
const folder = mkdtempSync(join(tmpdir(), 'herald-examples-'))
const children: ChildProcess[] = []
let env: Env
let program: Program
let made: Sample
let manager: string

beforeAll(async () => {
  env = {
    ...(await newDatabase()),
    HERALD_WEBHOOK_ALLOW: '127.0.0.1',
    HERALD_WEBHOOK_PORTS: '1024-65535',
    HERALD_WEBHOOK_SCHEMES: 'https,http',
  }
  program = await start(env)
  // As in a project that has installed the client.
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules/herald'))
  made = await sample(env)
  const { services } = JSON.parse((await herald(['service', 'list', '--json'], env)).out) as {
    services: { name: string }[]
  }
  const service = services[0]?.name ?? ''
  const argv = ['key', 'create', service, '--name', 'hooks', '--type', 'test', '--manage-webhooks', '--json']
  manager = (JSON.parse((await herald(argv, env)).out) as { key: string }).key
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

async function ask(method: string, path: string, key: string, body?: object) {
  const answer = await fetch(program.address + path, {
    method,
    headers: { authorization: `ApiKey-v1 ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return JSON.parse(text)
}

const send = async (): Promise<string> =>
  (
    await ask('POST', '/v2/notifications/email', made.keys.test, {
      template_id: made.templates.email.id,
      email_address: 'ada@example.org',
      personalisation: { name: 'Ada' },
      reference: 'docs',
    })
  ).id

/** Runs a program and collects what it prints. */
function run(command: string, file: string, text: string, more: Env) {
  const place = join(folder, file)
  writeFileSync(place, text)
  const { PATH = '' } = process.env
  const child = spawn(command, [place], { env: { PATH, ...more }, stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  let out = ''
  child.stdout.on('data', piece => {
    out += String(piece)
  })
  return () => out
}

const idsIn = (out: string) => [...out.matchAll(/^([0-9a-f-]{36}) notification\.delivered/gm)].map(([, id]) => id)

const receivers = [
  { name: 'Node', from: page, mark: 'js', command: process.execPath, file: 'receiver.mjs', batch: 1 },
  { name: 'Python', from: page, mark: 'python', command: 'python3', file: 'receiver.py', batch: 100 },
  { name: 'Node with our client', from: guide, mark: 'js', command: process.execPath, file: 'guide.mjs', batch: 1 },
] as const

for (const { name, from, mark, command, file, batch } of receivers)
  test.skipIf(spawnSync(command, ['--version']).status !== 0)(`the receiver in ${name}`, async () => {
    const text = new RegExp(`\`\`\`${mark} receiver\n(.*?)\`\`\``, 's').exec(from)?.[1] ?? ''
    const port = await freePort()
    const types = ['notification.delivered']
    const url = `http://127.0.0.1:${port}/events`
    const webhook = await ask('POST', '/herald/v1/webhooks', manager, { url, types, batch })
    const out = run(command, file, text, { SECRET: webhook.secret, PORT: String(port) })
    await vi.waitFor(async () => {
      const tried = await ask('POST', `/herald/v1/webhooks/${webhook.id}/test`, manager)
      expect(tried).toMatchObject({ success: true, status_code: 204 })
    }, 20_000)
    expect(out()).toContain('webhook.test')
    const id = await send()
    await vi.waitFor(() => expect(idsIn(out())).toHaveLength(1), 20_000)
    // The same id in the feed and in the timeline.
    const { events } = await ask('GET', `/herald/v1/events?types=${types}&limit=1000`, manager)
    const event = events.find((one: { data: { notification_id: string } }) => one.data.notification_id === id)
    expect(idsIn(out())).toEqual([event.id])
    const { entries } = await ask('GET', `/herald/v1/notifications/${id}/timeline`, manager)
    expect(entries.map((entry: { event_id: string | null }) => entry.event_id)).toContain(event.id)
    // Somebody else who knows the address, and not the secret.
    const headers = { 'webhook-id': event.id, 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}` }
    for (const signature of ['v1,', `v1,${Buffer.alloc(32).toString('base64')}`]) {
      const forged = { ...headers, 'webhook-signature': signature, 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers: forged, body: JSON.stringify(event) })
      expect(answer.status).toBe(401)
    }
    expect(idsIn(out())).toEqual([event.id])
    await ask('DELETE', `/herald/v1/webhooks/${webhook.id}`, manager)
  })

test('the reader in Node', async () => {
  const text = /```js\n(let after.*?)```/s.exec(page)?.[1] ?? ''
  const out = run(process.execPath, 'reader.mjs', text, { HERALD: program.address, KEY: manager })
  // It begins with what happens after it has asked: it is sent messages until it has seen one.
  await vi.waitFor(async () => {
    await send()
    expect(out()).toMatch(/^[0-9a-f-]{36} notification\.delivered docs$/m)
  }, 20_000)
})
