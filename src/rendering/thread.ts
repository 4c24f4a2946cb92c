// The service's side of the rendering thread, which is started when the first large e-mail comes.
import { createCalls } from '../runtime/worker-thread.ts'
import type { Email, EmailTemplate } from './compile.ts'
import type { Values } from './placeholders.ts'

type Request = { template: EmailTemplate; values: Values }

/** What runs in the thread (worker.ts). */
export type RenderCalls = { email(request: Request): Email; html(request: Request): string }

export type RenderThread = {
  /** The whole mail. */
  email(template: EmailTemplate, values: Values): Promise<Email>
  /** The HTML of the body, without the document around it. */
  html(template: EmailTemplate, values: Values): Promise<string>
  stop(): Promise<void>
}

/** UTF-16 units of subject and body from which on an e-mail is rendered here: below, it takes some 15 ms at most. */
export const largeEmail = 32_768

const OPTIONS = {
  beside: import.meta.url,
  timeoutMs: 30_000,
  limits: { maxOldGenerationSizeMb: 768 },
  // So that the time of each is its own, and a thread that is lost takes one message with it.
  maxInFlight: 1,
}

export function createRenderThread(): RenderThread {
  const thread = createCalls<RenderCalls>('rendering thread', OPTIONS)
  return {
    email: (template, values) => thread.call('email', { template, values }),
    html: (template, values) => thread.call('html', { template, values }),
    stop: thread.stop,
  }
}
