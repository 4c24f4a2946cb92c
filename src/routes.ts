// Table of contents: every URL and who may call it.
import type { FastifyInstance, FastifyRequest, HTTPMethods, onRequestHookHandler } from 'fastify'
import { bulkRoutes } from './bulk/routes.ts'
import { feedRoutes } from './feed/routes.ts'
import { downloadFile } from './files/routes.ts'
import { createOpenApi } from './http/openapi.ts'
import { refuse } from './http/refusals.ts'
import { idsInPath, noEmptyPart, type Route } from './http/route.ts'
import { inboxMessage, inboxPage } from './inbox/page/routes.ts'
import { inboxRoutes } from './inbox/routes.ts'
import { anyKey, callerOf, managerKey, webhookKey } from './keys/hook.ts'
import type { Reads } from './limits/reads.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { isCancelled } from './notifications/sql/cancel.ts'
import type { Parts } from './parts.ts'
import { receiptEndpoint } from './receipts/routes.ts'
import { addReference } from './reference/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import { live, metricsPage, ready } from './telemetry/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { timelineRoutes } from './timeline/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

type Who = {
  name: 'any key' | 'a key with manage_templates' | 'a key with manage_webhooks'
  check: onRequestHookHandler
}
type RouteRow = readonly [method: HTTPMethods, url: string, who: Who, route: Route]

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
    ['POST', '/v2/notifications/email', caller, notifications.sendEmail],
    ['POST', '/v2/notifications/sms', caller, notifications.sendSms],
    ['POST', '/v2/notifications/bulk', caller, bulk.sendBulk],
    ['GET', '/v2/notifications/bulk', caller, bulk.listJobs],
    ['GET', '/v2/notifications/bulk/:job_id', caller, bulk.getJob],
    ['DELETE', '/v2/notifications/bulk/:job_id', caller, bulk.cancelJob],
    ['GET', '/v2/notifications', caller, notifications.listAll],
    ['GET', '/v2/notifications/:notification_id', caller, notifications.getOne],
    ['DELETE', '/v2/notifications/:notification_id', caller, notifications.cancelOne],
    ['GET', '/v2/manage-template/template-categories', manager, templates.listCategories],
    ['POST', '/v2/manage-template', manager, templates.createTemplate],
    ['GET', '/v2/manage-template/:template_id', manager, templates.getTemplate],
    ['PATCH', '/v2/manage-template/:template_id', manager, templates.updateTemplate],
    ['DELETE', '/v2/manage-template/:template_id', manager, templates.archiveTemplate],
    ['GET', '/v2/template/:id', caller, templates.getVersion],
    ['GET', '/v2/template/:id/:version', caller, templates.getVersion],
    ['GET', '/v2/template/:id/version/:version', caller, templates.getVersion],
    ['POST', '/v2/template/:id/preview', caller, templates.previewTemplate],
    ['GET', '/v2/templates', caller, templates.listTemplates],
    ['POST', '/herald/v1/check/email', caller, notifications.checkEmail],
    ['POST', '/herald/v1/check/sms', caller, notifications.checkSms],
    ['POST', '/herald/v1/check/bulk', caller, bulk.checkFile],
    ['GET', '/herald/v1/events', caller, feed.listEvents],
    ['GET', '/herald/v1/notifications/:notification_id/timeline', caller, timelines.getTimeline],
    ['GET', '/herald/v1/jobs/:job_id/report', caller, timelines.getJobReport],
    ['GET', '/herald/v1/inbox', caller, inbox.list],
    ['GET', '/herald/v1/inbox/:message_id', caller, inbox.get],
    ['DELETE', '/herald/v1/inbox/:message_id', caller, inbox.remove],
    ['DELETE', '/herald/v1/inbox', caller, inbox.empty],
    ['GET', '/herald/v1/reports/messages', caller, reports.getMessages],
    ['GET', '/herald/v1/reports/jobs', caller, reports.getJobs],
    ['GET', '/herald/v1/statistics', caller, reports.getStatistics],
    ['GET', '/herald/v1/requests', caller, requests.getRequests],
    ['POST', '/herald/v1/webhooks', webhookManager, webhooks.createWebhook],
    ['GET', '/herald/v1/webhooks', webhookManager, webhooks.listWebhooks],
    ['GET', '/herald/v1/webhooks/:webhook_id', webhookManager, webhooks.getWebhook],
    ['PATCH', '/herald/v1/webhooks/:webhook_id', webhookManager, webhooks.changeWebhook],
    ['DELETE', '/herald/v1/webhooks/:webhook_id', webhookManager, webhooks.removeWebhook],
    ['POST', '/herald/v1/webhooks/:webhook_id/rotate-secret', webhookManager, webhooks.rotate],
    ['POST', '/herald/v1/webhooks/:webhook_id/test', webhookManager, webhooks.testWebhook],
    ['POST', '/herald/v1/webhooks/:webhook_id/replay', webhookManager, webhooks.replayEvents],
    ['GET', '/herald/v1/webhooks/:webhook_id/attempts', webhookManager, webhooks.listAttempts],
    ['GET', '/herald/v1/webhooks/:webhook_id/failed', webhookManager, webhooks.listFailed],
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
      { config: { rawBody: true, anyType: true } },
      receiptEndpoint(webhook, parts.hearReceipts, parts.links.base),
    )
  app.get('/download/:token', downloadFile({ ...parts, isCancelled }))
  app.get('/inbox', inboxPage(parts))
  app.get('/inbox/:id', inboxMessage(parts))

  // For people and for monitoring; nothing here contains data of a message.
  const api = openApi()
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(api))
  addReference(app, parts, api)
  app.get('/metrics', metricsPage(parts.metrics))
}

