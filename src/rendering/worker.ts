// Runs in a thread of its own: renders e-mails too large for the event loop. Markdown takes up to half a microsecond for each
// character, which is a second for the largest e-mail that is accepted.
import { parentPort } from 'node:worker_threads'
import { compileEmail } from './compile.ts'
import { bodyHtml } from './email.ts'
import { keyed, parse, prepare } from './placeholders.ts'
import type { Answer, Ask } from './thread.ts'

parentPort?.on('message', (ask: Ask) => parentPort?.postMessage(answerTo(ask)))

function answerTo({ id, kind, template, values }: Ask): Answer {
  try {
    if (kind === 'email') return { id, kind, email: compileEmail(template).render(values) }
    return { id, kind, html: bodyHtml(prepare(parse(template.content)), keyed(values), template) }
  } catch {
    return { id, kind: 'failed' }
  }
}
