// One-time links: who gets one, what it is worth, that it is spent once, and that nothing tells whether an address is known.
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LOOPBACK } from '../../src/core/network.ts'
import { MAIL_LANE } from '../../src/mails/mail.ts'
import {
  askForLink,
  isReturnPath,
  linkPath,
  printLink,
  readLink,
  signInByLink,
  spendLink,
} from '../../src/people/links.ts'
import { removeMember } from '../../src/people/members.ts'
import type { Person } from '../../src/people/person.ts'
import { readSession, startSession } from '../../src/people/session.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { newToken } from '../../src/people/token.ts'
import { countTry, MERGE_MINUTES, MOST_TRIES } from '../../src/people/tries.ts'
import { addUser } from '../../src/services/people.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const CONSOLE = 'https://herald.example.org/console'
let here: World
let service: Awaited<ReturnType<World['service']>>
beforeAll(async () => {
  here = await world({ HERALD_BASE_URL: 'https://herald.example.org' }, { engine: true })
  service = await here.service()
})
// The tries of one test do not count for the next, nor do mails that are sent later.
beforeEach(async () => {
  await here.parts.db.sql`delete from sign_in_tries`
  await sendLater()
})

async function member(): Promise<string> {
  const email_address = `${randomUUID()}@example.org`
  await addUser(here.parts, OPERATOR, service.id, { name: 'Ada Park', email_address })
  return email_address
}

const asking = (address: string, more: object = {}) => ({
  address,
  browser: newToken(),
  network: '192.0.2.7',
  knownAs: null,
  device: 'Firefox on Linux',
  console: CONSOLE,
  ...more,
})

type Message = { to: string; subject: string; text: string; html: string | null; from: string }
const mailsTo = async (address: string): Promise<Message[]> =>
  (await here.inbox()).body.messages.filter(({ to }: Message) => to === address)

/** Asks, and takes the token from the mail in the inbox. */
async function asked(address: string, more: object = {}) {
  const request = asking(address, more)
  const before = (await mailsTo(address)).length
  await askForLink(here.parts, request)
  await expect.poll(async () => (await mailsTo(address)).length, { interval: 20, timeout: 10_000 }).toBe(before + 1)
  const token = /\/sign-in\/link\/([\w-]+)$/m.exec((await mailsTo(address))[0]?.text ?? '')?.[1] ?? ''
  return { token, browser: request.browser }
}

const MINUTE = 60_000

/** Mails that are sent later are sent now. Returns how many. */
const sendLater = async () =>
  (
    await here.parts.db.sql`
      update tickets set due_at = now() where lane = ${MAIL_LANE} and due_at > now() + interval '10 seconds' returning id`
  ).length

