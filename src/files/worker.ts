// The file thread: JSON and base64 of large bodies, media types, and the embedded scanner.
import { Refusal } from '../core/refusal.ts'
import { readJson, toPortable } from '../http/json.ts'
import { serveCalls } from '../runtime/worker-thread.ts'
import { takeContents } from './decode.ts'
import { findSignature } from './signatures.ts'
import { buffer, type FileCalls, shared } from './thread.ts'
import { judge } from './types.ts'

serveCalls<FileCalls>({
  read({ body, withFiles }) {
    try {
      const value = readJson(buffer(body))
      const contents = withFiles ? [...takeContents(value)] : []
      return { value: toPortable(value), contents: contents.map(([key, one]) => [key, one && shared(one)] as const) }
    } catch (error) {
      if (error instanceof Refusal) return { refusal: error.kind, messages: error.messages }
      throw error
    }
  },
  findSignature: content => findSignature(buffer(content)),
  judge: ({ name, content }) => judge(name, buffer(content)),
})
