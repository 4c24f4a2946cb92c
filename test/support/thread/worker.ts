// The thread of src/runtime/worker-thread.test.ts.
import { serveCalls } from '../../../src/runtime/worker-thread.ts'

export type TestCalls = {
  double(n: number): number
  length(bytes: Uint8Array): number
  sleep(ms: number): number
  throws(text: string): never
  exit(code: number): never
  exhaust(_: null): number
}

let calls = 0

serveCalls<TestCalls>({
  double: n => n * 2,
  length: bytes => bytes.length,
  /** Blocks the thread; returns how many such calls it has had. */
  sleep(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    return ++calls
  },
  throws(text) {
    throw new Error(text)
  },
  exit: code => process.exit(code),
  exhaust() {
    const kept: string[][] = []
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, at) => `${at} of ${kept.length}`))
  },
})
