// Table of contents: every URL and who may call it.
import type { FastifyInstance, FastifyRequest, HTTPMethods, onRequestHookHandler } from 'fastify'
import { bulkRoutes } from './bulk/routes.ts'
import { networkOf } from './core/network.ts'
import { feedRoutes } from './feed/routes.ts'
import { downloadFile } from './files/routes.ts'
import { createOpenApi } from './http/openapi.ts'
import { refuse } from './http/refusals.ts'
import { idsInPath, noEmptyPart, type Route } from './http/route.ts'
import { sendStatic, staticFile } from './http/static.ts'
import { inboxMessage, inboxPage } from './inbox/page/routes.ts'
import { inboxRoutes } from './inbox/routes.ts'
import { anyKey, callerOf, managerKey, webhookKey } from './keys/hook.ts'
import type { Reads } from './limits/reads.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { isCancelled } from './notifications/sql/cancel.ts'
import type { Parts } from './parts.ts'
import { receiptEndpoint } from './receipts/routes.ts'
import { FIELDS } from './reference/fields.ts'
import { addReference } from './reference/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import { live, ready } from './telemetry/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { timelineRoutes } from './timeline/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

type Who = {
  name: 'any key' | 'a key with manage_templates' | 'a key with manage_webhooks'
  check: onRequestHookHandler
}
/** `id` names the operation in openapi.json. */
type RouteRow = readonly [method: HTTPMethods, url: string, id: string, who: Who, route: Route]

