// S-36: every change of keys, templates and services and every cancel adds an entry with its actor, and no entry can be changed.
import { userInfo } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Actor, PERMISSIONS } from '../../src/audit/actor.ts'
import type { Action, AuditEntry } from '../../src/audit/sql.ts'
import { cancel as cancelJob } from '../../src/bulk/cancel.ts'
import { run } from '../../src/cli/run.ts'
import type { Id } from '../../src/core/id.ts'
import { create as createKey } from '../../src/keys/create.ts'
import { actorOf } from '../../src/keys/key.ts'
import { revoke } from '../../src/keys/revoke.ts'
import { cancel as cancelMessage } from '../../src/notifications/cancel.ts'
import { removeMember } from '../../src/people/members.ts'
import { change, resume, suspend } from '../../src/services/change.ts'
import { create as createService } from '../../src/services/create.ts'
import { addOrigin, chooseDefault, dropOrigin } from '../../src/services/origins.ts'
import { addUser } from '../../src/services/people.ts'
import { addToSafelist, dropFromSafelist, replaceSafelist } from '../../src/services/safelist.ts'
import { archive } from '../../src/templates/archive.ts'
import { create as createTemplate } from '../../src/templates/create.ts'
import { addFolder, changeFolder, dropFolder } from '../../src/templates/folders.ts'
import { move } from '../../src/templates/move.ts'
import { update } from '../../src/templates/update.ts'
import { change as changeWebhook } from '../../src/webhooks/change.ts'
import { create as createWebhook } from '../../src/webhooks/create.ts'
import { remove as removeWebhook } from '../../src/webhooks/remove.ts'
import { replay } from '../../src/webhooks/replay.ts'
import { rotateSecret } from '../../src/webhooks/rotate.ts'
import { emailTemplate, inMinutes, type Key, SMS, smsTemplate } from '../support/sends.ts'
import { CATEGORY, OPERATOR, type World, world } from '../support/world.ts'

let here: World
let service: Awaited<ReturnType<World['service']>>
let key: Key

beforeAll(async () => {
  here = await world()
  service = await here.service()
  key = await service.key()
})

async function herald(...argv: string[]) {
  let [out, err] = ['', '']
  const streams = {
    out(text: string) {
      out += text
    },
    err(text: string) {
      err += text
    },
  }
  const code = await run(argv, streams, () => here.config)
  return { code, out, err }
}

async function audit(): Promise<AuditEntry[]> {
  const { out } = await herald('audit', '--service', service.id, '--most', '1000', '--json')
  return JSON.parse(out).audit
}

/** The entries that the work added, oldest first. */
async function added(work: () => Promise<unknown>) {
  const before = (await audit()).length
  await work()
  const now = await audit()
  return now
    .slice(0, now.length - before)
    .reverse()
    .map(({ action, key_id, subject_id, detail }) => ({ action, key_id, subject_id, detail }))
}

const scheduled = { phone_number: '+16135550123', scheduled_for: inMinutes(30) }

const scheduledMessage = async (): Promise<Id> =>
  (await key.post(SMS, { ...scheduled, template_id: await smsTemplate(key, 'Hi') })).body.id

async function scheduledJob(): Promise<Id> {
  const { scheduled_for } = scheduled
  const template_id = await smsTemplate(key, 'Hi')
  const body = { name: 'A job', template_id, csv: 'phone number\n+16135550123', scheduled_for }
  return (await key.post('/v2/notifications/bulk', body)).body.data.id
}

