// Looking through messages where the index does not cover the filter: each scan reads at most EXAMINED messages for one page, and
// nothing is skipped, whichever scan is ended by its limit.
import { expect, test } from 'vitest'
import { floorOf, type Id, microsOf } from '../src/core/id.ts'
import { EXAMINED } from '../src/notifications/sql/browse.ts'
import { everyMessage, NO_FILTERS } from '../src/timeline/browse.ts'
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
