// A template that is being written: what recipients would get with example values, its placeholders, and its problems.

import type { ShownDraft } from '../channels/channel.ts'
import { CHANNELS, type Channel } from '../channels/index.ts'
import { codePoints, isBlank } from '../rendering/characters.ts'
import { keyed, keyOf, locate, missing, namesOf, parse, type Values } from '../rendering/placeholders.ts'
import { linkProblems, type Problem, placeholderProblems, spellingProblems } from '../rendering/problems.ts'
import type { RenderThread } from '../rendering/thread.ts'
import { LONGEST_SUBJECT } from './template.ts'

export type Draft = { subject: string | null; content: string }

/** The template that a draft belongs to. */
export type DraftOf = { type: Channel; literal_values: boolean }

export type DraftProblem = Problem & { field: 'subject' | 'body' }

export type Placeholder = {
  name: string
  /** It is only asked whether it holds: its value is yes or no. */
  isCondition: boolean
}

export type Examined = {
  shown: ShownDraft
  problems: DraftProblem[]
  placeholders: Placeholder[]
  /** Names without an example value. */
  missing: string[]
  /** Of the body, in the units of the channel. */
  length: { used: number; longest: number }
}

export async function examine(
  app: { renderThread: RenderThread },
  template: DraftOf,
  draft: Draft,
  values: Values,
  options: { prefix: string | null },
): Promise<Examined> {
  const channel = CHANNELS[template.type].template
  const length = { used: channel.lengthOf(draft.content), longest: channel.longest }
  const isStorable = length.used <= length.longest && codePoints(draft.subject ?? '') <= LONGEST_SUBJECT
  const shown = isStorable
    ? await channel.draft(app, { ...draft, literal_values: template.literal_values }, values, options)
    : null
  return {
    shown,
    problems: [...subjectProblems(template, draft), ...bodyProblems(draft, length, isStorable ? shown : undefined)],
    placeholders: placeholdersOf(draft),
    missing: missing(namesOf(draft), keyed(values)),
    length,
  }
}

/** The HTML of an e-mail as it is sent; null when there is none, or it is too large. */
export async function draftDocument(
  app: { renderThread: RenderThread },
  template: DraftOf,
  draft: Draft,
  values: Values,
  scheme: 'light' | 'dark',
): Promise<string | null> {
  const channel = CHANNELS[template.type].template
  if (!channel.hasSubject || channel.lengthOf(draft.content) > channel.longest) return null
  const content = { ...draft, literal_values: template.literal_values }
  const shown = await channel.draft(app, content, values, { prefix: null, scheme })
  return shown?.kind === 'email' ? shown.html : null
}

/** Placeholders in order of first appearance; spellings of one placeholder are one. */
export function placeholdersOf(draft: Draft): Placeholder[] {
  const found = new Map<string, Placeholder>()
  for (const part of [...parse(draft.subject ?? ''), ...parse(draft.content)]) {
    if (typeof part === 'string') continue
    const known = found.get(part.key)
    const isCondition = part.text !== null && (known?.isCondition ?? true)
    found.set(part.key, { name: known?.name ?? part.name, isCondition })
  }
  return [...found.values()]
}

/** The example values of placeholders that the draft has, by their first spelling. A condition without one holds. */
export function samplesFor(draft: Draft, values: Values): Values {
  const given = keyed(values)
  const entries = placeholdersOf(draft).map(({ name, isCondition }): [string, unknown] => [
    name,
    given.get(keyOf(name)) ?? (isCondition ? 'yes' : null),
  ])
  return Object.fromEntries(entries.filter(([, value]) => value != null))
}

function subjectProblems({ type }: DraftOf, { subject }: Draft): DraftProblem[] {
  if (!CHANNELS[type].template.hasSubject) return []
  const at = (problem: Omit<Problem, 'line'>): DraftProblem => ({ ...problem, line: null, field: 'subject' })
  const text = subject ?? ''
  if (isBlank(text)) return [at({ tone: 'warn', text: 'The subject is empty. Many mail programs treat that as spam.' })]
  const length = codePoints(text)
  return [
    ...(length > LONGEST_SUBJECT
      ? [at({ tone: 'bad', text: `The subject has ${length} characters. At most ${LONGEST_SUBJECT} are possible.` })]
      : []),
    ...placeholderProblems(text).map(at),
  ]
}

/** `shown` undefined: not rendered, because it cannot be saved. */
function bodyProblems(
  { subject, content }: Draft,
  { used, longest }: Examined['length'],
  shown: ShownDraft | undefined,
): DraftProblem[] {
  const found: Problem[] = []
  const bad = (text: string) => found.push({ tone: 'bad', text, line: null })
  const hasNothing = locate(content).every(({ part }) => typeof part === 'string' && isBlank(part))
  if (hasNothing) bad('Enter a message: an empty one is never sent.')
  if (used > longest) bad(`The message has ${used} characters. At most ${longest} are possible.`)
  const warn = (text: string) => found.push({ tone: 'warn', text, line: null })
  if (shown === null) warn('With the example values the message is too large to send.')
  if (shown?.kind === 'sms' && shown.tooLong && used <= longest)
    warn(
      `With the example values the message has ${shown.units} characters. Sends of more than ${longest} are refused.`,
    )
  found.push(...placeholderProblems(content), ...spellingProblems(subject ?? '', content))
  if (shown?.kind === 'email') found.push(...linkProblems(shown.refusedTargets))
  return found.map(problem => ({ ...problem, field: 'body' }))
}
