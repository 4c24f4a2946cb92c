import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    setupFiles: ['test/support/refused.ts'],
    pool: 'threads',
    maxWorkers: '100%', // vitest would leave one core free, and half of two is much
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