describe('a link by mail', () => {
  test('is in a plain mail that says who asked with what', async () => {
    const address = await member()
    const { token } = await asked(address)
    const [mail] = await mailsTo(address)
    expect(mail).toMatchObject({ subject: 'Sign in to Herald', html: null, from: 'Herald <herald@herald.example>' })
    expect(mail?.text).toContain(`\n${CONSOLE}${linkPath(token)}\n`)
    expect(mail?.text).toContain('Firefox on Linux')
    expect(mail?.text).toContain('If you did not ask for it, ignore this mail')
  })

  test('is in the language of the page, unless the person has chosen one', async () => {
    const address = await member()
    const newest = async (count: number) => {
      await expect.poll(async () => (await mailsTo(address)).length, { interval: 20, timeout: 10_000 }).toBe(count)
      return (await mailsTo(address))[0]
    }
    await askForLink(here.parts, asking(address, { language: 'fr' }))
    const mail = await newest(1)
    expect(mail?.subject).toBe('Se connecter à Herald')
    expect(mail?.text).toContain('Il a été demandé avec Firefox sur Linux.')
    expect(mail?.text).toMatch(/\n\nhttps?:\/\/\S+\/sign-in\/link\/[\w-]{43}\n\n/)
    await here.parts.db.sql`update people set language = 'en' where email_address = ${address}`
    await askForLink(here.parts, asking(address, { language: 'fr' }))
    expect((await newest(2))?.subject).toBe('Sign in to Herald')
  })

  test('signs in once, in the browser that asked, and looking at it spends nothing', async () => {
    const address = await member()
    const { token, browser } = await asked(address, { returnTo: '/s/x?y=1' })
    for (const _ of [1, 2, 3])
      expect(await readLink(here.parts, token, browser)).toMatchObject({ state: 'valid', returnTo: '/s/x?y=1' })
    const other = newToken()
    expect(await readLink(here.parts, token, other)).toEqual({ state: 'other-browser' })
    expect(await spendLink(here.parts, token, other)).toEqual({ state: 'other-browser' })
    const spent = await spendLink(here.parts, token, browser)
    expect(spent).toMatchObject({ state: 'valid', person: { email_address: address }, returnTo: '/s/x?y=1' })
    expect(await spendLink(here.parts, token, browser)).toEqual({ state: 'used' })
    expect(await readLink(here.parts, token, browser)).toEqual({ state: 'used' })
    if (spent.state !== 'valid') throw new Error('not spent')
    const session = await startSession(here.parts, spent.person, { method: 'link', device: 'Firefox on Linux' })
    expect((await readSession(here.parts, session.token))?.person.email_address).toBe(address)
  })

  test('starts a session, and ends the one that the browser had', async () => {
    const address = await member()
    const [first, second] = [await asked(address), await asked(address)]
    const how = { device: 'Firefox on Linux', before: null }
    const begun = await signInByLink(here.parts, first.token, first.browser, how)
    if (begun.state !== 'valid') throw new Error('not signed in')
    expect((await readSession(here.parts, begun.session))?.person.email_address).toBe(address)
    expect(await signInByLink(here.parts, first.token, first.browser, how)).toEqual({ state: 'used' })
    const before = begun.session
    expect(await signInByLink(here.parts, second.token, second.browser, { ...how, before })).toMatchObject({
      ...{ state: 'valid', returnTo: null },
    })
    expect(await readSession(here.parts, before)).toBe(null)
  })

  test('is spent by one of many at the same moment', async () => {
    const { token, browser } = await asked(await member())
    const results = await Promise.all(Array.from({ length: 20 }, () => spendLink(here.parts, token, browser)))
    expect(results.filter(({ state }) => state === 'valid')).toHaveLength(1)
    expect(results.filter(({ state }) => state === 'used')).toHaveLength(19)
  })

  test('is over after 15 minutes', async () => {
    const { token, browser } = await asked(await member())
    here.moveClock(14.9 * MINUTE)
    expect(await readLink(here.parts, token, browser)).toMatchObject({ state: 'valid' })
    here.moveClock(0.2 * MINUTE)
    expect(await readLink(here.parts, token, browser)).toEqual({ state: 'over' })
    expect(await spendLink(here.parts, token, browser)).toEqual({ state: 'over' })
  })

  test('goes to the stored address, not to what was typed', async () => {
    const address = await member()
    const typed = address.replace('@example.org', '@EXAMPLE.org')
    await askForLink(here.parts, asking(typed))
    await expect.poll(async () => (await mailsTo(address)).length, { timeout: 10_000 }).toBe(1)
    expect(await mailsTo(typed)).toEqual([])
  })

  test('is stored as digests only, and the browser too', async () => {
    const { token, browser } = await asked(await member())
    const stored = await here.parts.db.sql<{ row: string }>`select l::text as row from sign_in_links l`
    for (const { row } of stored) for (const secret of [token, browser]) expect(row).not.toContain(secret)
  })

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'x', '', '/a\nb', `/${'x'.repeat(2_001)}`])(
    'does not lead to %.20j',
    async returnTo => {
      expect(isReturnPath(returnTo)).toBe(false)
      const { token, browser } = await asked(await member(), { returnTo })
      expect(await readLink(here.parts, token, browser)).toMatchObject({ state: 'valid', returnTo: null })
    },
  )

  test.each([null, undefined, '', 'x', '\0', newToken(), ['x']])('is over for the token %j', async token => {
    expect(await readLink(here.parts, token, newToken())).toEqual({ state: 'over' })
    expect(await spendLink(here.parts, token, newToken())).toEqual({ state: 'over' })
  })

  test('never begins with the address of the request, unless it is this machine', async () => {
    const address = await member()
    const evil = asking(address, { console: 'https://evil.example/console' })
    await expect(askForLink(here.parts, evil)).rejects.toThrow('Set HERALD_BASE_URL')
    const local = { ...here.parts, config: { ...here.parts.config, baseUrl: null } }
    await expect(askForLink(local, evil)).rejects.toThrow('Set HERALD_BASE_URL')
    await askForLink(local, asking(address, { console: 'http://127.0.0.1:6012/console' }))
    await expect.poll(async () => (await mailsTo(address)).length, { timeout: 10_000 }).toBe(1)
  })
})

