// Runs in a thread of its own: JSON and base64 of large bodies, the types of files, and the embedded scanner.
import { parentPort } from 'node:worker_threads'
import { Refusal } from '../core/refusal.ts'
import { readJson, toPortable } from '../http/json.ts'
import { takeContents } from './decode.ts'
import { findSignature } from './signatures.ts'
import { type Answer, type Ask, shared } from './thread.ts'
import { judge } from './types.ts'

parentPort?.on('message', (ask: Ask) => parentPort?.postMessage(answerTo(ask)))

function answerTo(ask: Ask): Answer {
  try {
    if (ask.kind === 'find') return { id: ask.id, kind: 'found', name: findSignature(buffer(ask.content)) }
    if (ask.kind === 'judge') return { id: ask.id, kind: 'judged', judgement: judge(ask.name, buffer(ask.content)) }
    const value = readJson(buffer(ask.body))
    const contents = ask.withFiles ? [...takeContents(value)] : []
    return {
      id: ask.id,
      kind: 'read',
      value: toPortable(value),
      contents: contents.map(([key, one]) => [key, one && shared(one)] as const),
    }
  } catch (error) {
    if (error instanceof Refusal) return { id: ask.id, kind: 'refused', refusal: error.kind, messages: error.messages }
    return { id: ask.id, kind: 'failed' }
  }
}

const buffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