describe('S-36 each action leaves a row', () => {
  test('a key that is created, and revoked once', async () => {
    let id = ''
    const lines = await added(async () => {
      id = (await service.key({ type: 'team', manageTemplates: false })).id
      await herald('key', 'revoke', id)
      await herald('key', 'revoke', id)
    })
    const detail = { key_type: 'team', manage_templates: false, manage_webhooks: false }
    expect(lines).toEqual([
      { action: 'key created', key_id: null, subject_id: id, detail },
      { action: 'key revoked', key_id: null, subject_id: id, detail: null },
    ])
  })

  test('a template that is created, changed, and archived once', async () => {
    let id = ''
    const lines = await added(async () => {
      id = await emailTemplate(key)
      await key.patch(`/v2/manage-template/${id}`, { content: 'Other' })
      await key.delete(`/v2/manage-template/${id}`)
      await key.delete(`/v2/manage-template/${id}`)
    })
    expect(lines.map(({ action, detail }) => [action, detail])).toEqual([
      ['template created', null],
      ['template changed', { version: 2, literal_values: false }],
      ['template archived', null],
    ])
    for (const line of lines) expect(line).toMatchObject({ key_id: key.id, subject_id: id })
  })

  test('limits', async () => {
    const lines = await added(() => herald('service', 'set', service.id, '--email-daily-limit', '7'))
    expect(lines).toEqual([
      { action: 'service changed', key_id: null, subject_id: service.id, detail: { email_daily_limit: 7 } },
    ])
  })

  test('a message and a job that are cancelled, by key and by operator', async () => {
    const ids = [await scheduledMessage(), await scheduledJob(), await scheduledJob()]
    const lines = await added(async () => {
      await key.delete(`/v2/notifications/${ids[0]}`)
      await key.delete(`/v2/notifications/${ids[0]}`)
      await key.post(`/v2/notifications/bulk/${ids[1]}`)
      await key.delete(`/v2/notifications/bulk/${ids[1]}`)
      await herald('job', 'cancel', String(ids[2]))
    })
    expect(lines.map(line => [line.action, line.key_id, line.subject_id])).toEqual([
      ['message cancelled', key.id, ids[0]],
      ['job cancelled', key.id, ids[1]],
      ['job cancelled', null, ids[2]],
    ])
  })

  test('a refused action leaves none', async () => {
    const body = { name: 'x', template_type: 'email', subject: 's', content: 'x'.repeat(50_001) }
    const lines = await added(async () => {
      await key.post('/v2/manage-template', { ...body, template_category_id: CATEGORY.general })
      await key.delete(`/v2/notifications/${service.id}`)
      await herald('service', 'set', service.id, '--email-daily-limit', '-1')
    })
    expect(lines).toEqual([])
  })
})

type Change = (actor: Actor) => Promise<{ subject: Id }>

const newTemplate = {
  name: 'A name',
  template_type: 'sms' as const,
  content: 'Hi',
  template_category_id: CATEGORY.general,
}
const newKey = { name: 'another', key_type: 'test' as const }

const newHook = () => createWebhook(here.parts, OPERATOR, { service_id: service.id, key_type: 'normal' }, { url: HOOK })
const HOOK = 'https://permits.example.org/events'
const owner = () => ({ service_id: service.id, key_type: null })

/** Of a person who signs in, whoever it is, and of their groups: test/people. */
type OfPeople =
  | 'signed in'
  | 'signed out'
  | 'session ended'
  | 'sign-in link made'
  | 'passkey added'
  | 'passkey renamed'
  | 'passkey removed'
  | 'account changed'
  | 'address changed'
  | 'identity linked'
  | 'person added'
  | 'operator added'
  | 'operator removed'
  | 'member added'
  | 'member removed'
  | 'role changed'
  | 'person invited'
  | 'invitation withdrawn'
  | 'person removed'
  | 'service created'
/** Of a person who sends or exports: test/send-as.test.ts, test/sheets.test.ts, test/job-again.test.ts, test/console/messages.test.ts. */
type OfSenders = 'message sent' | 'message sent again' | 'messages exported' | 'job sent' | 'job sent again'

/** Of people who delete from the inbox; what a key deletes there is not recorded: test/inbox.test.ts. */
type OfInbox = 'captured message deleted' | 'inbox emptied'

/** Of moves between cells: test/transfers.test.ts. Of requests to go live and of links to addresses: test/console/settings.test.ts. Of the installation: test/console/system.test.ts, test/installation.test.ts. */
type OfOthers =
  | 'service exported'
  | 'service imported'
  | 'live requested'
  | 'live granted'
  | 'live declined'
  | 'reply-to verified'
  | 'sending held'
  | 'sending released'
  | 'provider tested'
  | 'file store adopted'

