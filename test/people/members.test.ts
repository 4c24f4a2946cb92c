// Roles, who leaves, operators, invitations: what changes, what ends at once, and what is recorded.
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PersonActor } from '../../src/audit/actor.ts'
import type { Role } from '../../src/audit/role.ts'
import type { Id } from '../../src/core/id.ts'
import { changeOrArchive } from '../../src/people/archive.ts'
import {
  acceptInvitation,
  invite,
  inviteAgain,
  listInvitations,
  type NewInvitation,
  readInvitation,
  withdrawInvitation,
} from '../../src/people/invitations.ts'
import { askForLink, printLink, readLink } from '../../src/people/links.ts'
import { changeRole, joinService, listMembers, removeMember } from '../../src/people/members.ts'
import { addOperator, firstOperator, operatorsOf, removeOperator, removePerson } from '../../src/people/operators.ts'
import { actorOf, type Person, type SignedIn } from '../../src/people/person.ts'
import { readSession, startSession } from '../../src/people/session.ts'
import { personBy } from '../../src/people/sql/people.ts'
import { newToken } from '../../src/people/token.ts'
import { create as createService } from '../../src/services/create.ts'
import { addUser } from '../../src/services/people.ts'
import { listUsers } from '../../src/services/sql.ts'
import { OPERATOR, type World, world } from '../support/world.ts'

const CONSOLE = 'https://herald.example.org/console'
let here: World
/** An operator in the console; the one at the machine invites nobody. */
let grace: Person
beforeAll(async () => {
  here = await world({ HERALD_BASE_URL: 'https://herald.example.org' }, { engine: true })
  grace = await addOperator(here.parts, OPERATOR, { email_address: 'grace@example.org', name: 'Grace Hale' })
})
beforeEach(async () => {
  await here.parts.db.sql`delete from sign_in_tries`
})

const newService = async () => (await createService(here.parts, OPERATOR, { name: `Service ${randomUUID()}` })).id
const unknown = () => `${randomUUID()}@example.org`

async function member(service: Id, role: Role, email_address = unknown()) {
  const user = await addUser(here.parts, OPERATOR, service, { name: 'Ada Park', email_address, role })
  const person = await personBy(here.parts.db.sql, email_address)
  if (!person) throw new Error('no person')
  return { ...user, person }
}

const signIn = async (person: { id: Id; email_address: string; name: string }) =>
  (await startSession(here.parts, person, { method: 'link', device: 'Firefox on Linux' })).token

async function signedIn(token: string): Promise<SignedIn> {
  const found = await readSession(here.parts, token)
  if (!found) throw new Error('not signed in')
  return found
}

const actorFor = async (
  person: { id: Id; email_address: string; name: string },
  service: Id | null,
): Promise<PersonActor> => actorOf(await signedIn(await signIn(person)), service)

const graceIn = (service: Id | null) => actorOf({ person: grace, memberships: [] }, service)
const inviteByOperator = (input: NewInvitation) => invite(here.parts, graceIn(input.service), input)

/** Until so many statements wait for a lock. */
const waiting = (statements: number) =>
  expect
    .poll(
      async () =>
        (
          await here.parts.db.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        ).length,
      { interval: 20, timeout: 10_000 },
    )
    .toBe(statements)

/** Does `work` while another connection holds the rows that the statement locks. */
async function whileHeld(statement: string, work: () => Promise<void>): Promise<void> {
  const locker = here.parts.db.client()
  await locker.connect()
  try {
    await locker.query(`begin; ${statement}`)
    await work()
    await locker.query('commit')
  } finally {
    await locker.end()
  }
}

/** Its outcome, to be awaited later. */
const outcomeOf = <T>(work: Promise<T>): Promise<T | string> => work.catch(error => String(error.message))

const recorded = (subject: Id) => here.parts.db.sql<{ action: string; actor_kind: string; detail: object | null }>`
  select action, actor_kind, detail from audit where subject_id = ${subject} order by id`

