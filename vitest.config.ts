import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    setupFiles: ['test/support/refused.ts'],
    pool: 'threads',
    // Most files wait for processes and timers: two workers leave two cores half idle. More than four workers would need more
    // than the server's 200 connections.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