function contents(parts: Parts): readonly RouteRow[] {
  const caller: Who = { name: 'any key', check: anyKey(parts.authenticate) }
  const manager: Who = { name: 'a key with manage_templates', check: managerKey(parts.authenticate) }
  const webhookManager: Who = { name: 'a key with manage_webhooks', check: webhookKey(parts.authenticate) }
  const bulk = bulkRoutes(parts)
  const feed = feedRoutes(parts)
  const inbox = inboxRoutes(parts)
  const notifications = notificationRoutes(parts)
  const reports = reportRoutes(parts)
  const requests = requestRoutes(parts)
  const templates = templateRoutes(parts)
  const timelines = timelineRoutes(parts)
  const webhooks = webhookRoutes(parts)

  return [
    ['POST', '/v2/notifications/email', 'sendEmail', caller, notifications.sendEmail],
    ['POST', '/v2/notifications/sms', 'sendTextMessage', caller, notifications.sendSms],
    ['POST', '/v2/notifications/bulk', 'sendBulk', caller, bulk.sendBulk],
    ['GET', '/v2/notifications/bulk', 'listBulkJobs', caller, bulk.listJobs],
    ['GET', '/v2/notifications/bulk/:job_id', 'getBulkJob', caller, bulk.getJob],
    ['DELETE', '/v2/notifications/bulk/:job_id', 'cancelBulkJob', caller, bulk.cancelJob],
    ['GET', '/v2/notifications', 'listMessages', caller, notifications.listAll],
    ['GET', '/v2/notifications/:notification_id', 'getMessage', caller, notifications.getOne],
    ['DELETE', '/v2/notifications/:notification_id', 'cancelMessage', caller, notifications.cancelOne],
    ['GET', '/v2/manage-template/template-categories', 'listTemplateCategories', manager, templates.listCategories],
    ['POST', '/v2/manage-template', 'createTemplate', manager, templates.createTemplate],
    ['GET', '/v2/manage-template/:template_id', 'getTemplate', manager, templates.getTemplate],
    ['PATCH', '/v2/manage-template/:template_id', 'changeTemplate', manager, templates.updateTemplate],
    ['DELETE', '/v2/manage-template/:template_id', 'archiveTemplate', manager, templates.archiveTemplate],
    ['GET', '/v2/template/:id', 'getLatestTemplateVersion', caller, templates.getVersion],
    ['GET', '/v2/template/:id/:version', 'getTemplateVersion', caller, templates.getVersion],
    ['GET', '/v2/template/:id/version/:version', 'getNumberedTemplateVersion', caller, templates.getVersion],
    ['POST', '/v2/template/:id/preview', 'previewTemplate', caller, templates.previewTemplate],
    ['GET', '/v2/templates', 'listTemplates', caller, templates.listTemplates],
    ['POST', '/herald/v1/check/email', 'checkEmail', caller, notifications.checkEmail],
    ['POST', '/herald/v1/check/sms', 'checkTextMessage', caller, notifications.checkSms],
    ['POST', '/herald/v1/check/bulk', 'checkBulk', caller, bulk.checkFile],
    ['GET', '/herald/v1/events', 'listEvents', caller, feed.listEvents],
    ['GET', '/herald/v1/notifications/:notification_id/timeline', 'getTimeline', caller, timelines.getTimeline],
    ['GET', '/herald/v1/jobs/:job_id/report', 'getBulkJobReport', caller, timelines.getJobReport],
    ['GET', '/herald/v1/inbox', 'listCapturedMessages', caller, inbox.list],
    ['GET', '/herald/v1/inbox/:message_id', 'getCapturedMessage', caller, inbox.get],
    ['DELETE', '/herald/v1/inbox/:message_id', 'deleteCapturedMessage', caller, inbox.remove],
    ['DELETE', '/herald/v1/inbox', 'deleteCapturedMessages', caller, inbox.empty],
    ['GET', '/herald/v1/reports/messages', 'getMessageReport', caller, reports.getMessages],
    ['GET', '/herald/v1/reports/jobs', 'getJobReport', caller, reports.getJobs],
    ['GET', '/herald/v1/statistics', 'getStatistics', caller, reports.getStatistics],
    ['GET', '/herald/v1/requests', 'listRequests', caller, requests.getRequests],
    ['POST', '/herald/v1/webhooks', 'createWebhook', webhookManager, webhooks.createWebhook],
    ['GET', '/herald/v1/webhooks', 'listWebhooks', webhookManager, webhooks.listWebhooks],
    ['GET', '/herald/v1/webhooks/:webhook_id', 'getWebhook', webhookManager, webhooks.getWebhook],
    ['PATCH', '/herald/v1/webhooks/:webhook_id', 'changeWebhook', webhookManager, webhooks.changeWebhook],
    ['DELETE', '/herald/v1/webhooks/:webhook_id', 'removeWebhook', webhookManager, webhooks.removeWebhook],
    ['POST', '/herald/v1/webhooks/:webhook_id/rotate-secret', 'rotateWebhookSecret', webhookManager, webhooks.rotate],
    ['POST', '/herald/v1/webhooks/:webhook_id/test', 'testWebhook', webhookManager, webhooks.testWebhook],
    ['POST', '/herald/v1/webhooks/:webhook_id/replay', 'replayEvents', webhookManager, webhooks.replayEvents],
    ['GET', '/herald/v1/webhooks/:webhook_id/attempts', 'listWebhookAttempts', webhookManager, webhooks.listAttempts],
    ['GET', '/herald/v1/webhooks/:webhook_id/failed', 'listRefusedEvents', webhookManager, webhooks.listFailed],
  ]
}

export function addRoutes(app: FastifyInstance, parts: Parts): void {
  for (const line of contents(parts)) addRoute(app, line, parts.reads)
  // Reading and cancelling accept any id here, but a send names its channel: anything else is an unknown path, not a wrong
  // method.
  hide(app, 'POST', '/v2/notifications/:kind')

  for (const webhook of parts.webhookEndpoints)
    app.post(
      `/receipts/${webhook.name}`,
      { config: { rawBody: true, anyType: true, admission: 'receipts' } },
      receiptEndpoint(webhook, parts.hearReceipts, parts.links.base),
    )
  app.get('/download/:token', { config: { admission: 'download' } }, downloadFile({ ...parts, isCancelled }))
  for (const [path, page] of [
    ['/inbox', inboxPage(parts)],
    ['/inbox/:id', inboxMessage(parts)],
  ] as const)
    app.get(path, { config: { admission: 'turn' } }, (request, reply) =>
      parts.reads.visit({ owner: networkOf(request.ip), person: null }, () => page(request, reply)),
    )

  // For people and for monitoring; nothing here contains data of a message.
  const api = openApi()
  const described = staticFile('application/json', JSON.stringify(api))
  app.get('/openapi.json', { config: { admission: 'page' } }, (request, reply) =>
    parts.reads.page(networkOf(request.ip), () => sendStatic(request, reply, described)),
  )
  addReference(app, parts, api)
  const { figures } = parts
  app.get('/metrics', { config: { admission: 'page' } }, async (request, reply) => {
    if (!figures.isFor(request.raw)) throw refuse.unknownPath()
    const text = await figures.text()
    return parts.reads.page(networkOf(request.ip), () =>
      text ? reply.type(figures.type).send(text) : reply.code(SERVICE_UNAVAILABLE).send(),
    )
  })
}