describe('roles', () => {
  test('a new member is a viewer, a manager changes roles, and it counts with the next request', async () => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const ada = await addUser(here.parts, OPERATOR, service, { name: 'Ada', email_address: unknown() })
    expect(ada.role).toBe('viewer')
    const token = await signIn((await personBy(here.parts.db.sql, ada.email_address)) as never)
    const actor = await actorFor(boss.person, service)
    await changeRole(here.parts, actor, service, ada.email_address.toUpperCase(), 'developer')
    expect((await signedIn(token)).memberships).toMatchObject([{ service_id: service, role: 'developer' }])
    await changeRole(here.parts, actor, service, ada.id, 'developer')
    expect(await recorded(ada.id)).toEqual([
      { action: 'member added', actor_kind: 'operator', detail: { role: 'viewer' } },
      { action: 'role changed', actor_kind: 'person', detail: { role: 'developer' } },
    ])
    expect((await listMembers(here.parts, service)).map(one => [one.id, one.last_seen_at !== null])).toEqual([
      [boss.id, true],
      [ada.id, true],
    ])
  })

  test.each(['viewer', 'author', 'sender', 'developer'] as const)('a %s changes nobody', async role => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const ada = await member(service, role)
    const actor = await actorFor(ada.person, service)
    const denied = 'You do not have the permission for this: manage-people.'
    const input = { service, role: 'manager', address: unknown(), console: CONSOLE } as const
    await expect(changeRole(here.parts, actor, service, ada.id, 'manager')).rejects.toThrow(denied)
    await expect(removeMember(here.parts, actor, service, boss.id)).rejects.toThrow(denied)
    await expect(addUser(here.parts, actor, service, { name: 'B', email_address: unknown() })).rejects.toThrow(denied)
    await expect(invite(here.parts, actor, input)).rejects.toThrow(denied)
    const person = { name: 'A', email_address: unknown() }
    await expect(joinService(here.parts, actor, service, person, 'manager')).rejects.toThrow('manage-installation')
    await expect(addOperator(here.parts, actor, { email_address: unknown() })).rejects.toThrow('manage-installation')
    await expect(removePerson(here.parts, actor, boss.person.id)).rejects.toThrow('manage-installation')
    await expect(printLink(here.parts, actor, boss.email_address)).rejects.toThrow('manage-installation')
  })

  test('the last manager stays, unless an operator decides', async () => {
    const service = await newService()
    const [one, two] = [await member(service, 'manager'), await member(service, 'manager')]
    const actors = [await actorFor(one.person, service), await actorFor(two.person, service)] as const
    // Each removes the other at the same moment: one of them stays.
    const results = await Promise.allSettled([
      removeMember(here.parts, actors[0], service, two.id),
      removeMember(here.parts, actors[1], service, one.id),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [left] = await listUsers(here.parts.db.sql, service)
    if (!left) throw new Error('nobody is left')
    const last = left.id === one.id ? actors[0] : actors[1]
    const sentence = 'is the only manager of this service'
    await expect(removeMember(here.parts, last, service, left.id)).rejects.toThrow(sentence)
    await expect(changeRole(here.parts, last, service, left.id, 'viewer')).rejects.toThrow(sentence)
    await changeRole(here.parts, OPERATOR, service, left.id, 'viewer')
    await removeMember(here.parts, OPERATOR, service, left.id)
    expect(await listUsers(here.parts.db.sql, service)).toEqual([])
  })
})