const unknown = () => `${randomUUID()}@example.org`

describe('nothing tells whether an address is known', () => {
  const outcome = (address: string) =>
    askForLink(here.parts, asking(address)).then(
      ({ isLater }) => (isLater ? 'done later' : 'done'),
      error => String(error),
    )

  test('the same outcome, also of a seventh try, and nothing is sent to an unknown address', async () => {
    const [known, stranger] = [await member(), unknown()]
    const former = await member()
    await removeMember(here.parts, OPERATOR, service.id, former)
    const results = []
    for (const address of [known, stranger, former]) {
      const tries = []
      for (let n = 0; n < 7; n++) tries.push(await outcome(address))
      results.push(tries)
    }
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
    expect(results[0]).toEqual([...Array(3).fill('done'), ...Array(4).fill('done later')])
    await sendLater()
    await expect
      .poll(async () => (await mailsTo(known)).length, { timeout: 10_000, interval: 50 })
      .toBe(MOST_TRIES.address + 1)
    for (const address of [stranger, former]) expect(await mailsTo(address)).toEqual([])
  })

  test('about the same time', async () => {
    const idle = await world({ HERALD_BASE_URL: 'https://herald.example.org' })
    const team = await idle.service()
    const known = Array.from({ length: 60 }, () => unknown())
    for (const email_address of known) await addUser(idle.parts, OPERATOR, team.id, { name: 'Ada', email_address })
    const times = { known: [] as number[], unknown: [] as number[] }
    const clear = () => idle.parts.db.sql`delete from sign_in_tries`
    for (const [n, address] of known.entries()) {
      if (n % 10 === 0) await clear()
      for (const [kind, to] of [['known', address] as const, ['unknown', unknown()] as const]) {
        const since = performance.now()
        await askForLink(idle.parts, asking(to))
        times[kind].push(performance.now() - since)
      }
    }
    const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0
    // A few statements' worth at most: far less than what a network adds.
    expect(Math.abs(median(times.known) - median(times.unknown))).toBeLessThan(10)
  })

  test('something that is not an address is refused as such', async () => {
    for (const text of ['', 'x', 'a@b', 'a@b.c, d@e.f', `${'x'.repeat(10_000)}@example.org`, 'a\0@example.org'])
      await expect(askForLink(here.parts, asking(text))).rejects.toThrow('is not a valid e-mail address')
  })
})

