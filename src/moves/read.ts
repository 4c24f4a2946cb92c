// From the text of a file to a move: its shape by the schema, then what a schema cannot say.
import { Ajv, type ErrorObject } from 'ajv'
import { readId } from '../core/id.ts'
import { FORMAT, type GivenService, type Move, NAME } from './form.ts'
import { refuse } from './refusals.ts'
import { moveSchema } from './schema.ts'

const MOST_PROBLEMS = 20

export function readMove(file: string, text: string): Move {
  const value = parsed(file, text)
  if (!isObject(value) || value.is !== NAME || value.format !== FORMAT) throw refuse.notAMove(file, String(FORMAT))
  const isValid = new Ajv({ allErrors: true, strict: false }).compile(moveSchema)
  const problems = isValid(value) ? problemsIn(value as Move) : (isValid.errors ?? []).map(sentenceOf)
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

function sentenceOf({ instancePath, keyword, params, message }: ErrorObject): string {
  const where = instancePath || '/'
  if (keyword === 'additionalProperties') return `${where}: there is no field ${params.additionalProperty}`
  if (keyword === 'required') return `${where}: ${params.missingProperty} is missing`
  if (keyword === 'enum') return `${where}: must be one of ${params.allowedValues.join(', ')}`
  return `${where}: ${message}`
}

/** Ids that occur twice, and ids that name nothing. */
function problemsIn({ services }: Move): string[] {
  const seen = new Map<string, string>()
  const problems: string[] = []
  const once = (id: string, where: string) => {
    const before = seen.get(id)
    if (before) problems.push(`${where}: the id ${id} is also that of ${before}`)
    else seen.set(id, where)
  }
  services.forEach((service, at) => {
    const place = `/services/${at}`
    once(service.id, place)
    for (const list of ['reply_to_addresses', 'text_senders', 'folders', 'templates', 'keys', 'webhooks'] as const)
      for (const [at, item] of (service[list] ?? []).entries()) once(item.id, `${place}/${list}/${at}`)
    problems.push(...danglingIn(service, place))
  })
  return problems
}

function danglingIn(service: GivenService, place: string): string[] {
  const problems: string[] = []
  const folders = new Map((service.folders ?? []).map(folder => [folder.id, folder.parent_id ?? null]))
  service.folders?.forEach(({ id, parent_id }, at) => {
    if (parent_id && !folders.has(parent_id))
      problems.push(`${place}/folders/${at}: the folder ${parent_id} is not in this service`)
    let [above, steps] = [parent_id ?? null, 0]
    while (above && above !== id && steps++ <= folders.size) above = folders.get(above) ?? null
    if (above) problems.push(`${place}/folders/${at}: the folder is in itself`)
  })
  service.templates?.forEach((template, at) => {
    const where = `${place}/templates/${at}`
    const versions = template.versions.map(({ version }) => version)
    if (template.folder_id && !folders.has(template.folder_id))
      problems.push(`${where}: the folder ${template.folder_id} is not in this service`)
    if (new Set(versions).size < versions.length) problems.push(`${where}: a version occurs twice`)
    if (template.version !== undefined && !versions.includes(template.version))
      problems.push(`${where}: version ${template.version} is not in the file`)
  })
  return problems
}