/** What every server has, also one with only the console. `home`: where `/` leads. */
export function addPlain(app: FastifyInstance, parts: Parts, home: string): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('refusedKey', null)
  app.decorateRequest('waitedMs', 0)
  app.get('/health/live', live)
  app.get('/health/ready', ready(parts))
  app.get('/', async (_request, reply) => reply.redirect(home))
}

/** Describes every route of the table without calling any, so no part needs to exist. */
export const openApi = () =>
  createOpenApi(
    contents({ db: {} } as Parts).map(([method, url, who, route]) => ({ method, url, who: who.name, route })),
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

type Admission = (request: FastifyRequest, work: () => Promise<unknown>) => Promise<unknown>

/** Sends have priority; everything else is scheduled fairly between services (contract 22.21). */
function admissionOf(method: HTTPMethods, url: string, route: Route, reads: Reads): Admission {
  if (route.admitsItself) return (_request, work) => work()
  if (method === 'POST' && url === '/v2/notifications/bulk') return (_request, work) => work()
  if (method === 'POST' && SINGLE_SENDS.includes(url)) return (_request, work) => reads.besides(work)
  return (request, work) =>
    reads.run(callerOf(request).service.id, method === 'GET', () => {
      // A caller that has disconnected while waiting is not served.
      if (request.raw.socket.destroyed) throw refuse.unreadable()
      return work()
    })
}

const SINGLE_SENDS = ['/v2/notifications/email', '/v2/notifications/sms']

function addRoute(app: FastifyInstance, [method, url, who, route]: RouteRow, reads: Reads): void {
  const turn = admissionOf(method, url, route, reads)
  app.route({
    method,
    url,
    onRequest: [...(url.includes(':') ? [noEmptyPart] : []), who.check, ...(route.ids ? [idsInPath(route.ids)] : [])],
    ...(route.bodyLimit && { bodyLimit: route.bodyLimit }),
    ...(route.config && { config: route.config }),
    async handler(request, reply) {
      const answer = await turn(request, async () => route.handler(request, reply))
      return reply.sent ? reply : reply.code(route.status ?? 200).send(answer)
    },
  })
}

const hide = (app: FastifyInstance, method: HTTPMethods, url: string) =>
  app.route({
    method,
    url,
    config: { hidden: true },
    onRequest: async () => {
      throw refuse.unknownPath()
    },
    handler: () => {},
  })
