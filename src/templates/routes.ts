import type { FastifyRequest } from 'fastify'
import type { Channel } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import { type Id, readId } from '../core/id.ts'
import type { Database } from '../db/connect.ts'
import { longList } from '../http/list.ts'
import { refuse as refuseAtEdge } from '../http/refusals.ts'
import { idParam, queryOf, type Route } from '../http/route.ts'
import { reader, show } from '../http/validation.ts'
import { callerOf } from '../keys/hook.ts'
import { actorOf } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import type { RenderThread } from '../rendering/thread.ts'
import { itemProblem, storable } from '../rendering/values.ts'
import { archive } from './archive.ts'
import { create } from './create.ts'
import { presentCategory, presentTemplate, presentVersion } from './present.ts'
import { preview } from './preview.ts'
import { list, read, readVersion } from './read.ts'
import { refuse } from './refusals.ts'
import * as shape from './schemas.ts'
import { categories } from './sql.ts'
import { update } from './update.ts'

type App = {
  db: Database
  clock: Clock
  ids: { next(): Id }
  renderThread: RenderThread
  reads: Pick<Reads, 'pieces'>
  config: { sendingDomain: string }
}

export function templateRoutes(app: App) {
  const { sql } = app.db

  const listCategories: Route = {
    summary: 'List template categories',
    tag: 'Templates',
    example: shape.examples.listCategories,
    reply: shape.categoriesReply,
    handler: async () => ({ template_categories: (await categories(sql)).map(presentCategory) }),
  }

  const createTemplate: Route = {
    summary: 'Create a template',
    tag: 'Templates',
    example: shape.examples.createTemplate,
    body: shape.createBody,
    status: 201,
    reply: shape.templateReply,
    async handler(request) {
      const input = readCreate(checkedCategory(request.body ?? {}))
      const { service, key } = callerOf(request)
      return presentTemplate(await create(app, actorOf(key), service, input), service)
    },
  }

  const getTemplate: Route = {
    summary: 'Get a template',
    tag: 'Templates',
    example: shape.examples.getTemplate,
    ids: { template_id: 'id' },
    reply: shape.templateReply,
    async handler(request) {
      const { service } = callerOf(request)
      return presentTemplate(await read(sql, service.id, idParam(request, 'template_id')), service)
    },
  }

  const updateTemplate: Route = {
    summary: 'Change a template: a new version',
    tag: 'Templates',
    example: shape.examples.updateTemplate,
    ids: { template_id: 'id' },
    body: shape.updateBody,
    reply: shape.templateReply,
    async handler(request) {
      const input = readUpdate(checkedCategory(request.body ?? {}))
      const { service, key } = callerOf(request)
      const id = idParam(request, 'template_id')
      return presentTemplate(await update(app, actorOf(key), service.id, id, input), service)
    },
  }

  const archiveTemplate: Route = {
    summary: 'Archive a template',
    tag: 'Templates',
    example: shape.examples.archiveTemplate,
    ids: { template_id: 'id' },
    reply: shape.templateReply,
    async handler(request) {
      const { service, key } = callerOf(request)
      const archived = await archive({ ...app, sql }, actorOf(key), service.id, idParam(request, 'template_id'))
      return presentTemplate(archived, service)
    },
  }

  const getVersion: Route = {
    summary: 'Get one version of a template, or the latest',
    tag: 'Templates',
    example: shape.examples.getVersion,
    ids: { id: 'id' },
    reply: shape.versionReply,
    async handler(request) {
      const { service } = callerOf(request)
      return presentVersion(await readVersion(sql, service.id, idParam(request, 'id'), versionParam(request)))
    },
  }

  const previewTemplate: Route = {
    summary: 'Preview a template with values',
    tag: 'Templates',
    example: shape.examples.previewTemplate,
    ids: { id: 'id' },
    body: shape.previewBody,
    reply: shape.previewReply,
    async handler(request) {
      const { personalisation = {} } = readPreview(request.body)
      const { service } = callerOf(request)
      return preview(app, await readVersion(sql, service.id, idParam(request, 'id'), null), storable(personalisation))
    },
  }

  const listTemplates: Route = {
    summary: 'List templates that are not archived',
    tag: 'Templates',
    example: shape.examples.listTemplates,
    query: shape.listQuery,
    reply: shape.listReply,
    handler(request, reply) {
      const { type = null } = readList(queryOf(request))
      const { service } = callerOf(request)
      reply.type('application/json')
      return longList('templates', list(sql, service.id, type), presentVersion, rest =>
        app.reads.pieces({ owner: service.id, person: null }, rest),
      )
    },
  }

  return {
    listCategories,
    createTemplate,
    getTemplate,
    updateTemplate,
    archiveTemplate,
    getVersion,
    previewTemplate,
    listTemplates,
  }
}

const readCreate = reader<shape.CreateBody>(shape.createBody, {
  hideUnexpected: true,
  quoted: ['template_category_id'],
})
const readUpdate = reader<shape.UpdateBody>(shape.updateBody, { hideUnexpected: true })
const readPreview = reader<shape.PreviewBody>(shape.previewBody, {
  checks: {
    personalisation: (values: Record<string, unknown>) =>
      Object.entries(values).flatMap(([name, value]) => itemProblem(show(name), value)),
  },
})
const readList = reader<{ type?: Channel }>(shape.listQuery)

// A malformed category is the only error that is reported, whatever else is wrong with the body.
function checkedCategory(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  if (Object.hasOwn(body, 'template_category_id')) {
    const { template_category_id } = body as { template_category_id: unknown }
    if (readId(template_category_id) === null) throw refuse.categoryNotId()
  }
  return body
}

// The path exists only for positive whole numbers.
function versionParam(request: FastifyRequest): number | null {
  const { version } = request.params as { version?: string }
  if (version === undefined) return null
  if (!/^0*[1-9]\d*$/.test(version)) throw refuseAtEdge.unknownPath()
  return Number(version)
}
