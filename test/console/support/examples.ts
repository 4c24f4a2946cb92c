// An example of every row of the console's table of contents: how to open it with planted data. Tests and scripts/shots.ts use it;
// a row without an example fails test/console/pages.test.ts.
import type { Planted, PlantedService, Who } from './plant.ts'

export type Example = {
  /** `act`: a POST. `file`: a download or an answer for the script. `passing`: it leads elsewhere. */
  kind: 'page' | 'frame' | 'file' | 'events' | 'passing' | 'act'
  /** Parts of the path beside the service. */
  ids?: (of: PlantedService, planted: Planted) => Readonly<Record<string, string>>
  /** Who opens it in tests of its look; a manager unless given, null: nobody. */
  who?: Who | null
  /** Further views of the page, by name: what follows its path. */
  views?: Readonly<Record<string, (of: PlantedService) => string>>
  /** Of an act: it takes something away that others need. */
  isLast?: true
  /** Of an act: fields that it accepts. */
  form?: (of: PlantedService, planted: Planted) => Readonly<Record<string, string>>
}

const ofEmail = ({ templates }: PlantedService) => ({ id: templates.email })
const written = () => ({ subject: 'A subject', body: 'Hello', version: '1' })

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'GET /s/:service': { kind: 'page' },
  'GET /s/:service/counts': { kind: 'file' },
  'GET /s/:service/templates/:id': { kind: 'page', ids: ofEmail },
  'POST /s/:service/templates/:id': { kind: 'act', ids: ofEmail, form: written },
  'POST /s/:service/templates/:id/preview': { kind: 'act', ids: ofEmail, form: written },
  'POST /s/:service/templates/:id/live': { kind: 'act', ids: ofEmail, form: written },
  'GET /s/:service/templates/:id/rendered': { kind: 'frame', ids: ofEmail },
  // Without a draft it leads back to the template.
  'GET /s/:service/templates/:id/confirm': { kind: 'passing', ids: ofEmail },
  'POST /s/:service/templates/:id/confirm': { kind: 'act', ids: ofEmail, form: () => ({ draft: '' }) },
  'POST /s/:service/templates/:id/test': { kind: 'act', ids: ofEmail },
  'GET /s/:service/messages': {
    kind: 'page',
    views: { failed: () => '?status=failed', 'no-match': () => '?status=failed&key=team' },
  },
  'POST /s/:service/messages/search': { kind: 'act', form: () => ({ q: 'k.lindgren@example.net' }) },
  'GET /s/:service/messages/export': { kind: 'file' },
  'GET /s/:service/messages/newer': { kind: 'file' },
  'GET /s/:service/messages/:id': {
    kind: 'page',
    ids: of => ({ id: String(of.messages['permanent-failure']) }),
    views: {
      text: () => '?view=text',
      sms: of => `/../${of.messages['delivered-sms']}`,
      scheduled: of => `/../${of.messages.scheduled}`,
    },
  },
  'GET /s/:service/messages/:id/rendered': { kind: 'frame', ids: of => ({ id: String(of.messages.delivered) }) },
  'POST /s/:service/messages/:id/cancel': {
    kind: 'act',
    ids: of => ({ id: String(of.messages.scheduled) }),
    isLast: true,
  },
  'POST /s/:service/messages/:id/copy': { kind: 'act', ids: of => ({ id: String(of.messages.delivered) }) },
}

/** Example pages by file name: each view of each page. */
export function viewsOf(
  row: readonly [method: string, path: string, ...rest: unknown[]],
  of: PlantedService,
  planted: Planted,
): { name: string; path: string; who: Who | null }[] {
  const example = EXAMPLES[`${row[0]} ${row[1]}`]
  if (!example) return []
  const { ids, views = {}, who = 'manager' } = example
  const path = filled(row[1], of, ids?.(of, planted))
  const name = nameOf(row[1])
  return [
    { name, path, who },
    ...Object.entries(views).map(([view, after]) => ({ name: `${name}-${view}`, path: path + after(of), who })),
  ]
}

/** `/s/:service/messages/:id` with the ids of a service. */
export const filled = (path: string, of: PlantedService, ids: Readonly<Record<string, string>> = {}): string =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const value = name === 'service' ? of.id : ids[name]
    if (value === undefined) throw new Error(`${path} has no example for ${name}`)
    return value
  })

const nameOf = (path: string): string =>
  path.replace('/s/:service', 'service').replace(/^\/$/, 'services').replaceAll(/[/:]+/g, '-').replace(/^-/, '')