describe('somebody who is removed', () => {
  test('is signed out at once when nothing is left, and their links are worth nothing', async () => {
    const service = await newService()
    const ada = await member(service, 'author')
    const [token, other] = [await signIn(ada.person), await signIn(ada.person)]
    const link = (await printLink(here.parts, OPERATOR, ada.email_address)).path.split('/').at(-1)
    await removeMember(here.parts, OPERATOR, service, ada.id)
    for (const one of [token, other]) expect(await readSession(here.parts, one)).toBe(null)
    expect(await readLink(here.parts, link, newToken())).toEqual({ state: 'over' })
    expect(await recorded(ada.id)).toMatchObject([
      { action: 'member added' },
      { action: 'member removed', detail: { person: ada.person.id } },
    ])
  })

  test('stays signed in elsewhere, and as an operator', async () => {
    const [service, another] = [await newService(), await newService()]
    const ada = await member(service, 'author')
    await member(another, 'viewer', ada.email_address)
    const token = await signIn(ada.person)
    await removeMember(here.parts, OPERATOR, service, ada.id)
    expect((await signedIn(token)).memberships.map(one => one.service_id)).toEqual([another])
    const bob = await member(service, 'author')
    await addOperator(here.parts, OPERATOR, { email_address: bob.email_address })
    const bobs = await signIn(bob.person)
    await removeMember(here.parts, OPERATOR, service, bob.id)
    expect((await signedIn(bobs)).memberships).toEqual([])
  })

  test('altogether, by an operator: memberships, sessions, links, the person', async () => {
    const [service, another] = [await newService(), await newService()]
    const ada = await member(service, 'manager')
    await member(another, 'viewer', ada.email_address)
    const token = await signIn(ada.person)
    await printLink(here.parts, OPERATOR, ada.email_address)
    await removePerson(here.parts, OPERATOR, ada.person.id)
    expect(await readSession(here.parts, token)).toBe(null)
    expect(await personBy(here.parts.db.sql, ada.email_address)).toBe(null)
    for (const id of [service, another]) expect(await listUsers(here.parts.db.sql, id)).toEqual([])
    expect((await recorded(ada.person.id)).at(-1)).toMatchObject({ action: 'person removed' })
    await expect(removePerson(here.parts, OPERATOR, ada.person.id)).rejects.toThrow('Nobody has')
  })
})

