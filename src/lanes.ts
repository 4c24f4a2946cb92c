// Table of contents: every lane, its work and its pace; every chore and its hour.
import { purgeRows } from './bulk/forget.ts'
import { spread, writeChunks } from './bulk/spread.ts'
import { dropPartitions, makePartitions } from './db/partitions.ts'
import type { Chore } from './engine/chores.ts'
import { type LaneSpec, lane } from './engine/run.ts'
import { emptyFinished, purgeAged, purgeUploads } from './files/forget.ts'
import { purgeInbox } from './inbox/inbox.ts'
import { recount } from './limits/recount.ts'
import { deliver, writeResults } from './notifications/deliver.ts'
import { giveUpOverdue } from './notifications/overdue.ts'
import { keptSince, purgeMessages } from './notifications/retention.ts'
import { scan, writeVerdicts } from './notifications/scan.ts'
import { simulate } from './notifications/simulate.ts'
import type { EngineParts } from './parts.ts'
import { purgeKept } from './queue/hold.ts'
import { apply, writeMoves } from './receipts/apply.ts'
import { purgeReceipts } from './receipts/purge.ts'
import { purgeReplays } from './replays/purge.ts'
import { once } from './runtime/steps.ts'

export function lanesOf(parts: EngineParts): LaneSpec[] {
  const sql = parts.db.sql
  const app = { ...parts, sql }
  const delivery = { work: deliver(app), write: writeResults(app) }

  // How many are handed over at the same time, together 64 at most (engine/ceiling.ts); `kept` are for that lane alone. A lane
  // never lends its slots: a newsletter cannot hold up a one-time code.
  return [
    lane({ name: 'email-high', slots: 16, kept: 4, ...delivery }),
    lane({ name: 'email-medium', slots: 16, kept: 2, ...delivery }),
    lane({ name: 'email-low', slots: 32, kept: 2, ...delivery }),
    lane({ name: 'sms-high', slots: 16, kept: 4, ...delivery }),
    lane({ name: 'sms-medium', slots: 16, kept: 2, ...delivery }),
    lane({ name: 'sms-low', slots: 32, kept: 2, ...delivery }),
    lane({ name: 'simulation', slots: 64, work: simulate(app), write: writeResults(app) }),
    lane({ name: 'scan', slots: 4, work: scan(app), write: writeVerdicts(app) }),
    lane({ name: 'spread', slots: 4, work: spread(app), write: writeChunks(app) }),
    lane({ name: 'receipt', slots: 256, work: apply(app), write: writeMoves(app) }),
  ]
}

const HOUR = 3_600
const MINUTE = 60

export function choresOf(parts: EngineParts): Chore[] {
  const { db, clock } = parts
  const { sql } = db
  return [
    { name: 'make-partitions', everySeconds: HOUR, steps: () => once(() => makePartitions(db, clock)) },
    { name: 'end-overdue-messages', everySeconds: HOUR / 4, steps: () => giveUpOverdue(parts) },
    { name: 'purge-kept-tickets', everySeconds: HOUR, steps: () => purgeKept(sql) },
    { name: 'purge-messages', everySeconds: HOUR, steps: () => purgeMessages(parts) },
    {
      name: 'drop-partitions',
      everySeconds: HOUR,
      steps: () => once(async () => dropPartitions(db, await keptSince(parts))),
    },
    { name: 'purge-bulk-rows', everySeconds: HOUR, steps: () => purgeRows(parts) },
    { name: 'empty-finished-files', everySeconds: MINUTE, steps: () => emptyFinished(parts) },
    { name: 'purge-expired-files', everySeconds: HOUR / 4, steps: () => purgeAged(parts) },
    { name: 'purge-orphaned-uploads', everySeconds: HOUR / 4, steps: () => purgeUploads(parts) },
    { name: 'recount-daily-usage', everySeconds: 24 * HOUR, steps: () => recount(parts) },
    { name: 'purge-inbox', everySeconds: HOUR, steps: () => purgeInbox(parts) },
    { name: 'purge-receipts', everySeconds: HOUR, steps: () => purgeReceipts(sql) },
    { name: 'purge-replays', everySeconds: HOUR / 4, steps: () => purgeReplays(sql) },
  ]
}