/** Every other action, by its verb; Herald itself disables a webhook. */
const changes: Record<Exclude<Action, 'webhook disabled' | OfPeople | OfSenders | OfInbox | OfOthers>, Change> = {
  'key created': async actor => ({ subject: (await createKey(here.parts, actor, service, newKey)).id }),
  'key revoked': async actor => {
    const { id } = await createKey(here.parts, OPERATOR, service, newKey)
    return { subject: (await revoke(here.parts, actor, id)).id }
  },
  'template created': async actor => ({
    subject: (await createTemplate(here.parts, actor, service, newTemplate)).id,
  }),
  'template changed': async actor => {
    const { id } = await createTemplate(here.parts, OPERATOR, service, newTemplate)
    return { subject: (await update(here.parts, actor, service.id, id, { content: 'Ho' })).id }
  },
  'template archived': async actor => {
    const { id } = await createTemplate(here.parts, OPERATOR, service, newTemplate)
    return { subject: (await archive({ ...here.parts, sql: here.parts.db.sql }, actor, service.id, id)).id }
  },
  'template moved': async actor => {
    const { id } = await createTemplate(here.parts, OPERATOR, service, newTemplate)
    const folder = await newFolder()
    await move(here.parts, actor, service.id, [id], folder.id)
    return { subject: id }
  },
  'folder created': async actor => ({ subject: (await newFolder(actor)).id }),
  'folder renamed': onFolder((actor, id) => changeFolder(here.parts, actor, service.id, id, { name: `Other ${id}` })),
  'folder moved': onFolder(async (actor, id) =>
    changeFolder(here.parts, actor, service.id, id, { parent: (await newFolder()).id }),
  ),
  'folder removed': onFolder((actor, id) => dropFolder(here.parts, actor, service.id, id, { moveOut: false })),
  'service changed': async actor => ({
    subject: (await change(here.parts, actor, service.id, { email_daily_limit: 70 })).id,
  }),
  'service suspended': async actor => {
    const { id } = await suspend(here.parts, actor, service.id, 'Too many bounces')
    await resume(here.parts, OPERATOR, id)
    return { subject: id }
  },
  'service resumed': async actor => {
    await suspend(here.parts, OPERATOR, service.id, 'Too many bounces')
    try {
      return { subject: (await resume(here.parts, actor, service.id)).id }
    } catch (error) {
      await resume(here.parts, OPERATOR, service.id) // the other changes need it
      throw error
    }
  },
  'reply-to added': async actor => ({ subject: (await newReplyTo(actor)).id }),
  'reply-to removed': async actor => {
    const { id } = await newReplyTo(OPERATOR)
    return { subject: (await dropOrigin(here.parts, actor, 'reply-to', service.id, id)).id }
  },
  'default reply-to chosen': async actor => {
    const { id } = await newReplyTo(OPERATOR)
    return { subject: (await chooseDefault(here.parts, actor, 'reply-to', service.id, id)).id }
  },
  'sender added': async actor => ({ subject: (await newSender(actor)).id }),
  'sender removed': async actor => {
    const { id } = await newSender(OPERATOR)
    return { subject: (await dropOrigin(here.parts, actor, 'sender', service.id, id)).id }
  },
  'default sender chosen': async actor => {
    const { id } = await newSender(OPERATOR)
    return { subject: (await chooseDefault(here.parts, actor, 'sender', service.id, id)).id }
  },
  'message cancelled': async actor => {
    const subject = await scheduledMessage()
    await cancelMessage({ ...here.parts, sql: here.parts.db.sql }, actor, service.id, subject)
    return { subject }
  },
  'job cancelled': async actor => ({
    subject: (await cancelJob({ ...here.parts, sql: here.parts.db.sql }, actor, service.id, await scheduledJob())).id,
  }),
  'webhook created': async actor => {
    const { webhook } = await createWebhook(here.parts, actor, { ...owner(), key_type: 'test' }, { url: HOOK })
    await removeWebhook(here.parts, OPERATOR, owner(), webhook.id)
    return { subject: webhook.id }
  },
  'webhook changed': onWebhook((actor, id) => changeWebhook(here.parts, actor, owner(), id, { batch: 7 })),
  'webhook resumed': onWebhook(async (actor, id) => {
    await changeWebhook(here.parts, OPERATOR, owner(), id, { state: 'paused' })
    await changeWebhook(here.parts, actor, owner(), id, { state: 'active' })
  }),
  'webhook secret rotated': onWebhook((actor, id) => rotateSecret(here.parts, actor, owner(), id)),
  'webhook replayed': onWebhook((actor, id) => replay(here.parts, actor, owner(), id, { from: '2026-01-15' })),
  'safelist changed': async actor => {
    await addToSafelist(here.parts, actor, service.id, `${here.parts.ids.next()}@example.org`)
    return { subject: service.id }
  },
  'webhook removed': onWebhook((actor, id) => removeWebhook(here.parts, actor, owner(), id)),
}

