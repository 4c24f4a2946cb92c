// Table of contents: every lane, its work and its slots; every maintenance task, its interval and its timeout.
import { SPREAD_LANE } from './bulk/job.ts'
import { spread, writeChunks } from './bulk/spread.ts'
import { CHANNELS, channelNames } from './channels/index.ts'
import { type LaneSpec, lane } from './engine/run.ts'
import { deliverMails, writeMails } from './mails/deliver.ts'
import { MAIL_LANE } from './mails/mail.ts'
import { endOverdueMessages } from './maintenance/expire.ts'
import { emptyFinishedFiles, purgeExpiredFiles, purgeOrphanedUploads } from './maintenance/files.ts'
import { buildMissingIndexes, dropExpiredPartitions, makeComingPartitions } from './maintenance/partitions.ts'
import {
  purgeBulkRows,
  purgeEvents,
  purgeInbox,
  purgeInstallation,
  purgeKeptTickets,
  purgeMessages,
  purgePeople,
  purgeReceipts,
  purgeReplays,
  purgeRequests,
  purgeSheets,
  purgeSignInChallenges,
  purgeTemplateDrafts,
  purgeWebhookAttempts,
  purgeWebhookRetries,
} from './maintenance/purge.ts'
import { recountDailyUsage } from './maintenance/recount.ts'
import type { Task } from './maintenance/run.ts'
import { sealAgain } from './maintenance/seal.ts'
import { foldHourlyCounts, purgeHourlyCounts, recountDays } from './maintenance/statistics.ts'
import { keepTimeline } from './maintenance/timeline.ts'
import { deliver, writeResults } from './notifications/deliver.ts'
import { SCAN_LANE } from './notifications/lane.ts'
import { scan, writeVerdicts } from './notifications/scan.ts'
import { simulate, writeSimulated } from './notifications/simulate.ts'
import type { EngineParts } from './parts.ts'
import { apply, writeMoves } from './receipts/apply.ts'
import { RECEIPT_LANE } from './receipts/sql.ts'
import type { Steps } from './runtime/steps.ts'
import { deliverWebhooks, writeTurns } from './webhooks/deliver.ts'
import { WEBHOOK_LANE, WEBHOOK_TICKETS } from './webhooks/lane.ts'

export function lanesOf(parts: EngineParts): LaneSpec[] {
  const sql = parts.db.sql
  const app = { ...parts, sql }
  const delivery = { work: deliver(app), write: writeResults(app) }

  // `slots`: messages of the lane in flight at the same time. All lanes that send share 64 places; `reserved` are for one lane only
  // (runtime/admission.ts). So a newsletter cannot delay a one-time code.
  return [
    ...channelNames.flatMap(channel =>
      CHANNELS[channel].lanes.map(({ pace, slots, reserved }) =>
        lane({ name: `${channel}-${pace}`, slots, reserved, ...delivery }),
      ),
    ),
    lane({ name: 'simulation', slots: 64, work: simulate(app), write: writeSimulated(app) }),
    lane({ name: SCAN_LANE, slots: 4, work: scan(app), write: writeVerdicts(app) }),
    lane({ name: SPREAD_LANE, slots: 4, work: spread(app), write: writeChunks(app) }),
    lane({ name: RECEIPT_LANE, slots: 256, work: apply(app), write: writeMoves(app) }),
    lane({ name: MAIL_LANE, slots: 4, work: deliverMails(app), write: writeMails(app) }),
    lane({
      name: WEBHOOK_LANE,
      slots: 256,
      tickets: WEBHOOK_TICKETS,
      work: deliverWebhooks(app),
      write: writeTurns(app),
    }),
  ]
}

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * `everySeconds`: from start to start. `timeoutSeconds`: for one step, more than its statements may take together
 * (MAINTENANCE_STATEMENT_SECONDS in delivery.ts), and for S3 its requests.
 */
export function maintenanceOf(parts: EngineParts): Task[] {
  const task = (
    name: string,
    everySeconds: number,
    timeoutSeconds: number,
    steps: (app: EngineParts) => Steps,
  ): Task => ({
    name,
    everySeconds,
    timeoutSeconds,
    steps: () => steps(parts),
  })
  return [
    task('make-partitions', HOUR, 5 * MINUTE, makeComingPartitions),
    task('settle-timeline', 5 * MINUTE, MINUTE, keepTimeline),
    task('build-indexes', HOUR, 10 * MINUTE, buildMissingIndexes),
    task('end-overdue-messages', HOUR / 4, 3 * MINUTE, endOverdueMessages),
    task('purge-kept-tickets', HOUR, 2 * MINUTE, purgeKeptTickets),
    task('purge-messages', HOUR, 3 * MINUTE, purgeMessages),
    task('purge-events', HOUR, 3 * MINUTE, purgeEvents),
    task('purge-webhook-attempts', HOUR, 2 * MINUTE, purgeWebhookAttempts),
    task('purge-webhook-retries', HOUR, 2 * MINUTE, purgeWebhookRetries),
    task('drop-partitions', HOUR, 10 * MINUTE, dropExpiredPartitions),
    task('purge-bulk-rows', HOUR, 2 * MINUTE, purgeBulkRows),
    task('empty-finished-files', MINUTE, 10 * MINUTE, emptyFinishedFiles),
    task('purge-expired-files', HOUR / 4, 10 * MINUTE, purgeExpiredFiles),
    task('purge-orphaned-uploads', HOUR / 4, 10 * MINUTE, purgeOrphanedUploads),
    task('recount-daily-usage', 24 * HOUR, 10 * MINUTE, recountDailyUsage),
    task('fold-hourly-counts', 10, 2 * MINUTE, foldHourlyCounts),
    task('purge-hourly-counts', HOUR, 2 * MINUTE, purgeHourlyCounts),
    task('recount-hourly-counts', 24 * HOUR, 2 * MINUTE, recountDays),
    task('purge-inbox', HOUR, 2 * MINUTE, purgeInbox),
    task('purge-installation', HOUR / 4, 2 * MINUTE, purgeInstallation),
    task('purge-receipts', HOUR, 2 * MINUTE, purgeReceipts),
    task('purge-people', HOUR, 2 * MINUTE, purgePeople),
    task('purge-replays', HOUR / 4, 2 * MINUTE, purgeReplays),
    task('purge-sheets', HOUR, 2 * MINUTE, purgeSheets),
    task('purge-template-drafts', HOUR, 2 * MINUTE, purgeTemplateDrafts),
    task('purge-requests', HOUR / 12, 2 * MINUTE, purgeRequests),
    task('purge-sign-in-challenges', HOUR / 4, 2 * MINUTE, purgeSignInChallenges),
    task('seal-again', HOUR, 2 * MINUTE, sealAgain),
  ]
}
