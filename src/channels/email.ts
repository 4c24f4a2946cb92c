import { readEmail } from '../recipients/email.ts'
import { codePoints } from '../rendering/characters.ts'
import { compileEmail } from '../rendering/compile.ts'
import { draftEmail } from '../rendering/draft.ts'
import { bodyAnswer, bodyHtml, subjectAnswer } from '../rendering/email.ts'
import { keyed, parse, prepare, type Values } from '../rendering/placeholders.ts'
import { createMergedLength, isOverLimit, unitsOf } from '../rendering/size.ts'
import { largeEmail, type RenderThread } from '../rendering/thread.ts'
import type { ChannelShape, Content, DraftOptions, Preview, ShownDraft } from './channel.ts'
import { PLAIN } from './plain.ts'

export const email = {
  ...PLAIN.email,
  recipient: {
    field: 'email_address',
    headers: { en: 'email address', fr: 'adresse courriel' },
    read(text) {
      const reading = readEmail(text)
      return reading.ok ? { ok: true, key: reading.normalised, international: false } : reading
    },
    storesKey: false,
    homePrefix: () => null,
  },
  template: {
    hasSubject: true,
    longest: 50_000,
    lengthOf: codePoints,
    compile,
    preview,
    draft,
  },
} as const satisfies ChannelShape

const sourceOf = ({ subject, content, literal_values }: Content) => ({
  subject: subject ?? '',
  content,
  literalValues: literal_values,
})

function compile(row: Content) {
  const source = sourceOf(row)
  const compiled = compileEmail(source)
  return {
    type: 'email' as const,
    source,
    compiled,
    isShown: compiled.isShown,
    excess: (values: Values) => (compiled.isTooLarge(values) ? ('tooLarge' as const) : null),
    // A message accepted before there was a limit may be over it: reading it must not cost gigabytes, so its text is not shown.
    stored: (values: Values) => (compiled.isTooLarge(values) ? { subject: '', body: '' } : compiled.answer(values)),
    received: compiled.answer,
  }
}

/** The HTML of the body, without the page around it. Large ones are rendered in a thread. */
async function preview(app: { renderThread: RenderThread }, row: Content, values: Values): Promise<Preview> {
  const given = keyed(values)
  const [subject, content] = [parse(row.subject ?? ''), parse(row.content)]
  const lengths = [createMergedLength(subject, 'inline'), createMergedLength(content, 'markdown')]
  const isLarge = lengths.some(length => length(given, unitsOf) > largeEmail)
  return {
    body: bodyAnswer(content, given),
    html: isLarge
      ? await app.renderThread.html(sourceOf(row), values)
      : bodyHtml(prepare(content), given, sourceOf(row)),
    subject: subjectAnswer(subject, given),
  }
}

async function draft(
  app: { renderThread: RenderThread },
  row: Content,
  values: Values,
  { scheme }: DraftOptions,
): Promise<ShownDraft> {
  const given = keyed(values)
  const source = { ...sourceOf(row), ...(scheme && { scheme }) }
  const lengths = [
    createMergedLength(parse(source.subject), 'inline'),
    createMergedLength(parse(row.content), 'markdown'),
  ]
  if (lengths.some(length => isOverLimit(length, given))) return null
  const isLarge = lengths.some(length => length(given, unitsOf) > largeEmail)
  return { kind: 'email', ...(isLarge ? await app.renderThread.draft(source, values) : draftEmail(source, values)) }
}