describe('operators', () => {
  test('are added and removed, never the last one, and join services to see messages', async () => {
    const fresh = await world()
    const { parts } = fresh
    const first = await firstOperator(parts, OPERATOR)
    expect(first.email_address).toBe('operator@herald.example')
    expect(await firstOperator(parts, OPERATOR)).toMatchObject(first)
    await expect(removeOperator(parts, OPERATOR, first.email_address)).rejects.toThrow('is the only operator')
    const grace = await addOperator(parts, OPERATOR, { email_address: 'grace@example.org', name: 'Grace' })
    await expect(addOperator(parts, OPERATOR, { email_address: 'GRACE@example.org' })).rejects.toThrow('already')
    const { token } = await startSession(parts, grace, { method: 'link', device: 'x' })
    const session = await readSession(parts, token)
    if (!session) throw new Error('not signed in')
    const service = await createService(parts, actorOf(session, null), { name: 'Parking permits' })
    expect(actorOf(session, service.id).permissions).not.toContain('see-messages')
    await joinService(parts, actorOf(session, service.id), service.id, grace, 'viewer')
    await expect(joinService(parts, actorOf(session, null), service.id, grace, 'viewer')).rejects.toThrow('already')
    const joined = await readSession(parts, token)
    if (!joined) throw new Error('not signed in')
    expect(actorOf(joined, service.id).permissions).toContain('see-messages')
    const rows = await parts.db.sql`
      select action, actor_id, detail from audit where service_id = ${service.id} order by id`
    expect(rows).toEqual([
      { action: 'service created', actor_id: grace.id, detail: { mode: 'trial' } },
      { action: 'member added', actor_id: grace.id, detail: { role: 'viewer', by: 'operator' } },
    ])
    // Two who remove each other: one stays.
    const results = await Promise.allSettled([
      removeOperator(parts, OPERATOR, first.email_address),
      removeOperator(parts, OPERATOR, grace.email_address),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await operatorsOf(parts)).toHaveLength(1)
    await expect(removeOperator(parts, OPERATOR, 'nobody@example.org')).rejects.toThrow('is not an operator')
    const [last] = await operatorsOf(parts)
    await expect(removePerson(parts, OPERATOR, last?.id as Id)).rejects.toThrow('is the only operator')
  })

  test('who are none any longer and belong nowhere are signed out', async () => {
    await addOperator(here.parts, OPERATOR, { email_address: unknown() })
    const eve = await addOperator(here.parts, OPERATOR, { email_address: unknown() })
    const token = await signIn(eve)
    await removeOperator(here.parts, OPERATOR, eve.email_address)
    expect(await readSession(here.parts, token)).toBe(null)
  })
})

describe('invitations', () => {
  type Message = { to: string; subject: string; text: string }
  const mailsTo = async (address: string): Promise<Message[]> =>
    (await here.inbox()).body.messages.filter(({ to }: Message) => to === address)
  const tokenOf = async (address: string, mails = 1) => {
    await expect.poll(async () => (await mailsTo(address)).length, { interval: 20, timeout: 10_000 }).toBe(mails)
    return /\/invitation\/([\w-]+)$/m.exec((await mailsTo(address))[0]?.text ?? '')?.[1]
  }
  const accepting = { signedIn: null, name: 'Lea Sand', device: 'Firefox on Linux' }

  test('are sent by mail, shown, accepted once, and sign in', async () => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const actor = await actorFor(boss.person, service)
    const address = unknown()
    const made = await invite(here.parts, actor, { service, role: 'sender', address, console: CONSOLE })
    const token = await tokenOf(address)
    const [mail] = await mailsTo(address)
    expect(mail?.subject).toMatch(/^Invitation to Service /)
    expect(mail?.text).toMatch(/^Ada Park invites you to the service "Service .*" as sender\.$/m)
    expect(mail?.text).toContain(`${CONSOLE}/invitation/${token}\n`)
    expect(await listInvitations(here.parts, service)).toMatchObject([
      { id: made.id, email_address: address, role: 'sender', invited_by_name: 'Ada Park' },
    ])
    for (const _ of [1, 2])
      expect(await readInvitation(here.parts, token)).toMatchObject({
        email_address: address,
        role: 'sender',
        person_id: null,
        invited_by_name: 'Ada Park',
      })
    await expect(acceptInvitation(here.parts, token, { ...accepting, name: ' ' })).rejects.toThrow('must not be empty')
    const results = await Promise.allSettled([1, 2, 3].map(() => acceptInvitation(here.parts, token, accepting)))
    const [won, ...more] = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    expect(more).toEqual([])
    const session = await signedIn(won?.token ?? '')
    expect(session.person).toMatchObject({ email_address: address, name: 'Lea Sand', is_operator: false })
    expect(session.memberships).toMatchObject([{ service_id: service, role: 'sender' }])
    expect(await readInvitation(here.parts, token)).toBe(null)
    expect(await listInvitations(here.parts, service)).toEqual([])
    expect(await recorded(made.id)).toEqual([
      { action: 'person invited', actor_kind: 'person', detail: { role: 'sender' } },
    ])
    const [user] = (await listUsers(here.parts.db.sql, service)).filter(one => one.email_address === address)
    expect(await recorded(user?.id as Id)).toEqual([
      { action: 'member added', actor_kind: 'person', detail: { role: 'sender', invitation: made.id } },
    ])
    await expect(
      invite(here.parts, actor, { service, role: 'viewer', address: address.toUpperCase(), console: CONSOLE }),
    ).rejects.toThrow('is already in the team')
  })

  test('of someone who has an account are accepted in its session only, and sign out the others', async () => {
    const [service, another] = [await newService(), await newService()]
    const ada = await member(service, 'author')
    const bob = await member(service, 'author')
    const address = ada.email_address.toUpperCase()
    await inviteByOperator({ service: another, role: 'viewer', address, console: CONSOLE })
    const token = await tokenOf(address)
    expect(await readInvitation(here.parts, token)).toMatchObject({
      person_id: ada.person.id,
      invited_by_name: 'Grace Hale',
    })
    const [old, own] = [await signIn(ada.person), await signIn(ada.person)]
    for (const someone of [null, await signedIn(await signIn(bob.person))])
      await expect(acceptInvitation(here.parts, token, { ...accepting, signedIn: someone })).rejects.toThrow(
        'Sign in as',
      )
    const accepted = await acceptInvitation(here.parts, token, { ...accepting, signedIn: await signedIn(own) })
    expect(accepted).toMatchObject({ token: null, person: { id: ada.person.id, name: 'Ada Park' } })
    expect((await signedIn(own)).memberships.map(one => one.service_id).sort()).toEqual([service, another].sort())
    expect(await readSession(here.parts, old)).toBe(null)
  })

  test('make no one a member who took the address while the page was open', async () => {
    const service = await newService()
    const address = unknown()
    await inviteByOperator({ service, role: 'manager', address, console: CONSOLE })
    const token = await tokenOf(address)
    const late = await member(await newService(), 'viewer')
    // The statement that takes the invitation waits for the row, and by then the address belongs to someone.
    const accepts = await here.parts.db.transaction(async sql => {
      await sql`select id from invitations where lower(email_address) = lower(${address}) for update`
      const accepts = acceptInvitation(here.parts, token, accepting)
      accepts.catch(() => {})
      await waiting(1)
      await sql`update people set email_address = ${address} where id = ${late.person.id}`
      return [accepts]
    })
    await expect(accepts[0]).rejects.toThrow('Sign in as')
    expect(await listUsers(here.parts.db.sql, service)).toEqual([])
    expect(await listInvitations(here.parts, service)).toHaveLength(1)
  })

  test('are in the language of who invites, unless the person has chosen one', async () => {
    const service = await newService()
    const [address, other] = [unknown(), await member(await newService(), 'viewer')]
    await here.parts.db.sql`update people set language = 'en' where id = ${other.person.id}`
    const common = { service, role: 'manager', console: CONSOLE, language: 'fr' } as const
    await inviteByOperator({ ...common, address })
    await inviteByOperator({ ...common, address: other.person.email_address })
    await tokenOf(address)
    await tokenOf(other.person.email_address)
    const [french] = await mailsTo(address)
    expect(french?.subject).toMatch(/^Invitation à Service /)
    expect(french?.text).toMatch(/vous invite à rejoindre le service «\sService .*\s» comme gestionnaire\.$/m)
    expect((await mailsTo(other.person.email_address))[0]?.subject).toMatch(/^Invitation to Service /)
  })

  test('can be sent again with a new link, changed and withdrawn', async () => {
    const service = await newService()
    const address = unknown()
    const made = await inviteByOperator({ service, role: 'sender', address, console: CONSOLE })
    const first = await tokenOf(address)
    const again = await inviteAgain(here.parts, graceIn(service), service, made.id, { console: CONSOLE })
    expect(again.id).toBe(made.id)
    const second = await tokenOf(address, 2)
    expect(await readInvitation(here.parts, first)).toBe(null)
    expect(await readInvitation(here.parts, second)).toMatchObject({ role: 'sender' })
    await inviteByOperator({ service, role: 'author', address: address.toUpperCase(), console: CONSOLE })
    expect(await listInvitations(here.parts, service)).toMatchObject([{ role: 'author' }])
    await expect(withdrawInvitation(here.parts, OPERATOR, await newService(), made.id)).rejects.toThrow('withdrawn')
    await withdrawInvitation(here.parts, OPERATOR, service, made.id)
    await expect(withdrawInvitation(here.parts, OPERATOR, service, made.id)).rejects.toThrow('withdrawn')
    await expect(inviteAgain(here.parts, graceIn(service), service, made.id, { console: CONSOLE })).rejects.toThrow(
      'withdrawn',
    )
    expect(await listInvitations(here.parts, service)).toEqual([])
  })

  test('end after 7 days, with the service, and for a token that is none', async () => {
    const service = await newService()
    const [one, two] = [unknown(), unknown()]
    for (const address of [one, two]) await inviteByOperator({ service, role: 'sender', address, console: CONSOLE })
    const tokens = [await tokenOf(one), await tokenOf(two)]
    here.moveClock(6.9 * 86_400_000)
    expect(await readInvitation(here.parts, tokens[0])).not.toBe(null)
    here.moveClock(0.2 * 86_400_000)
    for (const token of [...tokens, null, 'x', newToken()]) {
      expect(await readInvitation(here.parts, token)).toBe(null)
      await expect(acceptInvitation(here.parts, token, accepting)).rejects.toThrow('was accepted, withdrawn or')
    }
  })

  test('of operators make operators', async () => {
    const address = unknown()
    await inviteByOperator({ service: null, role: null, address, console: CONSOLE })
    await inviteByOperator({ service: null, role: null, address, console: CONSOLE })
    expect(await listInvitations(here.parts, null)).toHaveLength(1)
    const token = await tokenOf(address, 2)
    expect(await readInvitation(here.parts, token)).toMatchObject({ role: null, service_name: null })
    const { token: session } = await acceptInvitation(here.parts, token, accepting)
    expect((await signedIn(session ?? '')).person.is_operator).toBe(true)
    await expect(inviteByOperator({ service: null, role: null, address, console: CONSOLE })).rejects.toThrow(
      'already an operator',
    )
  })

  test('are throttled, and never lead to a foreign address', async () => {
    const service = await newService()
    const input = { service, role: 'sender', address: unknown(), console: CONSOLE } as const
    for (let n = 0; n < 5; n++) await inviteByOperator(input)
    await expect(inviteByOperator(input)).rejects.toThrow('Too many tries')
    await expect(
      inviteByOperator({ ...input, address: unknown(), console: 'https://evil.example/console' }),
    ).rejects.toThrow('HERALD_BASE_URL')
    await expect(inviteByOperator({ ...input, address: 'nobody' })).rejects.toThrow('not a valid e-mail')
  })

  /** Also those that cannot be accepted. */
  const stored = (service: Id) => here.parts.db.sql`select id from invitations where service_id = ${service}`

  /** Of two that wait for locks, the second one later, while the rows of the statement are held. */
  async function outcomes<A, B>(
    statement: string,
    [first, second]: [() => Promise<A>, () => Promise<B>],
  ): Promise<[A | string, B | string]> {
    const begun: [Promise<A | string>?, Promise<B | string>?] = []
    await whileHeld(statement, async () => {
      begun[0] = outcomeOf(first())
      await waiting(1)
      begun[1] = outcomeOf(second())
      await waiting(2)
    })
    const [a, b] = begun
    if (!a || !b) throw new Error('not begun')
    return [await a, await b]
  }

  const openTo = async (address: string, service: Id | null) =>
    (await listInvitations(here.parts, service)).some(one => one.email_address === address)

  test('to someone who is removed end with the membership, also of operators', async () => {
    const [service, another] = [await newService(), await newService()]
    const address = unknown()
    for (const at of [service, another])
      await inviteByOperator({ service: at, role: 'sender', address, console: CONSOLE })
    await inviteByOperator({ service: null, role: null, address, console: CONSOLE })
    const ada = await member(service, 'author', address)
    await removeMember(here.parts, OPERATOR, service, ada.id)
    expect(await openTo(address, service)).toBe(false)
    expect(await openTo(address, another)).toBe(true)
    const { id } = await addOperator(here.parts, OPERATOR, { email_address: address })
    await addOperator(here.parts, OPERATOR, { email_address: unknown() })
    await removeOperator(here.parts, OPERATOR, address)
    expect(await openTo(address, null)).toBe(false)
    await removePerson(here.parts, OPERATOR, id)
    expect(await openTo(address, another)).toBe(false)
  })

  const losses: [string, (service: Id, id: Id) => Promise<unknown>][] = [
    ['is removed', (service, id) => removeMember(here.parts, OPERATOR, service, id)],
    ['has a lower role', (service, id) => changeRole(here.parts, OPERATOR, service, id, 'developer')],
  ]
  test.each(losses)('by a manager who %s end, and do not come back with the role', async (_, lose) => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const actor = await actorFor(boss.person, service)
    const [address, kept] = [unknown(), unknown()]
    await invite(here.parts, actor, { service, role: 'manager', address, console: CONSOLE })
    await inviteByOperator({ service, role: 'viewer', address: kept, console: CONSOLE })
    const [made] = (await listInvitations(here.parts, service)).filter(one => one.invited_by === boss.person.id)
    const token = await tokenOf(address)
    await lose(service, boss.id)
    expect(await readInvitation(here.parts, token)).toBe(null)
    await expect(acceptInvitation(here.parts, token, accepting)).rejects.toThrow('was accepted, withdrawn or')
    expect((await listInvitations(here.parts, service)).map(one => one.email_address)).toEqual([kept])
    expect((await recorded(made?.id as Id)).at(-1)).toMatchObject({
      ...{ action: 'invitation withdrawn', detail: { because: 'inviter' } },
    })
    await changeRole(here.parts, OPERATOR, service, boss.id, 'manager').catch(() =>
      member(service, 'manager', boss.email_address),
    )
    expect(await readInvitation(here.parts, token)).toBe(null)
  })

  test('by a manager who was removed while they invited are worth nothing', async () => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const actor = await actorFor(boss.person, service) // of a request that began before
    await removeMember(here.parts, OPERATOR, service, boss.id)
    const input = { service, role: 'manager', address: unknown(), console: CONSOLE } as const
    await expect(invite(here.parts, actor, input)).rejects.toThrow('You do not have the permission')
    expect(await stored(service)).toEqual([])
    // Nor do they replace an invitation by someone else.
    await inviteByOperator({ ...input, role: 'viewer' })
    const token = await tokenOf(input.address)
    await expect(invite(here.parts, actor, input)).rejects.toThrow('You do not have the permission')
    expect(await readInvitation(here.parts, token)).toMatchObject({ role: 'viewer', invited_by_name: 'Grace Hale' })
  })

  test('by a manager who has a lower role since the same moment are not made, and do not come with the role', async () => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const actor = await actorFor(boss.person, service)
    const input = { service, role: 'manager', address: unknown(), console: CONSOLE } as const
    const [changed, made] = await outcomes(`select from users where id = '${boss.id}' for update`, [
      () => changeRole(here.parts, OPERATOR, service, boss.id, 'viewer'),
      () => invite(here.parts, actor, input),
    ])
    expect(changed).toMatchObject({ role: 'viewer' })
    expect(made).toMatch('You do not have the permission')
    await changeRole(here.parts, OPERATOR, service, boss.id, 'manager')
    expect(await stored(service)).toEqual([])
  })

  test('by an operator who is none since the same moment, or is removed altogether, are not made', async () => {
    for (const remove of [
      (eve: Person) => removeOperator(here.parts, OPERATOR, eve.email_address),
      (eve: Person) => removePerson(here.parts, OPERATOR, eve.id),
    ]) {
      const service = await newService()
      const eve = await addOperator(here.parts, OPERATOR, { email_address: unknown() })
      const actor = await actorFor(eve, service)
      const input = { service, role: 'manager', console: CONSOLE } as const
      const { id } = await invite(here.parts, actor, { ...input, address: unknown() })
      const [removed, made] = await outcomes(`select from invitations where id = '${id}' for update`, [
        () => remove(eve),
        () => invite(here.parts, actor, { ...input, address: unknown() }),
      ])
      expect(removed).toMatchObject({ id: eve.id })
      expect(made).toMatch('You do not have the permission')
      expect(await stored(service)).toEqual([])
    }
  })

  test('whose inviter is removed while they are accepted: one after the other, not a deadlock', async () => {
    const service = await newService()
    const boss = await member(service, 'manager')
    const address = unknown()
    const input = { service, role: 'manager', address, console: CONSOLE } as const
    await invite(here.parts, await actorFor(boss.person, service), input)
    const token = await tokenOf(address)
    const [removed, accepted] = await outcomes(`select from users where id = '${boss.id}' for update`, [
      () => removeMember(here.parts, OPERATOR, service, boss.id),
      () => acceptInvitation(here.parts, token, accepting),
    ])
    expect(removed).toMatchObject({ id: boss.id })
    expect(accepted).toMatch('was accepted, withdrawn or')
    expect(await listUsers(here.parts.db.sql, service)).toEqual([])
  })

  test('end with the inviter, also when the version before removes them', async () => {
    const service = await newService()
    const eve = await addOperator(here.parts, OPERATOR, { email_address: unknown() })
    const input = { service, role: 'manager', address: unknown(), console: CONSOLE } as const
    await invite(here.parts, await actorFor(eve, service), input)
    const token = await tokenOf(input.address)
    await here.parts.db.sql`delete from people where id = ${eve.id}`
    expect(await stored(service)).toEqual([])
    // One without an inviter is worth nothing.
    const { id } = await inviteByOperator(input)
    await here.parts.db.sql`update invitations set invited_by = null where id = ${id}`
    for (const one of [token, await tokenOf(input.address, 2)]) expect(await readInvitation(here.parts, one)).toBe(null)
  })

  test('by an operator who is none any longer, or is removed altogether, end', async () => {
    await addOperator(here.parts, OPERATOR, { email_address: unknown() })
    const service = await newService()
    for (const remove of [
      (eve: { id: Id; email_address: string }) => removeOperator(here.parts, OPERATOR, eve.email_address),
      (eve: { id: Id; email_address: string }) => removePerson(here.parts, OPERATOR, eve.id),
    ]) {
      const eve = await addOperator(here.parts, OPERATOR, { email_address: unknown() })
      const addresses = [unknown(), unknown()] as const
      await invite(here.parts, await actorFor(eve, null), {
        ...{ service: null, role: null, address: addresses[0], console: CONSOLE },
      })
      await invite(here.parts, await actorFor(eve, service), {
        ...{ service, role: 'manager', address: addresses[1], console: CONSOLE },
      })
      await remove(eve)
      expect(await openTo(addresses[0], null)).toBe(false)
      expect(await openTo(addresses[1], service)).toBe(false)
    }
  })

  test('to a service that is archived end, and do not come back with it', async () => {
    const service = await newService()
    const address = unknown()
    await inviteByOperator({ service, role: 'sender', address, console: CONSOLE })
    const token = await tokenOf(address)
    await changeOrArchive(here.parts, OPERATOR, service, { state: 'archived' })
    await changeOrArchive(here.parts, OPERATOR, service, { state: 'active' })
    expect(await readInvitation(here.parts, token)).toBe(null)
  })

  test('someone who was removed and is invited again signs in with a link, then accepts', async () => {
    const service = await newService()
    const ada = await member(service, 'author')
    await removeMember(here.parts, OPERATOR, service, ada.id)
    const request = {
      address: ada.email_address,
      browser: newToken(),
      network: '192.0.2.1',
      device: 'x',
      knownAs: null,
      console: CONSOLE,
    }
    await askForLink(here.parts, request)
    await inviteByOperator({ service, role: 'viewer', address: ada.email_address, console: CONSOLE })
    const token = await tokenOf(ada.email_address)
    await askForLink(here.parts, request)
    await expect.poll(async () => (await mailsTo(ada.email_address)).length, { timeout: 10_000 }).toBe(2)
    const own = await signedIn(await signIn(ada.person))
    await acceptInvitation(here.parts, token, { ...accepting, signedIn: own })
    expect((await signedIn(await signIn(ada.person))).memberships).toMatchObject([{ service_id: service }])
  })

  test('no one who was only invited can ask for a link', async () => {
    const service = await newService()
    const address = unknown()
    await inviteByOperator({ service, role: 'sender', address, console: CONSOLE })
    await tokenOf(address)
    const request = { address, browser: newToken(), network: '192.0.2.1', knownAs: null, device: 'x', console: CONSOLE }
    await askForLink(here.parts, request)
    expect(await mailsTo(address)).toHaveLength(1)
  })
})

test('the version before adds members without a person and a role', async () => {
  const service = await newService()
  const address = unknown()
  await here.parts.db.sql`
    insert into users (id, service_id, name, email_address) values (${randomUUID()}, ${service}, 'Old', ${address})`
  const person = await personBy(here.parts.db.sql, address)
  expect(person).toMatchObject({ name: 'Old', is_operator: false })
  expect(await listUsers(here.parts.db.sql, service)).toMatchObject([{ role: 'viewer', person_id: person?.id }])
})
