// Host of the rendering thread, which is started for the first large e-mail.
import { createCalls } from '../runtime/worker-thread.ts'
import type { Email, EmailTemplate } from './compile.ts'
import type { EmailDraft } from './draft.ts'
import type { Values } from './placeholders.ts'

type Request = { template: EmailTemplate; values: Values }

/** The functions of the thread (worker.ts). */
export type RenderCalls = {
  email(request: Request): Email
  html(request: Request): string
  draft(request: Request): EmailDraft
}

export type RenderThread = {
  /** The whole e-mail. */
  email(template: EmailTemplate, values: Values): Promise<Email>
  /** The HTML of the body, without the document around it. */
  html(template: EmailTemplate, values: Values): Promise<string>
  /** The whole e-mail of a template that is being written, and what is odd about it. */
  draft(template: EmailTemplate, values: Values): Promise<EmailDraft>
  stop(): Promise<void>
}

/**
 * E-mails of at least this many UTF-16 units of subject and body are rendered in the thread; smaller ones take at most some 15
 * ms.
 */
export const largeEmail = 32_768

const OPTIONS = {
  beside: import.meta.url,
  timeoutMs: 30_000,
  limits: { maxOldGenerationSizeMb: 768 },
  // One e-mail at a time, so that each has its own timeout, and a lost thread affects one message only.
  maxInFlight: 1,
}

export function createRenderThread(): RenderThread {
  const thread = createCalls<RenderCalls>('rendering thread', OPTIONS)
  return {
    email: (template, values) => thread.call('email', { template, values }),
    html: (template, values) => thread.call('html', { template, values }),
    draft: (template, values) => thread.call('draft', { template, values }),
    stop: thread.stop,
  }
}
