// The rendering thread: renders e-mails too large for the event loop. Markdown takes up to half a microsecond per character,
// which is a second for the largest e-mail that is accepted.
import { serveCalls } from '../runtime/worker-thread.ts'
import { compileEmail } from './compile.ts'
import { draftEmail } from './draft.ts'
import { bodyHtml } from './email.ts'
import { keyed, parse, prepare } from './placeholders.ts'
import type { RenderCalls } from './thread.ts'

serveCalls<RenderCalls>({
  email: ({ template, values }) => compileEmail(template).render(values),
  html: ({ template, values }) => bodyHtml(prepare(parse(template.content)), keyed(values), template),
  draft: ({ template, values }) => draftEmail(template, values),
})
