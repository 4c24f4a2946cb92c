// B2: a restored copy does not send on its own. It is held; a release sends what is new, keeps back what may have been sent, and
// chosen messages follow.
import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test } from 'vitest'
import { run } from '../src/cli/run.ts'
import { readConfig } from '../src/config/index.ts'
import { start } from '../src/main.ts'
import { databaseUrl, onServer } from './support/database.ts'
import { EMAIL, emailTemplate, inMinutes, type Key } from './support/sends.ts'
import { callerWith, world } from './support/world.ts'

const copies: string[] = []
afterAll(async () => {
  for (const name of copies) await onServer(inject('server'), `drop database if exists ${name} with (force)`)
})

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
type Json = any

async function herald(
  env: Record<string, string>,
  ...argv: string[]
): Promise<{ code: number; data: Json; err: string }> {
  let out = ''
  let err = ''
  const streams = {
    out(text: string) {
      out += text
    },
    err(text: string) {
      err += text
    },
  }
  const code = await run([...argv, '--json'], streams, () => readConfig(env))
  return { code, data: out === '' ? null : JSON.parse(out), err }
}

const email = async (key: Pick<Key, 'post'>, template_id: string, scheduled_for?: string) => {
  const body = { email_address: 'ada@example.net', template_id, personalisation: { name: 'Ada' }, scheduled_for }
  const reply = await key.post(EMAIL, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.body.id as string
}
const statusOf = async (key: Pick<Key, 'get'>, id: string) => (await key.get(`/v2/notifications/${id}`)).body.status
const becomes = (key: Pick<Key, 'get'>, id: string, status: string) =>
  expect.poll(() => statusOf(key, id), { interval: 20, timeout: 30_000 }).toBe(status)
const held = async (address: string) =>
  Number(/^herald_held (\d)$/m.exec(await (await fetch(`${address}/metrics`)).text())?.[1])

test('hold stops a running service from sending, release resumes it', async () => {
  const here = await world({}, { engine: true })
  const env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_DATA: here.config.dataFolder }
  const key = await (await here.service()).key()
  const template = await emailTemplate(key)
  await becomes(key, await email(key, template), 'delivered')
  expect(await held(here.address)).toBe(0)

  expect(await herald(env, 'hold')).toMatchObject({ code: 0, data: { reason: 'asked' } })
  await expect.poll(() => held(here.address), { timeout: 20_000 }).toBe(1)
  const waiting = await email(key, template)
  expect(await herald(env, 'release')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/Give exactly one of --cut-off/),
  })
  // Engines poll every second; within one and a half nothing may have happened.
  await new Promise(resume => setTimeout(resume, 1_500))
  expect(await statusOf(key, waiting)).toBe('created')

  expect(await herald(env, 'release', '--all')).toMatchObject({ code: 0, data: { released: 1, kept: 0 } })
  await becomes(key, waiting, 'delivered')
  expect(await herald(env, 'held')).toMatchObject({ code: 0, data: { held_since: null, kept: [] } })
}, 120_000)

test('hold and held name a command that resumes sending as it stands', async () => {
  const here = await world()
  const config = readConfig({ DATABASE_URL: here.config.databaseUrl ?? '', HERALD_DATA: here.config.dataFolder })
  const said = async (...argv: string[]) => {
    const lines: string[] = []
    const say = (text: string) => void lines.push(text)
    const code = await run(argv, { out: say, err: say }, () => config)
    return { code, text: lines.join('') }
  }
  const named = async (...argv: string[]) => /To resume: herald (release[^,\n]*)/.exec((await said(...argv)).text)?.[1]

  for (const [argv, command] of [
    [['hold'], 'release --all'],
    [['hold', '--restored'], 'release --cut-off TIME'],
  ] as const) {
    expect(await named(...argv)).toBe(command)
    expect(await named('held')).toBe(command)
    expect(await said(...command.replace('TIME', 'now').split(' '))).toMatchObject({ code: 0 })
    expect((await said('held')).text).toContain('Sending is not held.')
  }
}, 120_000)

