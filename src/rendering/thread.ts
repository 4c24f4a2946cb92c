// The service's side of the rendering thread, which is started when the first large e-mail comes. A thread that does not answer
// is ended and replaced.
import { Worker } from 'node:worker_threads'
import type { Email, EmailTemplate } from './compile.ts'
import type { Values } from './placeholders.ts'

export type Ask = { id: number; kind: 'email' | 'html'; template: EmailTemplate; values: Values }

export type Answer =
  | { id: number; kind: 'email'; email: Email }
  | { id: number; kind: 'html'; html: string }
  | { id: number; kind: 'failed' }

export type RenderThread = {
  /** The whole mail. */
  email(template: EmailTemplate, values: Values): Promise<Email>
  /** The HTML of the body, without the document around it. */
  html(template: EmailTemplate, values: Values): Promise<string>
  stop(): Promise<void>
}

/** UTF-16 units of subject and body from which on an e-mail is rendered here: below, it takes some 15 ms at most. */
export const largeEmail = 32_768

const patienceMs = 30_000
const limits = { resourceLimits: { maxOldGenerationSizeMb: 768 } }

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void }

export function createRenderThread(): RenderThread {
  let worker: Worker | null = null
  let last = 0
  let isFree = true
  const line: { ask: Ask; waiting: Waiting }[] = []

  function start(): Worker {
    const made = import.meta.url.endsWith('.ts')
      ? startFromSource()
      : new Worker(new URL('./worker.js', import.meta.url), limits)
    made.unref()
    return made
  }

  // One at a time, so that the time of each is its own and a thread that is lost takes one message with it.
  function next() {
    const first = isFree ? line.shift() : undefined
    if (!first) return
    isFree = false
    worker ??= start()
    const asked = worker
    const end = (finish: () => void) => {
      clearTimeout(timer)
      asked.off('message', hear).off('error', failed).off('exit', ended)
      finish()
      isFree = true
      next()
    }
    const fail = (why: string) => {
      worker = null
      void asked.terminate()
      end(() => first.waiting.reject(new Error(why)))
    }
    const timer = setTimeout(() => fail('the rendering thread took too long'), patienceMs)
    const hear = (answer: Answer) => end(() => first.waiting.resolve(answer))
    const failed = () => fail('the rendering thread failed')
    const ended = () => fail('the rendering thread ended')
    asked.on('message', hear).on('error', failed).on('exit', ended)
    asked.postMessage(first.ask)
  }

  const ask = (kind: Ask['kind'], template: EmailTemplate, values: Values) =>
    new Promise<Answer>((resolve, reject) => {
      line.push({ ask: { id: ++last, kind, template, values }, waiting: { resolve, reject } })
      next()
    })

  return {
    async email(template, values) {
      const answer = await ask('email', template, values)
      if (answer.kind !== 'email') throw new Error('the rendering thread could not render an e-mail')
      return answer.email
    },
    async html(template, values) {
      const answer = await ask('html', template, values)
      if (answer.kind !== 'html') throw new Error('the rendering thread could not render a body')
      return answer.html
    },
    async stop() {
      await worker?.terminate()
    },
  }
}

// Development and tests run the sources, which a thread of Node 20 reads only with the help of tsx.
function startFromSource(): Worker {
  const url = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  return new Worker(`import('tsx/esm/api').then(({ register }) => { register(); return import(${url}) })`, {
    ...limits,
    eval: true,
  })
}
