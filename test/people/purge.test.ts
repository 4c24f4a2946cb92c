// Sessions, links, invitations and counted tries go some time after they have ended; others stay.
import { expect, test } from 'vitest'
import { purgePeople } from '../../src/maintenance/purge.ts'
import { invite, listInvitations } from '../../src/people/invitations.ts'
import { printLink, readLink, spendLink } from '../../src/people/links.ts'
import { addOperator } from '../../src/people/operators.ts'
import { actorOf } from '../../src/people/person.ts'
import { readSession, startSession } from '../../src/people/session.ts'
import { newToken } from '../../src/people/token.ts'
import { countTry } from '../../src/people/tries.ts'
import { runSteps } from '../../src/runtime/steps.ts'
import { OPERATOR, world } from '../support/world.ts'

test('what has ended is purged', async () => {
  const here = await world({ HERALD_BASE_URL: 'https://herald.example.org' })
  const { parts } = here
  const { sql } = parts.db
  const service = await here.service()
  const DAY = 86_400_000
  const rows = async () =>
    (
      await sql<{ n: number[] }>`
        select array[(select count(*) from sessions), (select count(*) from sign_in_links), (select count(*) from sign_in_tries),
                     (select count(*) from invitations)]::integer[] as n`
    )[0]?.n
  const { path, person } = await printLink(parts, OPERATOR, 'maria@example.org')
  const link = path.split('/').at(-1)
  await spendLink(parts, link, newToken())
  const { token } = await startSession(parts, person, { method: 'link', device: 'x' })
  await countTry(parts, 'link', { browser: newToken(), network: '192.0.2.1' })
  const console = 'https://herald.example.org/console'
  const grace = await addOperator(parts, OPERATOR, { email_address: 'grace@example.org' })
  const actor = actorOf({ person: grace, memberships: [] }, service.id)
  await invite(parts, actor, { service: service.id, role: 'viewer', address: 'b@example.org', console })
  expect(await rows()).toEqual([1, 1, 5, 1])
  expect(await runSteps(purgePeople(parts))).toBe(0)

  here.moveClock(DAY / 2)
  expect(await readSession(parts, token)).toBe(null)
  await runSteps(purgePeople(parts))
  expect(await rows()).toEqual([1, 1, 0, 1])
  expect(await readLink(parts, link, newToken())).toEqual({ state: 'used' })

  here.moveClock(DAY)
  await runSteps(purgePeople(parts))
  expect(await rows()).toEqual([1, 0, 0, 1])
  expect(await listInvitations(parts, service.id)).toHaveLength(1)

  here.moveClock(6 * DAY)
  await runSteps(purgePeople(parts))
  expect(await rows()).toEqual([0, 0, 0, 0])
})
