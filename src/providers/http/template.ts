// Fills {to} {digits} {from} {text} {id} into an address or a body, each value escaped for its place. One pass: a value that looks
// like a placeholder is not replaced.

export type TemplateValues = { to: string; digits: string; from: string; text: string; id: string }
export type Format = 'json' | 'form'

const placeholder = /\{(to|digits|from|text|id)\}/g

const escapes = {
  /** Inside the quotes of a JSON string. */
  json: (value: string) => JSON.stringify(value).slice(1, -1),
  form: encodeURIComponent,
} satisfies Record<Format, (value: string) => string>

export function fill(template: string, values: TemplateValues, format: Format): string {
  return template.replace(placeholder, (_, name: keyof TemplateValues) => escapes[format](values[name]))
}

/** Only the query of an address may contain placeholders: a value must not change the host or, with `..`, the path. */
export function isSafeAddress(template: string): boolean {
  if (!URL.canParse(template)) return false
  const { protocol, username } = new URL(template)
  if (!/^https?:$/.test(protocol) || username !== '') return false
  const end = template.search(/[?#]/)
  const beginning = end === -1 ? template : template.slice(0, end)
  return beginning.search(placeholder) === -1
}
