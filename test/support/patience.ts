// A condition that will hold is awaited as long as it takes on a busy machine: vitest gives up after one second. For `expect.poll` it is
// set in vitest.config.ts.
import { vi } from 'vitest'

const PATIENCE = { timeout: 20_000, interval: 20 }
const { waitFor, waitUntil } = vi
vi.waitFor = (callback, options) => waitFor(callback, patiently(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patiently(options))

const patiently = (options: Parameters<typeof waitFor>[1]) =>
  typeof options === 'number' ? { ...PATIENCE, timeout: options } : { ...PATIENCE, ...options }
