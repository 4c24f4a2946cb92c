// What callers may send: malformed requests, ids of other services; and receipts of a message in any order.
import fc from 'fast-check'
import { create as createKey } from '../../src/keys/create.ts'
import { type CurrentStatus, isFinal, statusAfter as moved } from '../../src/notifications/status.ts'
import { addOrigin } from '../../src/services/origins.ts'
import { addFolder } from '../../src/templates/folders.ts'
import { askAll, createMalformed } from '../../test/support/malformed.ts'
import { hear, model, news, permutations, RESULTS, SIX, STATUSES } from '../../test/support/status-model.ts'
import { bulk, CASES, type Ids, idsOfRoutes, plain, unknownLike } from '../../test/support/tenants.ts'
import type { Sender } from '../support/client.ts'
import { CATEGORY, type Environment, OPERATOR, type Scenario } from '../support/environment.ts'
import { type Block, type Verdict, verdict } from '../support/promise.ts'

export const inputs: Block = {
  name: 'malformed requests, and ids of other services',
  async run(environment) {
    const env = { HERALD_REQUEST_SECONDS: '3', HERALD_HEADER_SECONDS: '2' }
    const result = await environment.scenario({ apps: 1, services: 1, env }, async scenario => ({
      bad: await malformed(environment, scenario),
      tenants: await tenants(environment, scenario),
    }))
    const { bad, tenants: others } = result
    return [
      verdict(
        'C4',
        'malformed requests',
        '0 × 5xx, 0 deaths, every answer in the usual shape',
        `${bad.tried} bad inputs tried: ${Object.entries(bad.counts)
          .map(([status, count]) => `${count} × ${status}`)
          .join(', ')}`,
        {
          'no 5xx': !Object.keys(bad.counts).some(status => Number(status) >= 500),
          'alive and accepting afterwards': bad.isAlive,
          'no death': result.counts.deaths === 0,
        },
        [...bad.wrong.slice(0, 5), ...result.violations],
      ),
      verdict(
        'I1',
        'no service sees or changes what belongs to another',
        '0 differences to an id that does not exist',
        `${others.asked} questions by ${Object.keys(CASES).length} ids of ${others.routes} routes, ${others.wrong.length} answered otherwise`,
        { 'every id has its case': others.isComplete, 'nothing changed': others.changed.length === 0 },
        [...others.wrong.slice(0, 5), ...others.changed],
      ),
      moves(environment),
      orders(),
    ]
  },
}

async function malformed(environment: Environment, { apps, client, sender, senders }: Scenario) {
  const address = apps[0]?.address ?? ''
  const caller = await managing(environment, await sender({ isOutside: true }))
  const { templates } = caller.sender
  const first = await client.ask('POST', '/v2/notifications/email', {
    key: caller.key,
    body: { email_address: 'a@example.org', template_id: templates.email, personalisation: { token: 'x' } },
  })
  const endpoint = { key: caller.key, body: { url: 'https://fuzz.invalid/events' } }
  const webhook = await client.ask('POST', '/herald/v1/webhooks', endpoint)
  const known = {
    ...templates,
    message: JSON.parse(first.body).id as string,
    webhook: JSON.parse(webhook.body).id as string,
    category: CATEGORY.general,
  }
  const { rawTable, generated } = createMalformed(environment.random.between(1, 1_000_000_000), caller.key, known)
  const all = [...rawTable(), ...Array.from({ length: environment.isLong ? 10_000 : 2_000 }, generated)]
  environment.totals.badInputs = (environment.totals.badInputs ?? 0) + all.length
  const asked = await askAll(address, all)
  const ready = await client.ask('GET', '/health/ready')
  const answer = await client.send({ sender: senders[0] as Sender, idempotencyKey: 'afterwards' })
  return { ...asked, tried: all.length, isAlive: ready.status === 200 && answer.status === 201 }
}

const managing = async (environment: Environment, sender: Sender) => {
  const shape = { name: 'manages', key_type: 'normal' as const, manage_templates: true, manage_webhooks: true }
  return {
    sender,
    key: (await createKey(environment.store, OPERATOR, { id: sender.service, name: '', state: 'active' }, shape)).key,
  }
}

// --- ids of other services