describe('tries', () => {
  test('are counted per address, in any spelling, and end after 15 minutes', async () => {
    const address = await member()
    const isLater = async (typed: string) => (await askForLink(here.parts, asking(typed))).isLater
    for (let n = 0; n < MOST_TRIES.address; n++)
      expect(await isLater(n % 2 ? address : ` ${address.toUpperCase()} `)).toBe(false)
    expect(await isLater(address)).toBe(true)
    expect(await isLater(await member())).toBe(false)
    here.moveClock(14.9 * MINUTE)
    expect(await isLater(address)).toBe(true)
    here.moveClock(0.2 * MINUTE)
    expect(await isLater(address)).toBe(false)
  })

  test('are counted per network, but not on this machine', async () => {
    const tries = async (network: string) => {
      for (let n = 0; n < MOST_TRIES.network; n++) await countTry(here.parts, 'passkey', { network })
      return countTry(here.parts, 'passkey', { network })
    }
    await expect(tries('192.0.2.8')).rejects.toThrow('Too many tries')
    await countTry(here.parts, 'passkey', { network: '192.0.2.9' })
    await countTry(here.parts, 'link', { network: '192.0.2.8' })
    await tries(LOOPBACK)
  })

  test('what the limit of a network refuses is not counted for the installation, nor is anything stored for it', async () => {
    const rows = async () => {
      const [row] = await here.parts.db.sql<{ most: number; rows: number }>`
        select max(tries) as most, count(*)::integer as rows from sign_in_tries`
      return row
    }
    const results = []
    for (let n = 0; n < MOST_TRIES.network + 20; n++)
      results.push(await askForLink(here.parts, asking(unknown())).catch(error => error.message))
    expect(results.filter(result => typeof result === 'string')).toHaveLength(20)
    // The network itself, browsers, addresses, and the installation.
    expect(await rows()).toEqual({ most: MOST_TRIES.network + 20, rows: 2 * MOST_TRIES.network + 2 })
  })

  test('beyond the limit of the installation nothing is stored for a stranger; known people have their own allowance', async () => {
    const { sql } = here.parts.db
    await askForLink(here.parts, asking(unknown()))
    await sql`update sign_in_tries set tries = ${MOST_TRIES.installation} where tries = 1`
    const from = (n: number) => ({ network: `2001:db8:0:${n}` })
    for (let n = 0; n < 20; n++)
      await expect(askForLink(here.parts, asking(unknown(), from(n)))).rejects.toThrow('Too many tries')
    const [row] = await sql<{ rows: number }>`select count(*)::integer as rows from sign_in_tries`
    // What was stored before, and what the first of them left until it was refused.
    expect(row?.rows).toBe(4 + 2)
    const address = await member()
    const { id } = (await personBy(sql, address)) as Person
    for (let n = 0; n < MOST_TRIES.own; n++)
      expect(await askForLink(here.parts, asking(address, { knownAs: id }))).toEqual({ isLater: false })
    await expect(askForLink(here.parts, asking(address, { knownAs: id }))).rejects.toThrow('Too many tries')
  })

  test('one browser is limited, whatever it asks for', async () => {
    const browser = newToken()
    for (let n = 0; n < MOST_TRIES.browser; n++) await askForLink(here.parts, asking(unknown(), { browser }))
    await expect(askForLink(here.parts, asking(unknown(), { browser }))).rejects.toThrow('Too many tries')
  })

  test('are exact when they come at the same moment, and the table names nobody', async () => {
    const address = await member()
    const results = await Promise.all(Array.from({ length: 20 }, () => askForLink(here.parts, asking(address))))
    expect(results.filter(({ isLater }) => !isLater)).toHaveLength(MOST_TRIES.address)
    expect(await sendLater()).toBe(1)
    const rows = await here.parts.db.sql<{ row: string }>`select t::text as row from sign_in_tries t`
    expect(rows.length).toBeGreaterThan(0)
    for (const { row } of rows) expect(row).not.toMatch(/example|192\.0/)
  })
})

describe('a mail that answers several requests', () => {
  const tokenIn = (mail: Message | undefined) => /\/sign-in\/link\/([\w-]+)$/m.exec(mail?.text ?? '')?.[1] ?? ''

  /** Uses up what is sent immediately, then asks in three browsers. */
  async function merged() {
    const address = await member()
    for (let n = 0; n < MOST_TRIES.address; n++) await asked(address)
    const browsers = [newToken(), newToken(), newToken()]
    for (const [at, browser] of browsers.entries())
      expect(await askForLink(here.parts, asking(address, { browser, returnTo: `/s/${at}` }))).toEqual({
        isLater: true,
      })
    expect(await sendLater()).toBe(1)
    const count = MOST_TRIES.address + 1
    await expect.poll(async () => (await mailsTo(address)).length, { interval: 20, timeout: 10_000 }).toBe(count)
    return { address, browsers, mail: (await mailsTo(address))[0] }
  }

  test('has one link, which works once, in every browser that asked, and leads where this one wanted', async () => {
    const { address, browsers, mail } = await merged()
    expect(mail?.text).toContain('this mail answers all of these requests')
    expect(mail?.text).not.toContain('Firefox')
    for (const [at, browser] of browsers.entries())
      expect(await readLink(here.parts, tokenIn(mail), browser)).toMatchObject({ state: 'valid', returnTo: `/s/${at}` })
    const [first = '', second = ''] = browsers
    const spent = await spendLink(here.parts, tokenIn(mail), second)
    expect(spent).toMatchObject({ state: 'valid', person: { email_address: address }, returnTo: '/s/1' })
    expect(await spendLink(here.parts, tokenIn(mail), first)).toEqual({ state: 'used' })
  })

  test('is worth nothing in a browser that asked for another mail, before it or after it', async () => {
    const { address, mail } = await merged()
    const before = newToken()
    expect(await readLink(here.parts, tokenIn(mail), before)).toEqual({ state: 'other-browser' })
    here.moveClock(MERGE_MINUTES * MINUTE)
    const after = newToken()
    expect(await askForLink(here.parts, asking(address, { browser: after }))).toEqual({ isLater: true })
    expect(await readLink(here.parts, tokenIn(mail), after)).toEqual({ state: 'other-browser' })
    expect(await spendLink(here.parts, tokenIn(mail), after)).toEqual({ state: 'other-browser' })
  })

  test('works for 15 minutes from when it is sent', async () => {
    const { browsers, mail } = await merged()
    here.moveClock((MERGE_MINUTES + 14.5) * MINUTE)
    expect(await readLink(here.parts, tokenIn(mail), browsers[1] ?? '')).toMatchObject({ state: 'valid' })
    here.moveClock(MINUTE)
    expect(await readLink(here.parts, tokenIn(mail), browsers[1] ?? '')).toEqual({ state: 'over' })
  })

  test('is one in five minutes, however often an address is asked for, and six mails in 15 minutes', async () => {
    const address = await member()
    let mails = 0
    for (let n = 0; n < 45; n++) {
      await askForLink(here.parts, asking(address, { network: `192.0.2.${n}` }))
      here.moveClock(MINUTE / 3)
      mails += await sendLater()
    }
    expect(mails).toBe(3)
    const count = MOST_TRIES.address + 3
    await expect.poll(async () => (await mailsTo(address)).length, { interval: 20, timeout: 10_000 }).toBe(count)
  })
})