let origins = 0
const newReplyTo = (actor: Actor) =>
  addOrigin(here.parts, actor, 'reply-to', service.id, { value: `r${++origins}@example.org`, makeDefault: false })
const newSender = (actor: Actor) =>
  addOrigin(here.parts, actor, 'sender', service.id, { value: `S${++origins}`, makeDefault: false })

const newFolder = (actor: Actor = OPERATOR) =>
  addFolder(here.parts, actor, service.id, `Folder ${here.parts.ids.next()}`)

function onFolder(work: (actor: Actor, id: Id) => Promise<unknown>): Change {
  return async actor => {
    const { id } = await newFolder()
    await work(actor, id)
    return { subject: id }
  }
}

/** On an endpoint that is removed afterwards: a service has at most 20. */
function onWebhook(work: (actor: Actor, id: Id) => Promise<unknown>): Change {
  return async actor => {
    const { id } = (await newHook()).webhook
    try {
      await work(actor, id)
    } finally {
      await here.parts.db.sql`delete from webhooks where id = ${id}`
    }
    return { subject: id }
  }
}

/** Actors that may do everything in the service, whatever keys and people are granted today. */
const actors: Record<Actor['kind'], (at: Id) => Actor> = {
  key: at => ({
    ...actorOf({ ...key, service_id: at, manage_templates: true, manage_webhooks: true }),
    permissions: PERMISSIONS,
  }),
  person: at => ({
    kind: 'person',
    id: service.user.id,
    service_id: at,
    email_address: 'ada@example.org',
    name: 'Ada Park',
    permissions: PERMISSIONS,
  }),
  operator: () => OPERATOR,
}
const kinds = Object.keys(actors) as Actor['kind'][]

describe.each(kinds)('each verb records its actor: %s', kind => {
  test.each(Object.keys(changes) as (keyof typeof changes)[])('%s', async action => {
    const actor = actors[kind](service.id)
    const { subject } = await changes[action](actor)
    const [entry] = (await audit()).filter(entry => entry.subject_id === subject && entry.action === action)
    expect(entry).toMatchObject({
      action,
      subject_id: subject,
      actor_kind: kind,
      actor_id: actor.kind === 'operator' ? null : actor.id,
      key_id: actor.kind === 'key' ? actor.id : null,
      // A person's name is personal data: only the id is recorded.
      actor_name: { key: 'a key', person: null, operator: 'tests' }[kind],
    })
  })
})

test('created_by comes from the actor', async () => {
  const author = async (actor: Actor) => (await createTemplate(here.parts, actor, service, newTemplate)).created_by
  expect(await author(actors.key(service.id))).toBe('maria@example.org')
  expect(await author(actors.person(service.id))).toBe('ada@example.org')
  expect(await author(OPERATOR)).toBe('maria@example.org')
  const another = await createService(here.parts, OPERATOR, { name: 'Without a team' })
  expect((await createKey(here.parts, OPERATOR, another, newKey)).created_by).toMatch(/^operator@/)
})