test('a copy of a database starts held, and a release sends only new messages that were never attempted', async () => {
  const here = await world()
  const service = await here.service()
  const key = await service.key()
  const template = await emailTemplate(key)
  const ids = {
    due: await email(key, template),
    tried: await email(key, template),
    later: await email(key, template, inMinutes(60)),
  }
  // The state that an engine leaves which crashed between taking and recording, with its lease still valid.
  await here.parts.db.sql`
    update tickets
    set takes = 1,
        owner = gen_random_uuid(),
        leased_until = clock_timestamp() + interval '30 seconds',
        due_at = clock_timestamp() + interval '1 minute'
    where ${ids.tried} = any (subjects)`
  await here.running.stop()

  const name = `t_${randomUUID().replaceAll('-', '')}`
  const original = /t_[0-9a-f]+/.exec(here.config.databaseUrl ?? '')?.[0]
  await onServer(inject('server'), `create database ${name} template ${original}`)
  copies.push(name)
  const env = {
    DATABASE_URL: databaseUrl(inject('server'), name),
    HERALD_DATA: here.config.dataFolder,
    HERALD_PORT: '0',
    HERALD_LOG_LEVEL: 'silent',
  }
  const said: string[] = []
  const copy = await start(readConfig(env), { say: line => said.push(line) })
  try {
    expect(said.join()).toMatch(/Nothing is sent: this database is held.*herald release/)
    const caller = callerWith(copy.address, key.key)
    expect(await held(copy.address)).toBe(1)
    const fresh = await email(caller, template)
    await new Promise(resume => setTimeout(resume, 1_500))
    const all = [...Object.values(ids), fresh]
    expect(await Promise.all(all.map(id => statusOf(caller, id)))).toEqual(all.map(() => 'created'))

    // The original stopped a moment before the copy accepted its first message.
    const [ticket] = await copy.parts.db.sql<{ at: string }>`
      select to_char(due_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from tickets where ${fresh} = any (subjects)`
    const cutOff = ticket?.at ?? ''
    expect(await herald(env, 'release', '--cut-off', 'yesterday')).toMatchObject({ code: 2 })
    expect(await herald(env, 'release', '--cut-off', cutOff)).toMatchObject({ code: 0, data: { kept: 2 } })
    await becomes(caller, fresh, 'delivered')
    expect(await statusOf(caller, ids.later)).toBe('created')
    expect(await statusOf(caller, ids.due)).toBe('created')
    const { data } = await herald(env, 'held')
    expect(data.held_since).toBe(null)
    expect(data.kept.map(({ ids, tried }: Json) => ({ ids, tried }))).toEqual([
      { ids: [ids.due], tried: false },
      { ids: [ids.tried], tried: true },
    ])

    expect(await herald(env, 'release', '--id', ids.tried, '--id', fresh)).toMatchObject({
      code: 1,
      data: { released: [ids.tried], missing: [fresh] },
    })
    await becomes(caller, ids.tried, 'delivered')
    const [state] = await copy.parts.db.sql<Json>`select uncertain, attempts from states where id = ${ids.tried}`
    expect(state).toEqual({ uncertain: true, attempts: 2 })
    expect(await statusOf(caller, ids.due)).toBe('created')
  } finally {
    await copy.stop()
  }

  // After a restart it is the same database, and sending continues.
  const again = await start(readConfig(env), { say: line => said.push(line) })
  expect(await held(again.address)).toBe(0)
  await again.stop()
}, 120_000)

test('of a ticket with many messages, the chosen ones are sent and the rest stays', async () => {
  const here = await world()
  const env = { DATABASE_URL: here.config.databaseUrl ?? '', HERALD_DATA: here.config.dataFolder }
  const key = await (await here.service()).key()
  const template = await emailTemplate(key)
  const ids = [await email(key, template), await email(key, template), await email(key, template)].sort()
  const { sql } = here.parts.db
  await sql`delete from tickets where subjects <> array[${ids[0]}::uuid]`
  await sql`update tickets set subjects = ${ids}::uuid[]`
  await herald(env, 'hold', '--restored')
  expect(await herald(env, 'release', '--cut-off', 'now')).toMatchObject({ data: { released: 0, kept: 3 } })
  expect(await herald(env, 'release', '--id', ids[1] ?? '')).toMatchObject({ data: { released: [ids[1]] } })
  const rows = await sql<Json>`select lane, subjects from tickets order by lane`
  expect(rows).toEqual([
    { lane: 'email-low', subjects: [ids[1]] },
    { lane: 'kept-email-low', subjects: [ids[0], ids[2]] },
  ])
  expect(await herald(env, 'release', '--all')).toMatchObject({ data: { released: 3, kept: 0 } })
}, 120_000)

test('a database is recognised by the same text as in earlier versions: an upgrade does not hold it', async () => {
  const { parts } = await world()
  const [row] = await parts.db.sql<{ same: boolean }>`
    select database = concat_ws('/', (select oid from pg_database where datname = current_database()),
             'sending'::regclass::oid, 'migrations'::regclass::oid, 'notifications'::regclass::oid) as same
    from sending`
  expect(row).toEqual({ same: true })
})
