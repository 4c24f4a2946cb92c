// Looking through messages where the index does not cover the filter: each scan reads at most EXAMINED messages for one page, and
// nothing is skipped, whichever scan is ended by its limit.
import { expect, test } from 'vitest'
import { floorOf, type Id, microsOf } from '../src/core/id.ts'
import { browse, EXAMINED, examinedTo } from '../src/notifications/sql/browse.ts'
import { browsingOf, everyMessage, NO_FILTERS } from '../src/timeline/browse.ts'
import { copy, emailTemplate, smsTemplate } from './support/sends.ts'
import { world } from './support/world.ts'

test('a page that others have filled ends where a scan was ended by its limit', async () => {
  const here = await world()
  const { sql } = here.parts.db
  const service = await here.service()
  const key = await service.key()
  const later = { scheduled_for: new Date(Date.now() + 3_600_000).toISOString() }
  const send = async (path: string, body: object): Promise<Id> =>
    (await key.post(`/v2/notifications/${path}`, { ...body, ...later })).body.id
  const text = await send('sms', { phone_number: '+16135550123', template_id: await smsTemplate(key, 'x') })
  const mail = await send('email', {
    email_address: 'ann@example.net',
    template_id: await emailTemplate(key, 'x', 'x'),
  })
  const before = (seconds: number, n = 0) => floorOf(microsOf(mail) - seconds * 1_000_000 - n) as Id
  // From new to old: many e-mails that are due now, one that is due later, and many text messages that are due later.
  const now = Array.from({ length: EXAMINED + 100 }, (_, n) => before(10, n))
  await copy(here, mail, now)
  await sql`update notifications set scheduled_for = null where id = any (${now})`
  const one = before(60)
  await copy(here, mail, [one])
  const many = Array.from({ length: 700 }, (_, n) => before(120, n))
  await copy(here, text, many)

  const loaded = await here.parts.services.get(service.id)
  if (!loaded) throw new Error('there is no service')
  const found: Id[] = []
  for await (const page of everyMessage(
    here.parts,
    loaded,
    { ...NO_FILTERS, status: 'scheduled' },
    { withRecipients: false },
  ))
    found.push(...page.map(({ id }) => id))
  expect(found).toEqual([mail, text, one, ...many])
})

test("S-04 a template or recipient of another service leads to no message, and to no place among that service's messages", async () => {
  const here = await world()
  const { sql } = here.parts.db
  const [owner, stranger] = [await here.service(), await here.service()]
  const key = await owner.key()
  const template = (await emailTemplate(key, 'x', 'x')) as Id
  const mail: Id = (
    await key.post('/v2/notifications/email', { email_address: 'ann@example.net', template_id: template })
  ).body.id
  const ids = Array.from({ length: EXAMINED + 100 }, (_, n) => floorOf(microsOf(mail) - 10_000_000 - n) as Id)
  await copy(here, mail, ids)
  const digest = Buffer.from('0123456789abcd', 'hex')
  await sql`update notifications set recipient_digest = ${digest} where service_id = ${owner.id}`

  const loaded = await here.parts.services.get(stranger.id)
  if (!loaded) throw new Error('there is no service')
  const look = async (filters: Partial<typeof NO_FILTERS>, newer: boolean) => {
    const from = newer ? { newer: ids.at(-1) as Id } : null
    const browsing = await browsingOf(here.parts, loaded, { ...NO_FILTERS, ...filters }, from, 51)
    if (!browsing) throw new Error('everything can match')
    return { rows: await browse(sql, browsing), reached: await examinedTo(sql, browsing) }
  }
  // States with their template, and those of an earlier version without one.
  for (const written of [template, null]) {
    await sql`update states set template_id = ${written}, status = 'permanent-failure', completed_at = now()`
    for (const filters of [
      { template },
      { template, status: 'failed' as const },
      { template, status: 'delivered' as const },
      { template, status: 'in-transit' as const },
      { digests: [digest] },
      { digests: [digest], template },
      { digests: [digest], status: 'delivered' as const },
    ])
      for (const newer of [false, true])
        expect([filters, newer, await look(filters, newer)]).toEqual([filters, newer, { rows: [], reached: null }])
  }
})
