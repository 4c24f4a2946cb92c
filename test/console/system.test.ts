// The pages of operators over HTTP: the system with hold and release, and the audit log.
import { beforeAll, expect, test } from 'vitest'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let operator: SignedInAs
beforeAll(async () => {
  here = await place()
  operator = await here.signIn('operator')
})

test('the system page shows lanes, the database and settings without secrets', async () => {
  const { status, text } = await here.request(operator, '/operator/system')
  expect(status).toBe(200)
  expect(text).toContain('email-high')
  expect(text).toContain('PostgreSQL')
  expect(text).toContain('HERALD_SENDING_DOMAIN')
  const secrets = [here.config.databaseUrl, ...here.parts.secrets].flatMap(secret => secret ?? [])
  expect(secrets.length).toBeGreaterThan(0)
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('sending is held with a banner for everybody, and released; both are recorded', async () => {
  const viewer = await here.signIn('viewer')
  const page = async (who: SignedInAs) => (await here.request(who, `/s/${here.planted.service.id}`)).text
  const act = (path: string, who = operator) => here.request(who, `/operator/system/${path}`, { form: {} })
  expect(await page(viewer)).not.toContain('class="banner"')
  expect((await act('hold', viewer)).status).toBe(403)
  expect((await act('hold')).status).toBe(303)
  expect(await page(viewer)).toContain('Sending is paused by the operator.')
  expect(await page(operator)).toContain('/operator/system#sending')
  expect((await here.request(operator, '/operator/system')).text).toContain('Release all sending')
  expect((await act('release')).status).toBe(303)
  expect(await page(viewer)).not.toContain('class="banner"')
  const audit = (await here.request(operator, '/operator/audit?what=installation')).text
  expect(audit).toMatch(/Sending released.*Sending held/s)
  expect(audit).not.toContain('Template made')
})

test('the audit log is filtered by service and person, and downloaded', async () => {
  const { service, people } = here.planted
  const of = (await here.request(operator, `/operator/audit?service=${service.id}`)).text
  expect(of).toContain('Template made')
  expect(of).not.toContain('Signed in')
  const mine = (await here.request(operator, `/operator/audit?who=${people.operator.id}`)).text
  expect(mine).toContain('Signed in')
  expect(mine).not.toContain('Template made')
  const csv = await here.request(operator, '/operator/audit/export?what=accounts')
  expect(csv.text).toContain('"signed in"')
  expect((await here.request(await here.signIn('manager'), '/operator/audit')).status).toBe(403)
})
