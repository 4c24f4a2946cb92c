// Pages of services, team, invitations and people over HTTP, as a person without scripts uses them.
import { beforeAll, describe, expect, test } from 'vitest'
import { type ConsolePlace, place } from './support/place.ts'
import type { SignedInAs } from './support/session.ts'

let here: ConsolePlace
let manager: SignedInAs
let operator: SignedInAs
let team: string
beforeAll(async () => {
  here = await place({}, { engine: true })
  manager = await here.signIn('manager')
  operator = await here.signIn('operator')
  team = `/s/${here.planted.service.id}/team`
})

const get = (who: SignedInAs | null, path: string) => here.request(who, path)
const post = (who: SignedInAs | null, path: string, form: Record<string, string> = {}) =>
  here.request(who, path, { form })

type Message = { to: string; text: string }
async function tokenFor(address: string): Promise<string> {
  const mails = async (): Promise<Message[]> =>
    (await here.inbox()).body.messages.filter(({ to }: Message) => to === address)
  await expect.poll(async () => (await mails()).length, { interval: 50, timeout: 10_000 }).toBeGreaterThan(0)
  return /\/console\/invitation\/([\w-]+)/.exec((await mails())[0]?.text ?? '')?.[1] ?? ''
}

describe('services', () => {
  test('mine, with my role; an operator sees all and searches', async () => {
    const mine = await get(manager, '')
    expect(mine.status).toBe(200)
    expect(mine.text).toContain('Parking permits')
    expect(mine.text).not.toContain('Council tax')
    const all = await get(operator, '/operator/services')
    for (const name of ['Parking permits', 'Council tax', 'Library reminders']) expect(all.text).toContain(name)
    const found = await get(operator, '/operator/services?name=COUNCIL&mode=live')
    expect(found.text).toContain('Council tax')
    expect(found.text).not.toContain('Library reminders')
    expect((await get(operator, '/operator/services?name=<b>')).text).toContain('No service matches')
    expect((await get(manager, '/operator/services')).status).toBe(403)
    const newcomer = await here.signIn('newcomer')
    expect((await get(newcomer, '')).text).toContain('You belong to no service yet')
  })

  test('an operator adds one and manages it; a name that is taken is refused at its field', async () => {
    const name = '<i>Bus</i> passes'
    const added = await post(operator, '/operator/services/new', { name, mode: 'trial' })
    expect(added.status).toBe(303)
    const page = await get(operator, String(added.location).replace('/console', ''))
    expect(page.text).toContain('The service is there, and you are its manager.')
    expect(page.text).toContain('&lt;i>Bus&lt;/i> passes')
    const again = await post(operator, '/operator/services/new', { name, mode: 'live' })
    expect(again.status).toBe(422)
    expect(again.text).toContain('<title>Error: Add a service')
    expect(again.text).toContain('There is already a service named')
    expect((await post(operator, '/operator/services/new', { name: ' ', mode: 'live' })).status).toBe(422)
  })
})