async function tenants(environment: Environment, scenario: Scenario) {
  const address = scenario.apps[0]?.address ?? ''
  const ask = async (key: string, method: string, path: string, body?: unknown) => {
    const headers = {
      authorization: `ApiKey-v1 ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const reply = await fetch(address + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const [owner, stranger] = [await inhabited(environment, scenario, ask), await inhabited(environment, scenario, ask)]
  const belongings = () =>
    Promise.all(
      [
        `/v2/notifications/${owner.ids.scheduled}`,
        `/v2/notifications/bulk/${owner.ids.job}`,
        `/v2/manage-template/${owner.ids.emailTemplate}`,
        `/v2/manage-template/${owner.ids.smsTemplate}`,
        '/v2/templates',
        `/herald/v1/webhooks/${owner.ids.webhook}`,
      ].map(async path => {
        const { status, text } = await ask(owner.key, 'GET', path)
        // What became of the events that were posted to it changes by itself.
        const { failing_since, failures, behind, ...rest } = JSON.parse(text)
        return `${status} ${JSON.stringify(rest)}`
      }),
    )
  const wrong: string[] = []
  let asked = 0
  const before = await belongings()
  for (const [name, { body, path, isAnswered }] of Object.entries(CASES)) {
    const [method = '', template = ''] = name.split(' ')
    const by = (id: string) =>
      ask(
        stranger.key,
        method,
        path ? path(id, stranger.ids) : template.replace(/\{[^}]+\}/, id),
        body?.(stranger.ids, id),
      )
    for (const theirs of Object.values(owner.ids)) {
      const nobodys = unknownLike(theirs)
      const [one, other] = [await by(theirs), await by(nobodys)]
      asked += 2
      const isSame = one.status === other.status && plain(one, theirs) === plain(other, nobodys)
      if (!isSame || (isAnswered ? one.status !== 200 : one.status < 400 || one.status >= 500))
        wrong.push(`${name}: ${one.status} ${one.text.slice(0, 200)}`)
    }
  }
  const lists = [
    '/v2/notifications',
    '/v2/notifications/bulk',
    '/v2/templates',
    '/herald/v1/webhooks',
    '/herald/v1/events',
  ]
  for (const path of lists) {
    const list = await ask(stranger.key, 'GET', path)
    asked++
    const seen = Object.values(owner.ids).find(id => list.text.includes(id))
    if (list.status !== 200 || seen) wrong.push(`GET ${path}: ${list.status} shows ${seen}`)
  }
  const after = await belongings()
  return {
    asked,
    wrong,
    routes: new Set(Object.keys(CASES).map(name => name.slice(0, name.lastIndexOf(' ')))).size,
    changed: before.flatMap((one, at) =>
      one.startsWith('200') && one === after[at] ? [] : [`${one} became ${after[at]}`],
    ),
    isComplete: idsOfRoutes().sort().join() === Object.keys(CASES).sort().join(),
  }
}

type Ask = (key: string, method: string, path: string, body?: unknown) => Promise<{ text: string }>

/** A service with one of everything that has an id. */
async function inhabited(environment: Environment, { sender }: Scenario, ask: Ask): Promise<{ key: string; ids: Ids }> {
  const { store } = environment
  const { sender: one, key } = await managing(environment, await sender({ isOutside: true }))
  const made = async (path: string, body: unknown) => JSON.parse((await ask(key, 'POST', path, body)).text)
  const inOneHour = new Date(Date.now() + 3_600_000).toISOString()
  const shape = { template_type: 'email', subject: 'x', content: 'x', template_category_id: CATEGORY.general }
  const emailTemplate: string = (await made('/v2/manage-template', { ...shape, name: 'A template' })).id
  const archivedTemplate: string = (await made('/v2/manage-template', { ...shape, name: 'An old one' })).id
  await ask(key, 'DELETE', `/v2/manage-template/${archivedTemplate}`)
  const email = { email_address: 'owner@example.org', template_id: emailTemplate }
  return {
    key,
    ids: {
      email: (await made('/v2/notifications/email', email)).id,
      scheduled: (await made('/v2/notifications/email', { ...email, scheduled_for: inOneHour })).id,
      job: (await made('/v2/notifications/bulk', { ...bulk(emailTemplate), scheduled_for: inOneHour })).data.id,
      emailTemplate,
      smsTemplate: one.templates.sms,
      archivedTemplate,
      folder: (await addFolder(store, OPERATOR, one.service, 'A folder')).id,
      replyTo: (
        await addOrigin(store, OPERATOR, 'reply-to', one.service, { value: 'answers@example.org', makeDefault: false })
      ).id,
      webhook: (await made('/herald/v1/webhooks', { url: 'https://owner.example.org/' })).id,
      sender: (await addOrigin(store, OPERATOR, 'sender', one.service, { value: '+16135550101', makeDefault: false }))
        .id,
    },
  }
}

// --- status moves

/** Random sequences of receipts against the model; the checker replays the real moves at the end of every scenario. */
function moves(environment: Environment): Verdict {
  const count = environment.isLong ? 100_000 : 10_000
  const result = fc.check(
    fc.property(
      fc.constantFrom('email' as const, 'sms' as const),
      fc.constantFrom(...STATUSES),
      fc.array(news(RESULTS), { maxLength: 10 }),
      (channel, status, all) => {
        let standing: CurrentStatus = { status, at: null }
        for (const one of all) {
          const next: CurrentStatus = moved(channel, standing, one) ?? standing
          if (next.status !== model(channel, standing, one)) return false
          standing = next
        }
        return true
      },
    ),
    { numRuns: count, seed: environment.random.seed },
  )
  return verdict(
    'O1',
    'only the moves of the interface happen',
    '0 others',
    `${result.numRuns} random sequences go as the model goes; ${environment.totals.moves ?? 0} moves of ${environment.totals.stored ?? 0} messages of this run replayed`,
    { 'as the model': !result.failed },
    result.failed ? [JSON.stringify(result.counterexample)] : [],
  )
}

/** E-mail receipts in every order, each also twice. */
function orders(): Verdict {
  let tried = 0
  const wrong: string[] = []
  for (let size = 1; size <= SIX.length; size++)
    for (const some of [SIX.slice(0, size), SIX.slice(SIX.length - size)]) {
      const ends = new Set<string>()
      for (const order of permutations(some))
        for (const all of [order, [...order, ...order]]) {
          tried++
          const { status, at } = hear('email', { status: 'sending', at: null }, all)
          ends.add(isFinal(status) ? `${status} ${at}` : status)
        }
      if (ends.size > 1) wrong.push([...ends].join(' or '))
    }
  return verdict(
    'O2 orders',
    'e-mail receipts in any order, any number of times, end in the same status',
    '100 %',
    `${tried} orders of up to 6 receipts`,
    {},
    wrong,
  )
}
