// Table of contents: every lane, its work and its pace; every chore and its hour.
import { forgetRows } from './bulk/forget.ts'
import { spread, writeChunks } from './bulk/spread.ts'
import { dropPartitions, makePartitions } from './db/partitions.ts'
import type { Chore } from './engine/chores.ts'
import { type LaneSpec, lane } from './engine/run.ts'
import { emptyFinished, forgetAged } from './files/forget.ts'
import { scan, writeVerdicts } from './files/scan.ts'
import { forgetInbox } from './inbox/inbox.ts'
import { recount } from './limits/recount.ts'
import { deliver, writeResults } from './notifications/deliver.ts'
import { giveUpOverdue } from './notifications/overdue.ts'
import { forgetMessages, keptSince } from './notifications/retention.ts'
import { simulate } from './notifications/simulate.ts'
import type { EngineParts } from './parts.ts'
import { forgetKept } from './queue/hold.ts'
import { apply, writeMoves } from './receipts/apply.ts'
import { forgetOld as forgetReceipts } from './receipts/sql.ts'
import { forgetOld as forgetReplays } from './replays/sql.ts'

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
  return [
    { name: 'tomorrow has its partitions', everySeconds: HOUR, run: () => makePartitions(db, clock) },
    { name: 'what was never answered ends', everySeconds: HOUR / 4, run: () => giveUpOverdue(parts) },
    { name: 'what was kept back goes with its messages', everySeconds: HOUR, run: () => forgetKept(db.sql) },
    { name: 'messages past their retention go', everySeconds: HOUR, run: () => forgetMessages(parts) },
    {
      name: 'days past every retention are dropped',
      everySeconds: HOUR,
      run: async () => dropPartitions(db, await keptSince(parts)),
    },
    { name: 'rows that never became messages go', everySeconds: HOUR, run: () => forgetRows(parts) },
    { name: 'files of finished messages go', everySeconds: MINUTE, run: () => emptyFinished(parts) },
    { name: 'links last seven days', everySeconds: HOUR / 4, run: () => forgetAged(parts) },
    { name: 'allowances are what they should be', everySeconds: 24 * HOUR, run: () => recount(parts) },
    { name: 'the inbox is bounded', everySeconds: HOUR, run: () => forgetInbox(parts) },
    { name: 'old receipts go', everySeconds: HOUR, run: () => forgetReceipts(db.sql, 8 * 24) },
    { name: 'idempotency keys last a day', everySeconds: HOUR / 4, run: () => forgetReplays(db.sql) },
  ]
}