describe('team', () => {
  test('everybody sees it, managers change it', async () => {
    const seen = await get(await here.signIn('viewer'), team)
    expect(seen.text).toContain('Tomas Keel')
    expect(seen.text).not.toContain('Invite somebody')
    expect(seen.text).not.toContain('>Change<')
    const page = await get(manager, team)
    expect(page.text).toContain('Invite somebody')
  })

  test('an invitation is sent, accepted and signs in', async () => {
    const address = 'lea@eastmere.example'
    const sent = await post(manager, `${team}/invite`, { address, role: 'author' })
    expect(sent.status).toBe(303)
    const done = await get(manager, `${team}?done=invited`)
    expect(done.text).toContain(address)
    expect(done.text).toContain('The invitation is captured, not sent.')
    const token = await tokenFor(address)
    const shown = await get(null, `/invitation/${token}`)
    expect(shown.status).toBe(200)
    expect(shown.text).toContain('Mira Holt')
    const accept = (name: string) => post(null, `/invitation/${token}`, { name })
    expect((await accept('')).status).toBe(422)
    const accepted = await accept('Lea Sand')
    expect(accepted.status).toBe(303)
    expect(accepted.location).toBe(`/console/s/${here.planted.service.id}`)
    expect(accepted.headers.get('set-cookie')).toMatch(/herald-console=[\w-]{43}/)
    expect((await get(null, `/invitation/${token}`)).status).toBe(410)
    expect((await get(manager, team)).text).toContain('Lea Sand')
    const twice = await post(manager, `${team}/invite`, { address, role: 'author' })
    expect(twice.status).toBe(422)
    expect(twice.text).toContain('is already in the team')
  })

  test('a role that no team has is refused at its field, and no one is invited', async () => {
    const before = await here.changes()
    for (const role of ['operator', 'Viewer', '', 'emperor']) {
      const answer = await post(manager, `${team}/invite`, { address: 'next@eastmere.example', role })
      expect(answer.status).toBe(422)
      expect(answer.text).toContain('Choose a role.')
      expect(answer.text).toContain('value="next@eastmere.example"')
      expect((await post(operator, `/s/${here.planted.service.id}/join`, { role })).status).toBe(422)
    }
    expect((await post(manager, `${team}/invite`, { address: 'next@eastmere.example' })).status).toBe(422)
    expect(await here.changes()).toEqual(before)
  })

  test('somebody without rights is told so, and a wrong address is kept in the form', async () => {
    const viewer = await here.signIn('viewer')
    expect((await post(viewer, `${team}/invite`, { address: 'x@example.org', role: 'manager' })).status).toBe(403)
    const wrong = await post(manager, `${team}/invite`, { address: '"><script>', role: 'sender' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('value="&quot;>&lt;script>"')
  })

  test('a role is changed, the last manager stays, a member is removed', async () => {
    const { people } = here.planted
    const developer = await here.signIn('developer')
    expect((await post(manager, `${team}/${people.developer.id}`, { role: 'sender' })).status).toBe(303)
    expect((await get(developer, `/s/${here.planted.service.id}`)).status).toBe(200)
    const last = await post(manager, `${team}/${people.manager.id}`, { role: 'viewer' })
    expect(last.status).toBe(422)
    expect(last.text).toContain('is the only manager')
    expect((await post(manager, `${team}/${people.developer.id}`, { role: 'emperor' })).status).toBe(422)
    expect((await post(manager, `${team}/${people.developer.id}/remove`)).status).toBe(303)
    expect((await get(developer, `/s/${here.planted.service.id}`)).location).toContain('/sign-in')
    expect((await get(manager, `${team}/${people.stranger.id}`)).status).toBe(404)
    expect((await get(manager, `${team}/nonsense`)).status).toBe(404)
  })

  test('a sensitive act wants a proof of who it is that is not older than ten minutes', async () => {
    const late = await here.signIn('manager')
    here.moveClock(11 * 60_000)
    const before = await here.changes()
    const answer = await post(late, `${team}/invite`, { address: 'late@example.org', role: 'viewer' })
    expect(answer.status).not.toBe(200)
    expect((await here.changes()).invitations).toBe(before.invitations)
    manager = await here.signIn('manager')
    operator = await here.signIn('operator')
  })

  test('an operator joins to see messages', async () => {
    expect((await get(operator, team)).text).toContain('Join this service')
    expect((await get(operator, `/s/${here.planted.service.id}/messages`)).status).toBe(403)
    expect((await post(operator, `/s/${here.planted.service.id}/join`, { role: 'viewer' })).status).toBe(303)
    expect((await get(operator, `/s/${here.planted.service.id}/messages`)).status).toBe(200)
    expect((await post(manager, `/s/${here.planted.other.id}/join`, { role: 'viewer' })).status).toBe(404)
  })
})

describe('people of the installation', () => {
  test('an operator makes operators, never removes the last one, and removes people altogether', async () => {
    const { people } = here.planted
    expect((await get(manager, '/operator/people')).status).toBe(403)
    expect((await get(operator, '/operator/people')).text).toContain('Sami Oduya')
    const path = `/operator/people/${people.operator.id}`
    const last = await post(operator, path, { operator: 'no' })
    expect(last.status).toBe(422)
    expect(last.text).toContain('is the only operator')
    expect((await post(operator, `${path}/remove`)).status).toBe(422)
    const author = await here.signIn('author')
    expect((await post(operator, `/operator/people/${people.author.id}`, { operator: 'yes' })).status).toBe(303)
    expect((await get(author, '/operator/people')).status).toBe(200)
    expect((await post(operator, `/operator/people/${people.author.id}/remove`)).status).toBe(303)
    expect((await get(author, '')).location).toContain('/sign-in')
    expect((await get(operator, `/operator/people/${people.author.id}`)).status).toBe(404)
  })
})
