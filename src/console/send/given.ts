// What the form of one message posts.
import { CHANNELS } from '../../channels/index.ts'
import { type Id, readId } from '../../core/id.ts'
import { keyed, keyOf, type Values } from '../../rendering/placeholders.ts'
import { type Placeholder, placeholdersOf } from '../../templates/draft.ts'
import { read } from '../../templates/read.ts'
import { refuse } from '../../templates/refusals.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import type { ServiceVisit } from '../page.ts'
import { type When, whenIn } from './when.tsx'

export type Given = {
  to: string
  /** By the placeholder's name as the template writes it. */
  values: Values
  reference: string
  /** Null: the default of the service. */
  sender: Id | null
  when: When
  /** Of one confirmation: it sends once. */
  once: string
}

/** Names stand in fields of their own, because a placeholder may have any name. */
export const nameField = (at: number) => `name-${at}`
export const valueField = (at: number) => `value-${at}`

/** The template that `text` names. Archived ones cannot be sent. */
export async function templateCalled(visit: ServiceVisit, text: string | null): Promise<TemplateRow> {
  const id = readId(text)
  if (!id) throw refuse.notFound()
  const template = await read(visit.parts.db.sql, visit.service.id, id)
  if (template.archived) throw refuse.notFound()
  return template
}

export function givenIn(form: URLSearchParams, template: TemplateRow): Given {
  const entries: [string, unknown][] = []
  for (let at = 0; form.has(nameField(at)); at++)
    entries.push([form.get(nameField(at)) ?? '', valueIn(form.get(valueField(at)) ?? '')])
  const given = keyed(Object.fromEntries(entries.filter(([, value]) => value !== null)))
  const values = placeholdersOf(template).map(({ name }): [string, unknown] => [name, given.get(keyOf(name))])
  return {
    to: (form.get('to') ?? '').trim(),
    values: Object.fromEntries(values.filter(([, value]) => value !== undefined)),
    reference: (form.get('reference') ?? '').trim(),
    sender: readId(form.get('sender')),
    when: whenIn(form),
    once: (form.get('once') ?? '').slice(0, 64),
  }
}

/** Several lines are a list, one item each; an empty field is no value. */
function valueIn(text: string): string | string[] | null {
  if (text.trim() === '') return null
  if (!text.includes('\n')) return text
  const items = text.split('\n').filter(item => item.trim() !== '')
  return items.length === 1 ? (items[0] ?? null) : items
}

/** As it stands in the field. */
export const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join('\n') : value == null ? '' : String(value)

export const nothingGiven = (): Given => ({
  ...{ to: '', values: {}, reference: '', sender: null, once: '' },
  when: { isLater: false, day: '', time: '' },
})

/** The fields again, for a page that asks for a confirmation. */
export function fieldsOf(given: Given, template: TemplateRow): [name: string, value: string][] {
  const values = placeholdersOf(template).flatMap(({ name }: Placeholder, at): [string, string][] => [
    [nameField(at), name],
    [valueField(at), textOf(given.values[name])],
  ])
  return [
    ['template', template.id],
    ['to', given.to],
    ...values,
    ['reference', given.reference],
    ['sender', given.sender ?? ''],
    ['when', given.when.isLater ? 'later' : 'now'],
    ['day', given.when.day],
    ['time', given.when.time],
  ]
}

export const isEmail = ({ type }: Pick<TemplateRow, 'type'>) => CHANNELS[type].template.hasSubject
