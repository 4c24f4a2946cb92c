// The sample service that the first start creates on an empty embedded database: templates, keys, senders, one user.
import type { Actor } from './audit/actor.ts'
import type { Config } from './config/index.ts'
import type { Clock } from './core/clock.ts'
import type { Id } from './core/id.ts'
import type { Seal } from './core/seal.ts'
import type { Database } from './db/connect.ts'
import { create as createKey } from './keys/create.ts'
import { addOperator, operatorsOf } from './people/operators.ts'
import { create as createService } from './services/create.ts'
import { addOrigin } from './services/origins.ts'
import { addUser } from './services/people.ts'
import { addToSafelist } from './services/safelist.ts'
import { sampleName } from './services/service.ts'
import { holdFirst, isEmpty, list, type ShownService } from './services/sql.ts'
import { create as createTemplate } from './templates/create.ts'
import { addFolder } from './templates/folders.ts'

type App = { config: Config; db: Database; clock: Clock; ids: { next(): Id }; seal: Seal }
type IdAndName = { id: Id; name: string }

export type Sample = {
  service: IdAndName & { mode: ShownService['mode'] }
  /** A key can be shown only when it is created, so keys that must not be shown are not created. */
  keys: { test: string; team?: string; live?: string }
  user: IdAndName & { email_address: string; phone_number: string | null }
  templates: { email: IdAndName; sms: IdAndName }
  reply_to: { id: Id; email_address: string }
  sender: { id: Id; sender: string }
  safelist: { id: Id; recipient: string }
  folder: IdAndName
}

const GENERAL_COMMUNICATION = '207b293c-2ae5-48e8-836d-fcabd60b2153'

/** Which keys are created: only the test key, which sends nothing, or all of them. */
export type SampleKeys = 'test' | 'all'

/** One transaction: half a sample would prevent the next start from creating a complete one. */
export const makeSample = (app: App, actor: Actor, keys: SampleKeys): Promise<Sample> =>
  app.db.transaction(sql => build(within(app, sql), actor, keys))

/** Null when another process has created a service meanwhile: two processes may start on one empty database. */
export const makeFirstSample = (app: App, actor: Actor, keys: SampleKeys): Promise<Sample | null> =>
  app.db.transaction(async sql => {
    await holdFirst(sql)
    if (!(await isEmpty(sql))) return null
    const inside = within(app, sql)
    const sample = await build(inside, actor, keys)
    const { email_address } = sample.user
    // The first who signs in to the console.
    if ((await operatorsOf(inside)).length === 0) await addOperator(inside, actor, { email_address })
    return sample
  })

// The verbs start transactions of their own; here they become part of this one.
const within = (app: App, sql: Database['sql']): App => ({
  ...app,
  db: { ...app.db, sql, transaction: work => work(sql) },
})

async function build(app: App, actor: Actor, wanted: SampleKeys): Promise<Sample> {
  const service = await createService(app, actor, { name: await freeName(app), mode: 'live' })
  const user = await addUser(app, actor, service.id, {
    name: 'Sam Sample',
    email_address: 'sam@example.org',
    phone_number: '+16135550199',
    role: 'manager',
  })
  const key = async (type: 'test' | 'team' | 'normal', name: string) =>
    (await createKey(app, actor, service, { name, key_type: type, manage_templates: true, manage_webhooks: true })).key
  const keys = {
    test: await key('test', 'sample test'),
    ...(wanted === 'all' && {
      team: await key('team', 'sample team'),
      live: await key('normal', 'sample live'),
    }),
  }
  const replyTo = await addOrigin(app, actor, 'reply-to', service.id, {
    value: 'replies@example.org',
    makeDefault: true,
  })
  const sender = await addOrigin(app, actor, 'sender', service.id, { value: 'Herald', makeDefault: true })
  const safelist = await addToSafelist(app, actor, service.id, 'friend@example.org')
  const folder = await addFolder(app, actor, service.id, 'First steps')
  const email = await createTemplate(app, actor, service, {
    name: 'Welcome',
    template_type: 'email',
    subject: 'Hello ((name))',
    content:
      'Hello ((name)),\n\nthis is your first message from Herald.\n\n* It is made from a template\n* It has your name in it',
    template_category_id: GENERAL_COMMUNICATION,
    parent_folder_id: folder.id,
  })
  const sms = await createTemplate(app, actor, service, {
    name: 'Short welcome',
    template_type: 'sms',
    content: 'Hello ((name)), this is your first message from Herald.',
    template_category_id: GENERAL_COMMUNICATION,
    parent_folder_id: folder.id,
  })
  return {
    service: { id: service.id, name: service.name, mode: service.mode },
    keys,
    user: { id: user.id, name: user.name, email_address: user.email_address, phone_number: user.phone_number },
    templates: { email: { id: email.id, name: email.name }, sms: { id: sms.id, name: sms.name } },
    reply_to: { id: replyTo.id, email_address: replyTo.value },
    sender: { id: sender.id, sender: sender.value },
    safelist: { id: safelist.id, recipient: safelist.recipient },
    folder: { id: folder.id, name: folder.name },
  }
}

async function freeName(app: App): Promise<string> {
  const taken = new Set((await list(app.db.sql)).map(service => service.name))
  for (let number = 1; ; number++) {
    const name = sampleName(number)
    if (!taken.has(name)) return name
  }
}
