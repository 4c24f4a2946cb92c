// From the text of a file to a move: its shape by the schema, then what a schema cannot say.
import type { Channel } from '../channels/plain.ts'
import { type Id, readId } from '../core/id.ts'
import { Refusal } from '../core/refusal.ts'
import { settingsFrom } from '../services/change.ts'
import { nameFrom } from '../services/checks.ts'
import { checkFolders, DEEPEST } from '../templates/folder.ts'
import { checkVersion } from '../templates/template.ts'
import { placed, problemsOfShape, shapeCheck } from '../transfers/shapes.ts'
import { FORMAT, type GivenService, type Move, NAME, picked } from './form.ts'
import { refuse } from './refusals.ts'
import { moveSchema, serviceSchema } from './schema.ts'

const MOST_PROBLEMS = 20
/** In characters. Of a larger file only the first problem of its shape is named: it could have millions. */
const MOST_EXPLAINED = 10_000_000

export function readMove(file: string, text: string): Move {
  const value = parsed(file, text)
  if (!isObject(value) || value.is !== NAME || value.format !== FORMAT) throw refuse.notAMove(file, String(FORMAT))
  const ofShape = problemsOfShape(moveSchema, value, { all: text.length < MOST_EXPLAINED })
  const problems = ofShape.length > 0 ? ofShape : problemsIn(value as Move)
  if (problems.length > 0) {
    const shown = problems.slice(0, MOST_PROBLEMS)
    throw refuse.problems(file, String(problems.length), shown.map(problem => `\n  ${problem}`).join(''))
  }
  const move = value as Move
  return {
    ...move,
    categories: (move.categories ?? []).map(category => ({ ...category, hidden: category.hidden ?? false })),
  }
}

/** Why services of another database are refused, a sentence for each problem: they pass the checks of those in a file. */
export function refusedServices(services: readonly GivenService[]): Map<Id, string[]> {
  const shapeOf = shapeCheck(serviceSchema, { all: true })
  const seen = new Map<string, string>()
  const refused = new Map<Id, string[]>()
  for (const service of services) {
    const ofShape = shapeOf(service)
    const problems = ofShape.length > 0 ? ofShape : problemsOf(service, '', seen, byId)
    if (problems.length === 0) continue
    const more = problems.length - MOST_PROBLEMS
    refused.set(service.id, [
      ...problems.slice(0, MOST_PROBLEMS).map(problem => `It cannot be stored here: ${problem}.`),
      ...(more > 0 ? [`It has ${more} more problems like these.`] : []),
    ])
  }
  return refused
}

/** Secrets by the id of their key or webhook. */
export function readSecrets(file: string, text: string): Map<string, string> {
  const value = parsed(file, text)
  if (!isObject(value)) throw refuse.notSecrets(file)
  const entries = Object.entries(value).map(([key, secret]): [string, string] => {
    const id = readId(key)
    if (!id || typeof secret !== 'string') throw refuse.notSecrets(file)
    return [id, secret]
  })
  return new Map(entries)
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The message of the parser quotes the text, which may contain secrets; the position is enough.
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0]
    throw refuse.notJson(file, position ?? 'it ends too early')
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How the place of a problem names an item of a list: where it is in a file, or which row of a database it is. */
type NameOf = (item: { id?: string; version?: number }, at: number) => string | number
const byPosition: NameOf = (_item, at) => at
const byId: NameOf = ({ id, version }, at) => id ?? version ?? at

function problemsIn({ services }: Move): string[] {
  const seen = new Map<string, string>()
  return services.flatMap((service, at) => problemsOf(service, `/services/${at}`, seen, byPosition))
}

/** Ids that occur twice, ids that name nothing, and values that are refused. `seen`: the places of all ids before. */
function problemsOf(service: GivenService, place: string, seen: Map<string, string>, nameOf: NameOf): string[] {
  const problems: string[] = []
  const once = (id: string, where: string) => {
    const before = seen.get(id)
    if (before) problems.push(`${where}: the id ${id} is also that of ${before}`)
    else seen.set(id, where)
  }
  once(service.id, place || '/')
  for (const list of ['reply_to_addresses', 'text_senders', 'folders', 'templates', 'keys', 'webhooks'] as const)
    for (const [at, item] of (service[list] ?? []).entries()) once(item.id, `${place}/${list}/${nameOf(item, at)}`)
  const dangling = danglingIn(service, place, nameOf)
  return [...problems, ...(dangling.length > 0 ? dangling : refusedIn(service, place, nameOf))]
}

function danglingIn(service: GivenService, place: string, nameOf: NameOf): string[] {
  const problems: string[] = []
  const folders = new Map((service.folders ?? []).map(folder => [folder.id, folder.parent_id ?? null]))
  service.folders?.forEach(({ id, parent_id }, at) => {
    const where = `${place}/folders/${nameOf({ id }, at)}`
    if (parent_id && !folders.has(parent_id)) problems.push(`${where}: the folder ${parent_id} is not in this service`)
    let [above, steps] = [parent_id ?? null, 0]
    while (above && above !== id && steps++ < DEEPEST) above = folders.get(above) ?? null
    if (above === id) problems.push(`${where}: the folder is in itself`)
  })
  service.templates?.forEach((template, at) => {
    const where = `${place}/templates/${nameOf(template, at)}`
    const versions = template.versions.map(({ version }) => version)
    if (template.folder_id && !folders.has(template.folder_id))
      problems.push(`${where}: the folder ${template.folder_id} is not in this service`)
    if (new Set(versions).size < versions.length) problems.push(`${where}: a version occurs twice`)
    if (template.version !== undefined && !versions.includes(template.version))
      problems.push(`${where}: its version ${template.version} is missing`)
  })
  return problems
}

/** Values that are refused in the interface or in the console. Addresses and webhooks: normalise.ts. */
function refusedIn(service: GivenService, place: string, nameOf: NameOf): string[] {
  const problems: string[] = []
  const check = (where: string, rule: () => void) => {
    try {
      rule()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      problems.push(placed(`${place}${where}` || '/', error))
    }
  }
  const { name, suspended_reason, home_country, folders, templates, keys, team } = service
  check('', () =>
    settingsFrom(picked(['name', 'suspended_reason', 'home_country'], { name, suspended_reason, home_country })),
  )
  check('/folders', () => checkFolders(folders ?? []))
  for (const [at, folder] of (folders ?? []).entries())
    check(`/folders/${nameOf(folder, at)}`, () => nameFrom(folder.name, 'name of the folder'))
  for (const [at, key] of (keys ?? []).entries())
    check(`/keys/${nameOf(key, at)}`, () => nameFrom(key.name, 'name of the key'))
  for (const [at, member] of (team ?? []).entries())
    check(`/team/${at}`, () => nameFrom(member.name ?? member.email_address))
  for (const [at, template] of (templates ?? []).entries())
    for (const [number, version] of template.versions.entries())
      check(`/templates/${nameOf(template, at)}/versions/${nameOf({ version: version.version }, number)}`, () =>
        checkVersion(template.type as Channel, version),
      )
  return problems
}
