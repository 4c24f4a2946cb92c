// Which column is used for what. The automatic match follows the rules of bulk files (bulk/columns.ts: letter case, spaces, hyphens
// and underscores do not count) and, where no column has the name, knows other usual names of the recipient.
import { CHANNELS, type Channel } from '../channels/index.ts'
import { keyOf } from '../rendering/placeholders.ts'
import { refuse } from './refusals.ts'
import type { Match, SheetColumn, Target } from './sheet.ts'

/** The template that a file is matched to. */
export type MatchedTemplate = { channel: Channel; names: readonly string[] }

/** Other names of recipient columns, as keys, in English and French. */
const USUAL: Readonly<Record<Channel, readonly string[]>> = {
  email: ['email', 'emails', 'mail', 'emailaddresses', 'address', 'recipient', 'to', 'courriel', 'adressecourriel'],
  sms: [
    'phone',
    'mobile',
    'mobilephone',
    'mobilenumber',
    'cell',
    'cellphone',
    'telephone',
    'number',
    'recipient',
    'to',
  ],
}
const USUAL_FRENCH: Readonly<Record<Channel, readonly string[]>> = {
  email: ['mél', 'adresseemail', 'adressemail', 'adresse', 'destinataire'],
  sms: ['téléphone', 'téléphonemobile', 'portable', 'numéro', 'numérodetéléphone', 'destinataire'],
}

/** The first column with a name is taken. */
export function matchOf(header: readonly string[], { channel, names }: MatchedTemplate): Match {
  const keys = header.map(keyOf)
  const match: (Target | null)[] = header.map(() => null)
  const take = (wanted: readonly string[], target: Target) => {
    const at = keys.findIndex((key, column) => match[column] === null && wanted.includes(key))
    if (at !== -1) match[at] = target
    return at !== -1
  }
  const { headers } = CHANNELS[channel].recipient
  const isFound = take([keyOf(headers.en), keyOf(headers.fr)], 'recipient')
  for (const name of valuesOf({ channel, names })) take([keyOf(name)], `value:${name}`)
  take(['reference'], 'reference')
  if (!isFound) take([...USUAL[channel], ...USUAL_FRENCH[channel]].map(keyOf), 'recipient')
  return match
}

/** Placeholders that need a column of their own: the recipient's column is a value, too. */
function valuesOf({ channel, names }: MatchedTemplate): string[] {
  const { headers } = CHANNELS[channel].recipient
  const seen = new Set([keyOf(headers.en)])
  return names.filter(name => !seen.has(keyOf(name)) && seen.add(keyOf(name)))
}

/** What a column can be used for, in the order in which a person is asked. */
export const targetsOf = (template: MatchedTemplate): Target[] => {
  const values = valuesOf(template)
  const hasReference = values.some(name => keyOf(name) === 'reference')
  return [
    'recipient',
    ...values.map((name): Target => `value:${name}`),
    ...(hasReference ? [] : (['reference'] as const)),
  ]
}

/** A stored match, without placeholders that the template no longer has. */
export function currentMatch(stored: Match | null, header: readonly string[], template: MatchedTemplate): Match {
  if (!stored) return matchOf(header, template)
  const known = new Set(targetsOf(template))
  return header.map((_, at) => {
    const target = stored[at] ?? null
    return target !== null && known.has(target) ? target : null
  })
}

/** `given`: by position of the column; columns that it does not name keep what they have. */
export function corrected(
  match: Match,
  given: ReadonlyMap<number, Target | null>,
  template: MatchedTemplate,
): (Target | null)[] {
  const known = new Set(targetsOf(template))
  const next = [...match]
  for (const [at, target] of given) {
    if (!Number.isInteger(at) || at < 0 || at >= match.length) throw refuse.unknownColumn(at + 1)
    if (target !== null && !known.has(target)) throw refuse.unknownTarget(nameOf(target))
    next[at] = target
  }
  const used = next.filter(target => target !== null)
  const twice = used.find((target, at) => used.indexOf(target) !== at)
  if (twice) throw refuse.twice(nameOf(twice))
  return next
}

/** The name of the placeholder; of other targets their own. */
export const nameOf = (target: Target) => (target.startsWith('value:') ? target.slice('value:'.length) : target)

export const missingOf = (match: Match, template: MatchedTemplate): Target[] =>
  targetsOf(template).filter(target => target !== 'reference' && !match.includes(target))

export const columnsOf = (header: readonly string[], match: Match, { channel }: MatchedTemplate): SheetColumn[] =>
  header.map((text, at) => {
    const target = match[at] ?? null
    const { headers } = CHANNELS[channel].recipient
    const names = target === 'recipient' ? [headers.en, headers.fr] : target === null ? [] : [nameOf(target)]
    return { header: text, target, isDifferent: target !== null && !names.map(keyOf).includes(keyOf(text)) }
  })

/** The header that makes a bulk file follow the match. A column that is not used must not have the name of one that is. */
export function bulkHeader(header: readonly string[], match: Match, template: MatchedTemplate): string[] {
  const { headers } = CHANNELS[template.channel].recipient
  const taken = new Set(['reference', headers.en, headers.fr, ...template.names].map(keyOf))
  return header.map((text, at) => {
    const target = match[at] ?? null
    if (target === null) return taken.has(keyOf(text)) ? '' : text
    return target === 'recipient' ? headers.en : nameOf(target)
  })
}

/** One row as a single message would be given. */
export function messageOf(
  cells: readonly string[],
  match: Match,
): { to: string; personalisation: Record<string, string>; reference: string | null } {
  const at = (target: Target) => cells[match.indexOf(target)]?.trim() ?? ''
  const values = match.flatMap(target => (target?.startsWith('value:') ? [target] : []))
  return {
    to: match.includes('recipient') ? at('recipient') : '',
    personalisation: Object.fromEntries(values.map(target => [nameOf(target), at(target)])),
    reference: match.includes('reference') ? at('reference') || null : null,
  }
}