/** What every server has, also one with only the console. `home`: where `/` leads. */
export function addPlain(app: FastifyInstance, parts: Parts, home: string): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('refusedKey', null)
  app.decorateRequest('waitedMs', 0)
  const plain = { config: { admission: 'plain' } } as const
  app.get('/health/live', plain, live)
  app.get('/health/ready', plain, ready(parts))
  app.get('/', plain, async (_request, reply) => reply.redirect(home))
}

/** Describes every route of the table without calling any, so no part needs to exist. */
export const openApi = () =>
  createOpenApi(
    contents({ db: {} } as Parts).map(([method, url, id, who, route]) => ({ method, url, id, who: who.name, route })),
    FIELDS,
    [
      { name: 'Messages', description: 'Send one message, read its status, cancel it before it is due.' },
      { name: 'Bulk jobs', description: 'Send one template to many recipients, and manage the job.' },
      {
        name: 'Check before sending',
        description: 'Everything that is wrong with a message or a file, without sending it.',
      },
      { name: 'Templates', description: 'Read, preview and manage the texts that messages are made from.' },
      { name: 'Events', description: 'Follow what happens to messages and jobs.' },
      {
        name: 'Inbox',
        description:
          'What was sent to nobody: messages of test keys, and those captured because their channel has no provider. Each key sees messages of keys of its type, for 7 days. Your tests read them here instead of a mailbox.',
      },
      { name: 'Reports', description: 'Messages, jobs and counts of a period, for spreadsheets and other programs.' },
      { name: 'Webhooks', description: 'Endpoints of yours that are sent what happens to messages and jobs.' },
      { name: 'Request log', description: 'What your keys called in the last 24 hours, and what was answered.' },
    ],
  )

type Turn = (request: FastifyRequest, work: () => Promise<unknown>) => Promise<unknown>

/** Sends have priority; everything else is scheduled fairly between services (contract 22.21). */
function turnOf(method: HTTPMethods, { admission }: Route, reads: Reads): Turn {
  if (admission === 'send') return (_request, work) => reads.besides(work)
  if (admission) return (_request, work) => work()
  return (request, work) =>
    reads.run(callerOf(request).service.id, method === 'GET', () => {
      // A caller that has disconnected while waiting is not served.
      if (request.raw.socket.destroyed) throw refuse.unreadable()
      return work()
    })
}

function addRoute(app: FastifyInstance, [method, url, _id, who, route]: RouteRow, reads: Reads): void {
  const turn = turnOf(method, route, reads)
  app.route({
    method,
    url,
    onRequest: [...(url.includes(':') ? [noEmptyPart] : []), who.check, ...(route.ids ? [idsInPath(route.ids)] : [])],
    ...(route.bodyLimit && { bodyLimit: route.bodyLimit }),
    config: { ...route.config, admission: route.admission ?? 'turn' },
    async handler(request, reply) {
      const answer = await turn(request, async () => route.handler(request, reply))
      // A stream is sent here, after its turn: what it reads takes turns of its own.
      return reply.sent ? reply : reply.code(route.status ?? 200).send(answer)
    },
  })
}

const SERVICE_UNAVAILABLE = 503

const hide = (app: FastifyInstance, method: HTTPMethods, url: string) =>
  app.route({
    method,
    url,
    config: { hidden: true, admission: 'plain' },
    onRequest: async () => {
      throw refuse.unknownPath()
    },
    handler: () => {},
  })
