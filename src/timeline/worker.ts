// The report thread.
import { workerData } from 'node:worker_threads'
import { createSeal } from '../core/seal.ts'
import { serveCalls } from '../runtime/worker-thread.ts'
import { reportJobLines } from './job-lines.ts'
import { reportMessageLines } from './lines.ts'
import type { ReportCalls } from './thread.ts'

const seal = createSeal(workerData as readonly string[])

serveCalls<ReportCalls>({
  messages: page => reportMessageLines(seal, page),
  job: page => reportJobLines(seal, page),
})
