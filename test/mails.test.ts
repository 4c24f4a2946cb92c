// Mails of Herald itself: queued with another change or alone, sealed, handed to the e-mail providers, deleted.
import { afterAll, describe, expect, test } from 'vitest'
import { createIds, type Id } from '../src/core/id.ts'
import { part } from '../src/db/connect.ts'
import { managersOf, sealedMails, sendMails } from '../src/mails/send.ts'
import { mailsQueued } from '../src/mails/sql.ts'
import { addUser } from '../src/services/people.ts'
import { smtpServer } from './support/smtp-server.ts'
import { OPERATOR, type World, world } from './support/world.ts'

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const MAIL = { to: 'maria@example.org', subject: 'Callbacks disabled – é', text: 'The endpoint failed for 72 hours.\n' }

const appOf = ({ parts }: World) => ({ ...parts, sql: parts.db.sql, wake() {} })
const rowsOf = async ({ parts: { db } }: World) => {
  const [row] = await db.sql<{ mails: number; tickets: number }>`
    select (select count(*) from mails)::integer as mails, (select count(*) from tickets where lane = 'mails')::integer as tickets`
  return row
}
const gone = (here: World) =>
  expect.poll(() => rowsOf(here), { interval: 20, timeout: 10_000 }).toEqual({ mails: 0, tickets: 0 })
const lost = async ({ parts }: World) => /^herald_mails_lost_total (\d+)$/m.exec(await parts.metrics.text())?.[1]

describe('by SMTP', async () => {
  const relay = await smtpServer({ disabledCommands: ['AUTH', 'STARTTLS'] })
  ends.push(relay.stop)
  const here = await world(
    {
      HERALD_EMAIL_PROVIDERS: 'smtp',
      HERALD_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
      HERALD_SENDING_DOMAIN: 'mail.example.net',
    },
    { engine: true },
  )
  ends.push(here.running.stop) // the mail server waits for kept connections
  const service = await here.service()

  test('a mail is handed over as plain text from the address of the installation, and deleted', async () => {
    await sendMails(appOf(here), service.id, [MAIL])
    await gone(here)
    const [letter] = relay.letters.splice(0)
    expect(letter?.to).toEqual(['maria@example.org'])
    expect(letter?.raw).toContain('From: Herald <herald@mail.example.net>')
    expect(letter?.raw).toMatch(/^Subject: =\?UTF-8\?/m)
    expect(letter?.raw).toMatch(/^Message-ID: <[0-9a-f-]{36}@mail\.example\.net>/m)
    expect(letter?.raw).toContain('Content-Type: text/plain; charset=UTF-8')
    expect(letter?.raw).toContain('The endpoint failed for 72 hours.')
    expect(letter?.raw).not.toContain('text/html')
  })

  test('a mail that is deferred is tried again, one that is refused is given up and counted', async () => {
    relay.state.mode = { rcpt: { code: 451, words: '4.7.1 try later' } }
    await sendMails(appOf(here), service.id, [MAIL])
    const attempts = async () => {
      const [row] = await here.parts.db.sql<{ attempts: number }>`select attempts from tickets where lane = 'mails'`
      return row?.attempts ?? 0
    }
    await expect.poll(attempts, { interval: 20, timeout: 10_000 }).toBeGreaterThan(0)
    relay.state.mode = {}
    await gone(here)
    expect(relay.letters.splice(0)).toHaveLength(1)
    expect(await lost(here)).toBe('0')

    relay.state.mode = { rcpt: { code: 550, words: '5.1.1 no such user' } }
    await sendMails(appOf(here), service.id, [MAIL])
    await gone(here)
    relay.state.mode = {}
    expect(relay.letters).toEqual([])
    expect(await lost(here)).toBe('1')
  })

  test('a mail that could not be handed over for 72 hours is given up', async () => {
    relay.state.mode = { rcpt: { code: 451, words: '4.7.1 try later' } }
    const { clock } = here.parts
    const old = { ...clock, micros: () => clock.micros() - 73 * 3_600_000_000 }
    await sendMails({ ...appOf(here), ids: createIds(old) }, service.id, [MAIL])
    await gone(here)
    relay.state.mode = {}
    expect(await lost(here)).toBe('2')
  })
})

describe('captured', async () => {
  const here = await world({}, { engine: true })
  const service = await here.service()

  test('the inbox shows a mail, which is sealed at rest', async () => {
    await sendMails(appOf(here), service.id, [MAIL])
    await gone(here)
    const { messages } = (await here.inbox()).body
    expect(messages).toHaveLength(1)
    const { to, subject, text } = MAIL
    expect(messages[0]).toMatchObject({ to, subject, text, html: null, from: 'Herald <herald@herald.example>' })
  })

  test('a mail is queued with another change or not at all, and has a ticket', async () => {
    const idle = await world()
    const { id } = await idle.service()
    const app = appOf(idle)
    const changed = (name: string) => app.sql`
      with changed as (update services set name = 'New' where name = ${name} returning id),
      ${mailsQueued(sealedMails(app, id, [MAIL, MAIL]), part`exists (select from changed)`)}
      select from changed`
    await changed('nobody')
    expect(await rowsOf(idle)).toEqual({ mails: 0, tickets: 0 })
    await app.sql`update services set name = 'Old' where id = ${id}`
    await changed('Old')
    expect(await rowsOf(idle)).toEqual({ mails: 2, tickets: 2 })
    const rows = await app.sql<{ sealed: Buffer; service_id: Id }>`
      select sealed, service_id from mails join tickets using (id)`
    for (const { sealed, service_id } of rows) {
      expect(sealed.includes('maria')).toBe(false)
      expect(service_id).toBe(id)
    }
  })
})

test('those who manage a service are its managers, or all team members where there is none', async () => {
  const here = await world()
  const service = await here.service()
  await addUser(here.parts, OPERATOR, service.id, { name: 'Otto', email_address: 'otto@example.org' })
  expect(await managersOf(here.parts.db.sql, service.id)).toEqual(['maria@example.org', 'otto@example.org'])
  await addUser(here.parts, OPERATOR, service.id, {
    name: 'Mira',
    email_address: 'mira@example.org',
    role: 'manager',
  })
  expect(await managersOf(here.parts.db.sql, service.id)).toEqual(['mira@example.org'])
})
