import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

/** Files that take more than 8 s: browsers, processes, large data. */
const SLOW = [
  'src/bulk/thread.test.ts',
  'src/rendering/hostile.test.ts',
  'src/runtime/worker-thread.test.ts',
  'test/backup-external.test.ts',
  'test/backup.test.ts',
  'test/bulk.test.ts',
  'test/check-agrees.test.ts',
  'test/cli-events.test.ts',
  'test/cli-job.test.ts',
  'test/cli-webhook.test.ts',
  'test/cli.test.ts',
  'test/clock.test.ts',
  'test/console/acts.test.ts',
  'test/console/developers-browser.test.ts',
  'test/console/developers.test.ts',
  'test/console/editor-browser.test.ts',
  'test/console/editor.test.ts',
  'test/console/inbox-browser.test.ts',
  'test/console/jobs-browser.test.ts',
  'test/console/jobs.test.ts',
  'test/console/keyboard.test.ts',
  'test/console/languages.test.ts',
  'test/console/messages-browser.test.ts',
  'test/console/messages.test.ts',
  'test/console/overview.test.ts',
  'test/console/pages.test.ts',
  'test/console/rights.test.ts',
  'test/console/send-browser.test.ts',
  'test/console/send-file.test.ts',
  'test/console/send-kill.test.ts',
  'test/console/send.test.ts',
  'test/console/settings-browser.test.ts',
  'test/console/settings.test.ts',
  'test/console/sign-in.test.ts',
  'test/console/system-browser.test.ts',
  'test/console/system.test.ts',
  'test/console/templates.test.ts',
  'test/doctor.test.ts',
  'test/embedded.test.ts',
  'test/engine.test.ts',
  'test/explain.test.ts',
  'test/failover.test.ts',
  'test/feed-order.test.ts',
  'test/hold.test.ts',
  'test/indexes.test.ts',
  'test/installation.test.ts',
  'test/job-report-large.test.ts',
  'test/journeys/channels.test.ts',
  'test/journeys/delivery.test.ts',
  'test/journeys/download-page.test.ts',
  'test/journeys/events-docs.test.ts',
  'test/journeys/failed-start.test.ts',
  'test/journeys/file-privacy.test.ts',
  'test/journeys/files.test.ts',
  'test/journeys/privacy.test.ts',
  'test/journeys/readme.test.ts',
  'test/journeys/start.test.ts',
  'test/journeys/two-relays.test.ts',
  'test/lifetimes.test.ts',
  'test/lost-answers.test.ts',
  'test/maintenance.test.ts',
  'test/openapi.test.ts',
  'test/providers/smtp-servers.test.ts',
  'test/races.test.ts',
  'test/reference-browser.test.ts',
  'test/reference-run.test.ts',
  'test/reference.test.ts',
  'test/restored-log.test.ts',
  'test/security/audit.test.ts',
  'test/security/console.test.ts',
  'test/security/events.test.ts',
  'test/security/wire.test.ts',
  'test/several-hosts.test.ts',
  'test/tenants.test.ts',
  'test/timeline.test.ts',
  'test/webhooks/deliver.test.ts',
  'test/webhooks/managed.test.ts',
]

/** Their bounds are times or sizes of memory that hold only beside nothing else: one after the other, when all others have ended. */
const QUIET = [
  'src/files/deflate.test.ts',
  'src/files/types.test.ts',
  'src/runtime/rate.test.ts',
  'src/runtime/turns.test.ts',
  'test/large-requests.test.ts',
  'test/large.test.ts',
  'test/people/links.test.ts',
  'test/providers/smtp-long.test.ts',
  'test/sheets.test.ts',
  'test/slow-callers.test.ts',
  'test/statistics.test.ts',
  'test/turns.test.ts',
]

// Most files wait for processes and timers: two workers leave two cores half idle. More than four workers would need more than the
// server's 200 connections.
const maxWorkers = Math.min(4, availableParallelism() + 1)

/** Each file is in one of them; `npx vitest run FILE` finds it in any. */
export const projects = [
  {
    extends: true as const,
    test: {
      name: 'fast',
      include: ['{src,test}/**/*.test.ts'],
      exclude: [...configDefaults.exclude, ...SLOW, ...QUIET],
      maxWorkers,
      sequence: { groupOrder: 0 },
    },
  },
  { extends: true as const, test: { name: 'slow', include: SLOW, maxWorkers, sequence: { groupOrder: 1 } } },
  {
    extends: true as const,
    // A process for each file: what others have left in memory would be collected in the time that is measured.
    test: { name: 'quiet', include: QUIET, pool: 'forks' as const, maxWorkers: 1, sequence: { groupOrder: 2 } },
  },
]

export default defineConfig({
  test: {
    globalSetup: ['test/support/database.ts'],
    setupFiles: ['test/support/refused.ts'],
    pool: 'threads',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects,
  },
})
