import type { FastifyRequest } from 'fastify'
import { type Clock, zulu } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database } from '../db/connect.ts'
import { address, type Links } from '../http/links.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import { attempts, refused } from './attempts.ts'
import { change, type WebhookChange } from './change.ts'
import { create, type WebhookInput } from './create.ts'
import { presentAttempt, presentReplay, presentSetAside, presentTest, presentWebhook } from './present.ts'
import { list, read } from './read.ts'
import { remove } from './remove.ts'
import { type ReplayInput, replay } from './replay.ts'
import { rotateSecret } from './rotate.ts'
import * as shape from './schemas.ts'
import type { WebhookSettings } from './settings.ts'
import type { SendTest } from './test.ts'

type App = {
  db: Database
  clock: Clock
  ids: { next(): Id }
  seal: Seal
  links: Links
  reads: Reads
  config: WebhookSettings
  testWebhook: SendTest
}

const PATH = '/herald/v1/webhooks'
const PAGE = 100

export function webhookRoutes(app: App) {
  const createWebhook: Route = {
    summary: 'Create a webhook',
    tag: 'Webhooks',
    example: shape.examples.createWebhook,
    body: shape.createBody,
    status: 201,
    reply: shape.createdReply,
    async handler(request) {
      const { actor, owner } = managerOf(request)
      const { webhook, secret } = await create(app, actor, owner, readCreate(request.body ?? {}))
      return { ...presentWebhook(webhook), secret }
    },
  }

  const listWebhooks: Route = {
    summary: 'List webhooks',
    tag: 'Webhooks',
    example: shape.examples.listWebhooks,
    reply: shape.listReply,
    handler: async request => ({ webhooks: (await list(app, managerOf(request).owner)).map(presentWebhook) }),
  }

  const getWebhook: Route = {
    summary: 'Get a webhook',
    tag: 'Webhooks',
    example: shape.examples.getWebhook,
    ids: { webhook_id: 'id' },
    reply: shape.webhookReply,
    handler: async request => presentWebhook(await read(app, managerOf(request).owner, webhookIn(request))),
  }

  const changeWebhook: Route = {
    summary: 'Change, pause or resume a webhook',
    tag: 'Webhooks',
    example: shape.examples.changeWebhook,
    ids: { webhook_id: 'id' },
    body: shape.changeBody,
    reply: shape.webhookReply,
    async handler(request) {
      const { actor, owner } = managerOf(request)
      return presentWebhook(await change(app, actor, owner, webhookIn(request), readChange(request.body ?? {})))
    },
  }

  const removeWebhook: Route = {
    summary: 'Remove a webhook',
    tag: 'Webhooks',
    example: shape.examples.removeWebhook,
    ids: { webhook_id: 'id' },
    reply: shape.removedReply,
    async handler(request) {
      const { actor, owner } = managerOf(request)
      await remove(app, actor, owner, webhookIn(request))
      return { result: 'success' }
    },
  }

  const rotate: Route = {
    summary: 'Replace the secret of a webhook',
    tag: 'Webhooks',
    example: shape.examples.rotateSecret,
    ids: { webhook_id: 'id' },
    body: shape.rotateBody,
    reply: shape.rotatedReply,
    config: { optionalBody: true },
    async handler(request) {
      const { actor, owner } = managerOf(request)
      const { overlap_hours } = readRotate(request.body ?? {})
      const { secret, previousUntil } = await rotateSecret(app, actor, owner, webhookIn(request), overlap_hours)
      return { secret, previous_valid_until: zulu(previousUntil) }
    },
  }

  const testWebhook: Route = {
    summary: 'Send a test event now',
    tag: 'Webhooks',
    example: shape.examples.testWebhook,
    ids: { webhook_id: 'id' },
    reply: shape.testReply,
    admission: 'own',
    config: { optionalBody: true },
    async handler(request) {
      const { actor, owner } = managerOf(request)
      const admit = <T>(service: Id, read: () => Promise<T>) => app.reads.run(service, false, read)
      return presentTest(await app.testWebhook(actor, owner, webhookIn(request), admit))
    },
  }

  const replayEvents: Route = {
    summary: 'Send events again',
    tag: 'Webhooks',
    example: shape.examples.replay,
    ids: { webhook_id: 'id' },
    body: shape.replayBody,
    status: 202,
    reply: shape.replayReply,
    async handler(request) {
      const { actor, owner } = managerOf(request)
      return presentReplay(await replay(app, actor, owner, webhookIn(request), readReplay(request.body ?? {})))
    },
  }

  const listAttempts: Route = {
    summary: 'List attempts of the last 7 days, newest first',
    tag: 'Webhooks',
    example: shape.examples.listAttempts,
    ids: { webhook_id: 'id' },
    query: shape.attemptsQuery,
    reply: shape.attemptsReply,
    async handler(request) {
      const { failed, older_than } = readAttempts(queryOf(request))
      const id = webhookIn(request)
      const page = { olderThan: readId(older_than), most: PAGE, isFailed: failed === 'true' }
      const found = await attempts(app, managerOf(request).owner, id, page)
      const link = (olderThan: string | undefined) =>
        linkTo(request, `${id}/attempts`, [
          ['failed', failed],
          ['older_than', olderThan],
        ])
      return {
        attempts: found.map(attempt => presentAttempt(app.seal, attempt)),
        links: linksOf(link, older_than, found.length, found.at(-1)?.id),
      }
    },
  }

  const listFailed: Route = {
    summary: 'List single events that the endpoint refused, newest first',
    tag: 'Webhooks',
    example: shape.examples.listFailed,
    ids: { webhook_id: 'id' },
    query: shape.failedQuery,
    reply: shape.failedReply,
    async handler(request) {
      const { older_than } = readFailed(queryOf(request))
      const id = webhookIn(request)
      const found = await refused(app, managerOf(request).owner, id, { olderThan: readId(older_than), most: PAGE })
      const link = (olderThan: string | undefined) => linkTo(request, `${id}/failed`, [['older_than', olderThan]])
      return {
        events: found.map(presentSetAside),
        links: linksOf(link, older_than, found.length, found.at(-1)?.event),
      }
    },
  }

  const linkTo = (request: FastifyRequest, path: string, query: Parameters<typeof address>[1]) =>
    app.links.base(request) + address(`${PATH}/${path}`, query)

  return {
    ...{ createWebhook, listWebhooks, getWebhook, changeWebhook, removeWebhook },
    ...{ rotate, testWebhook, replayEvents, listAttempts, listFailed },
  }
}

/** A key manages the endpoints of its service and its own type. */
function managerOf(request: FastifyRequest) {
  const { service, key } = callerOf(request)
  return { actor: actorOf(key), owner: { service_id: service.id, key_type: key.key_type } }
}

const webhookIn = (request: FastifyRequest) => idParam(request, 'webhook_id')

const linksOf = (
  link: (olderThan: string | undefined) => string,
  olderThan: string | undefined,
  found: number,
  last: Id | undefined,
) => ({ current: link(olderThan), next: found === PAGE ? link(last) : null })

const readCreate = reader<WebhookInput>(shape.createBody)
const readChange = reader<WebhookChange>(shape.changeBody)
const readRotate = reader<{ overlap_hours?: number }>(shape.rotateBody)
const readReplay = reader<ReplayInput>(shape.replayBody)
const readAttempts = reader<{ failed?: 'true' | 'false'; older_than?: string }>(shape.attemptsQuery)
const readFailed = reader<{ older_than?: string }>(shape.failedQuery)