describe('an actor without the permission is refused and nothing is recorded', () => {
  /** Verbs that change a service without an entry. */
  const unrecorded: Record<string, (actor: Actor) => Promise<unknown>> = {
    'service created': actor => createService(here.parts, actor, { name: 'Unwanted' }),
    'team member added': actor =>
      addUser(here.parts, actor, service.id, { name: 'Bob', email_address: 'bob@example.org' }),
    'team member removed': actor => removeMember(here.parts, actor, service.id, service.user.id),
    'safelist entry removed': actor => dropFromSafelist(here.parts, actor, service.id, 'bob@example.org'),
    'safelist replaced': actor => replaceSafelist(here.parts, actor, service.id, { text: '', seen: '' }),
  }
  const refused = {
    kind: 'ForbiddenError',
    message: expect.stringMatching(/^You do not have the permission for this: /),
  }

  test.each(['key', 'person'] as const)('%s', async kind => {
    const id = here.parts.ids.next()
    const powerless = { ...actors[kind](service.id), id, permissions: [] } as Actor
    const stranger = { ...actors[kind]((await here.service()).id), id } as Actor
    const attempts = Object.entries({ ...changes, ...unrecorded })
    for (const [name, attempt] of attempts) {
      await expect(attempt(powerless), name).rejects.toMatchObject(refused)
      // A key is revoked by id alone: another service does not find it.
      await expect(attempt(stranger), name).rejects.toMatchObject(
        name === 'key revoked' ? { message: expect.stringMatching(/^There is no key/) } : refused,
      )
    }
    expect(await here.parts.db.sql`select id from audit where actor_id = ${id}`).toEqual([])
  })
})

test('S-36 a written row stays: the program itself cannot change or delete it', async () => {
  const { sql, script } = here.parts.db
  const count = async () => (await sql<{ n: number }>`select count(*)::integer as n from audit`)[0]?.n
  const before = await count()
  expect(before).toBeGreaterThan(0)
  const denied = /added and never changed/
  await expect(sql`update audit set action = 'nothing'`).rejects.toThrow(denied)
  await expect(sql`delete from audit`).rejects.toThrow(denied)
  await expect(script('truncate audit')).rejects.toThrow(denied)
  await expect(script('truncate audit, services cascade')).rejects.toThrow(denied)
  expect(await count()).toBe(before)
})

test('an entry of a version without actors is shown by its key, or as the operator', async () => {
  const { sql } = here.parts.db
  for (const key_id of [key.id, null])
    await sql`
      insert into audit (service_id, key_id, action, subject_id)
      values (${service.id}, ${key_id}::uuid, 'template archived', ${service.id})`
  const [operators, keys] = await audit()
  expect(operators).toMatchObject({ key_id: null, actor_kind: 'operator', actor_id: null, actor_name: null })
  expect(keys).toMatchObject({ key_id: key.id, actor_kind: 'key', actor_id: key.id, actor_name: 'a key' })
  const { out } = await herald('audit', '--service', service.id, '--most', '2')
  expect(out).toMatch(/ operator +template archived /)
  expect(out).toContain(` key a key (${key.id})  template archived `)
})

test('herald audit names the operator by the system account', async () => {
  await herald('service', 'set', service.id, '--email-daily-limit', '8')
  const [entry] = await audit()
  const { username } = userInfo()
  expect(entry).toMatchObject({ actor_kind: 'operator', actor_id: null, key_id: null, actor_name: username })
  const { out } = await herald('audit', '--service', service.id, '--most', '1')
  expect(out).toContain(` operator ${username}  service changed `)
})

test('herald audit lists all services, without names of people', async () => {
  const { code, out } = await herald('audit', '--most', '3')
  expect(code).toBe(0)
  expect(out.trimEnd().split('\n')).toHaveLength(4)
  expect(out).toMatch(/^WHEN +SERVICE +WHO +DID +TO +DETAIL/)
  expect((await herald('audit', '--json')).out).not.toMatch(/maria|@/)
})
