// What the form of the editor posts: content, example values, and the version that was edited.
import { keyOf, type Values } from '../../rendering/placeholders.ts'
import type { Draft, Placeholder } from '../../templates/draft.ts'

export type Given = { draft: Draft; values: Values; version: number }

/** Example values are pairs of fields, because a placeholder may have any name. */
export const SAMPLE_NAME = 'sample-name'
export const SAMPLE_VALUE = 'sample-value'

/** The id of the field for the example value of a placeholder. */
export const sampleField = (placeholders: readonly Placeholder[], name: string): string =>
  `sample-${placeholders.findIndex(one => keyOf(one.name) === keyOf(name))}`

export function givenIn(form: URLSearchParams, hasSubject: boolean): Given {
  const names = form.getAll(SAMPLE_NAME)
  const texts = form.getAll(SAMPLE_VALUE)
  const entries = names.map((name, at): [string, unknown] => [clean(name), valueIn(clean(texts[at] ?? ''))])
  const version = form.get('version') ?? ''
  return {
    // A subject is one line: line breaks of the field are spaces when it is sent, too.
    draft: { subject: hasSubject ? clean(form.get('subject') ?? '') : null, content: clean(form.get('body') ?? '') },
    values: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    version: /^\d{1,9}$/.test(version) ? Number(version) : 0,
  }
}

/** Browsers send line breaks as CR LF; a null character cannot be stored. */
const clean = (text: string) => text.replace(/\r\n?/g, '\n').replaceAll('\0', '')

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