describe('while the address of the person is changed', () => {
  /** Does `work`, which waits, in the middle of a change of the address. */
  async function whileChanged<T>(address: string, work: () => Promise<T>): Promise<T> {
    const { id } = (await personBy(here.parts.db.sql, address)) as Person
    const changing = here.parts.db.client()
    await changing.connect()
    try {
      await changing.query(`begin; update people set email_address = '${unknown()}' where id = '${id}'`)
      const working = work()
      working.catch(() => {})
      const waiting = async () =>
        (
          await here.parts.db.sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        ).length
      await expect.poll(waiting, { interval: 20, timeout: 10_000 }).toBe(1)
      await changing.query(`delete from sessions where person_id = '${id}'`)
      await changing.query(`delete from sign_in_links where person_id = '${id}'; commit`)
      return await working
    } finally {
      await changing.end()
    }
  }
  const left = async (table: 'links' | 'sessions', id: string) =>
    (table === 'links'
      ? await here.parts.db.sql`select id from sign_in_links where person_id = ${id}`
      : await here.parts.db.sql`select id from sessions where person_id = ${id}`
    ).length

  test('no link is added for the old one', async () => {
    const address = await member()
    const { id } = (await personBy(here.parts.db.sql, address)) as Person
    expect(await whileChanged(address, () => askForLink(here.parts, asking(address)))).toEqual({ isLater: false })
    expect(await left('links', id)).toBe(0)
  })

  test('a link that is spent signs nobody in', async () => {
    const address = await member()
    const { id } = (await personBy(here.parts.db.sql, address)) as Person
    const { token, browser } = await asked(address)
    const how = { device: 'Firefox on Linux', before: null }
    const spent = await whileChanged(address, () => signInByLink(here.parts, token, browser, how))
    expect(spent).toEqual({ state: 'over' })
    expect(await left('sessions', id)).toBe(0)
  })
})

describe('a link that is printed', () => {
  test('works once in any browser for an hour, and is recorded', async () => {
    const address = await member()
    const { path, person } = await printLink(here.parts, OPERATOR, ` ${address.toUpperCase()} `)
    const token = path.split('/').at(-1)
    here.moveClock(59 * MINUTE)
    expect(await spendLink(here.parts, token, newToken())).toMatchObject({ state: 'valid', person })
    expect(await spendLink(here.parts, token, newToken())).toEqual({ state: 'used' })
    const late = (await printLink(here.parts, OPERATOR, address)).path.split('/').at(-1)
    here.moveClock(61 * MINUTE)
    expect(await spendLink(here.parts, late, newToken())).toEqual({ state: 'over' })
    const rows = await here.parts.db.sql`
      select actor_name, service_id from audit where action = 'sign-in link made' and subject_id = ${person.id}`
    expect(rows).toEqual(Array(2).fill({ actor_name: 'tests', service_id: null }))
  })

  test('is made for everyone who is known, also for a former member, and for no stranger', async () => {
    await expect(printLink(here.parts, OPERATOR, 'nobody@example.org')).rejects.toThrow('Nobody has the e-mail address')
    const address = await member()
    await removeMember(here.parts, OPERATOR, service.id, address)
    const { path, person } = await printLink(here.parts, OPERATOR, address)
    expect(await spendLink(here.parts, path.split('/').at(-1), newToken())).toMatchObject({ state: 'valid', person })
  })
})
