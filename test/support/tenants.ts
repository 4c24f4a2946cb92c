// Every id that a route takes, and how to use it in a request (reliability I1, S-04): for the test and for the fault tests.
import { randomUUID } from 'node:crypto'
import { resolved } from '../../src/http/openapi.ts'
import { openApi } from '../../src/routes.ts'

/** Objects of a service that have an id. */
export type Ids = Record<
  | 'email'
  | 'scheduled'
  | 'job'
  | 'emailTemplate'
  | 'smsTemplate'
  | 'archivedTemplate'
  | 'folder'
  | 'replyTo'
  | 'sender'
  | 'webhook',
  string
>

const GENERAL = '207b293c-2ae5-48e8-836d-fcabd60b2153'

export const bulk = (template_id: string) => ({
  template_id,
  name: 'A job',
  rows: [['email address'], ['owner@example.org']],
})

type Case = {
  body?: (own: Ids, id: string) => unknown
  /** Where the id is put when it is not in the path. */
  path?: (id: string, own: Ids) => string
  /** It is answered with 200: a check that says so, or a list without anything. */
  isAnswered?: true
}

const changed = () => ({ name: 'Taken over' })

/** Method and path of a route, and which id in it is tested: in the path, the query or the body. */
export const CASES: Record<string, Case> = {
  'POST /v2/notifications/email template_id': {
    body: (_own, id) => ({ email_address: 'a@example.org', template_id: id }),
  },
  'POST /v2/notifications/email email_reply_to_id': {
    body: (own, id) => ({ email_address: 'a@example.org', template_id: own.emailTemplate, email_reply_to_id: id }),
  },
  'POST /v2/notifications/sms template_id': {
    body: (_own, id) => ({ phone_number: '+16135550102', template_id: id }),
  },
  'POST /v2/notifications/sms sms_sender_id': {
    body: (own, id) => ({ phone_number: '+16135550102', template_id: own.smsTemplate, sms_sender_id: id }),
  },
  'POST /v2/notifications/bulk template_id': { body: (_own, id) => bulk(id) },
  'POST /v2/notifications/bulk reply_to_id': { body: (own, id) => ({ ...bulk(own.emailTemplate), reply_to_id: id }) },
  'GET /v2/notifications/bulk older_than': { path: id => `/v2/notifications/bulk?older_than=${id}` },
  'GET /v2/notifications/bulk/{job_id} job_id': {},
  'DELETE /v2/notifications/bulk/{job_id} job_id': {},
  'GET /herald/v1/jobs/{job_id}/report job_id': {},
  'POST /herald/v1/check/email template_id': {
    body: (_own, id) => ({ email_address: 'a@example.org', template_id: id }),
    isAnswered: true,
  },
  'POST /herald/v1/check/email email_reply_to_id': {
    body: (own, id) => ({ email_address: 'a@example.org', template_id: own.emailTemplate, email_reply_to_id: id }),
    isAnswered: true,
  },
  'POST /herald/v1/check/sms template_id': {
    body: (_own, id) => ({ phone_number: '+16135550102', template_id: id }),
    isAnswered: true,
  },
  'POST /herald/v1/check/sms sms_sender_id': {
    body: (own, id) => ({ phone_number: '+16135550102', template_id: own.smsTemplate, sms_sender_id: id }),
    isAnswered: true,
  },
  'POST /herald/v1/check/bulk template_id': { body: (_own, id) => bulk(id), isAnswered: true },
  'POST /herald/v1/check/bulk reply_to_id': {
    body: (own, id) => ({ ...bulk(own.emailTemplate), reply_to_id: id }),
    isAnswered: true,
  },
  'GET /herald/v1/inbox/{message_id} message_id': {},
  'DELETE /herald/v1/inbox/{message_id} message_id': {},
  'GET /herald/v1/reports/messages template_id': {
    path: id => `/herald/v1/reports/messages?template_id=${id}`,
    isAnswered: true,
  },
  'GET /herald/v1/requests key_id': { path: id => `/herald/v1/requests?key_id=${id}`, isAnswered: true },
  'GET /herald/v1/requests older_than': { path: id => `/herald/v1/requests?older_than=${id}`, isAnswered: true },
  'GET /v2/notifications older_than': { path: id => `/v2/notifications?older_than=${id}` },
  'GET /v2/notifications/{notification_id} notification_id': {},
  'DELETE /v2/notifications/{notification_id} notification_id': {},
  'POST /v2/manage-template template_category_id': {
    body: (_own, id) => ({ name: 'x', template_type: 'sms', content: 'x', template_category_id: id }),
  },
  'POST /v2/manage-template parent_folder_id': {
    body: (_own, id) => ({
      name: 'x',
      template_type: 'sms',
      content: 'x',
      template_category_id: GENERAL,
      parent_folder_id: id,
    }),
  },
  'GET /v2/manage-template/{template_id} template_id': {},
  'PATCH /v2/manage-template/{template_id} template_id': { body: changed },
  'PATCH /v2/manage-template/{template_id} template_category_id': {
    path: (_id, own) => `/v2/manage-template/${own.emailTemplate}`,
    body: (_own, id) => ({ template_category_id: id }),
  },
  'PATCH /v2/manage-template/{template_id} parent_folder_id': {
    path: (_id, own) => `/v2/manage-template/${own.emailTemplate}`,
    body: (_own, id) => ({ parent_folder_id: id }),
  },
  'DELETE /v2/manage-template/{template_id} template_id': {},
  'GET /v2/template/{id} id': {},
  'GET /v2/template/{id}/{version} id': { path: id => `/v2/template/${id}/1` },
  'GET /v2/template/{id}/version/{version} id': { path: id => `/v2/template/${id}/version/1` },
  'POST /v2/template/{id}/preview id': { body: () => ({ personalisation: {} }) },
  'GET /herald/v1/notifications/{notification_id}/timeline notification_id': {},
  'GET /herald/v1/webhooks/{webhook_id} webhook_id': {},
  'PATCH /herald/v1/webhooks/{webhook_id} webhook_id': { body: () => ({ state: 'paused' }) },
  'DELETE /herald/v1/webhooks/{webhook_id} webhook_id': {},
  'POST /herald/v1/webhooks/{webhook_id}/rotate-secret webhook_id': { body: () => ({}) },
  'POST /herald/v1/webhooks/{webhook_id}/test webhook_id': {},
  'POST /herald/v1/webhooks/{webhook_id}/replay webhook_id': { body: () => ({ failed: true }) },
  'POST /herald/v1/webhooks/{webhook_id}/replay event': {
    path: (_id, own) => `/herald/v1/webhooks/${own.webhook}/replay`,
    body: (_own, id) => ({ event: id }),
  },
  'GET /herald/v1/webhooks/{webhook_id}/attempts webhook_id': {},
  'GET /herald/v1/webhooks/{webhook_id}/attempts older_than': {
    path: (id, own) => `/herald/v1/webhooks/${own.webhook}/attempts?older_than=${id}`,
  },
  'GET /herald/v1/webhooks/{webhook_id}/failed webhook_id': {},
  'GET /herald/v1/webhooks/{webhook_id}/failed older_than': {
    path: (id, own) => `/herald/v1/webhooks/${own.webhook}/failed?older_than=${id}`,
  },
}

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is read as it comes
type Json = any

