// expect(reply).toBeRefused(400, 'BadRequestError', 'Template not found'): compares the whole error body.
import { expect } from 'vitest'
import type { Reply } from './world.ts'

interface Refused<R = unknown> {
  toBeRefused(status: number, error: string, ...messages: string[]): R
}
declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the signature vitest gives its matchers
  interface Assertion<T = any> extends Refused<T> {}
}

expect.extend({
  toBeRefused(reply: Reply, status: number, error: string, ...messages: string[]) {
    const expected = { errors: messages.map(message => ({ error, message })), status_code: status }
    const isJson = /^application\/json(;|$)/.test(reply.headers.get('content-type') ?? '')
    const pass = reply.status === status && isJson && reply.text === JSON.stringify(expected)
    return {
      pass,
      message: () => `expected ${status} ${JSON.stringify(expected)}\n     got ${reply.status} ${reply.text}`,
    }
  },
})
