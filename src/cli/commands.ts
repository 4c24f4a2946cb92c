// Every command, in the order of the help.
import { auditCommands } from './audit.ts'
import { backupCommands } from './backup.ts'
import { checkCommands } from './check.ts'
import type { Command } from './command.ts'
import { doctorCommands } from './doctor.ts'
import { eventsCommands } from './events.ts'
import { fileStoreCommands } from './file-store.ts'
import { holdCommands } from './hold.ts'
import { inboxCommands } from './inbox.ts'
import { jobCommands } from './job.ts'
import { errorsCommand, sendCommand } from './job-file.ts'
import { keyCommands } from './key.ts'
import { listCommands } from './lists.ts'
import { messageCommands } from './message.ts'
import { providerCommands } from './provider.ts'
import { restoreCommands } from './restore.ts'
import { sampleCommands } from './sample.ts'
import { serviceCommands } from './service.ts'
import { runCommands } from './start.ts'
import { templateCommands } from './template.ts'
import { transferCommands } from './transfer.ts'
import { userCommands } from './user.ts'
import { webhookCommands } from './webhook.ts'

export const commands: readonly Command[] = [
  ...runCommands,
  ...doctorCommands,
  ...backupCommands,
  ...restoreCommands,
  ...holdCommands,
  ...providerCommands,
  ...fileStoreCommands,
  ...sampleCommands,
  ...serviceCommands,
  ...transferCommands,
  ...keyCommands,
  ...userCommands,
  ...listCommands,
  ...templateCommands,
  ...checkCommands,
  sendCommand,
  ...jobCommands,
  errorsCommand,
  ...messageCommands,
  ...eventsCommands,
  ...webhookCommands,
  ...inboxCommands,
  ...auditCommands,
]