/** Every id that a caller can send, by route: in the path, the query and the body. */
export function idsOfRoutes(): string[] {
  const found: string[] = []
  const api = openApi()
  for (const [path, methods] of Object.entries((api as Json).paths))
    for (const [method, operation] of Object.entries(methods as Json)) {
      const { parameters = [], requestBody } = operation as Json
      const given = parameters.filter((one: Json) => one.in === 'path' || one.in === 'query')
      const body = resolved<Json>(api, requestBody?.content?.['application/json']?.schema ?? {}).properties ?? {}
      const ids = [
        ...given.filter((one: Json) => isId(one.schema) || (one.in === 'path' && one.name.endsWith('id'))),
        ...Object.entries(body)
          .filter(([, schema]) => isId(schema))
          .map(([name]) => ({ name })),
      ]
      for (const { name } of ids) found.push(`${method.toUpperCase()} ${path} ${name}`)
    }
  return found
}

const isId = (schema: Json) => schema?.format === 'uuid'

/** Created at the same time and in the same way as the real id: it only does not exist. */
export const unknownLike = (id: string) => id.slice(0, 24) + randomUUID().slice(24)

/** Everything except the status line that a caller can see and that might reveal a difference. */
export function plain({ text, headers }: { text: string; headers: Headers }, id: string): string {
  const told = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit', 'content-length'].includes(name))
  return JSON.stringify([text.replaceAll(id, '<id>'), told])
}
