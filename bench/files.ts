// A hundred parallel e-mails with 6 MB of files: accepted, scanned, stored and handed to a mail server. The peak memory of the
// whole program, and the latency of other callers meanwhile. The yardstick is a bare route that reads as much. npm run bench --
// files [--messages 100] [--budget 64] [--repeats 3] [--profile FOLDER]. The budget is HERALD_BODY_BUDGET; 64 is its default.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { change } from '../src/services/change.ts'
import { now } from './support/clock.ts'
import { createEnvironment, OPERATOR } from './support/environment.ts'
import { percentile } from './support/load.ts'
import { startMail } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { memoryOf } from './support/process.ts'
import { figure, print, table } from './support/report.ts'
import { ask } from './support/requests.ts'
import { personalisation } from './support/values.ts'
import { startBare } from './support/yardsticks.ts'

const FILE_BYTES = 6_290_000

const { messages, budget, repeats, profile } = sizes(
  { messages: 100, budget: 64, repeats: 3 },
  { messages: 5, repeats: 1 },
)

/** Seconds until all were accepted and until all were handed over; milliseconds of small messages meanwhile. */
type Round = { seconds: number; drained: number; p50: number; max: number }

const environment = await createEnvironment()
const mail = await startMail()
await change(environment.store, OPERATOR, environment.service, { may_send_files: true })
const running = await environment.start({ mail: mail.port, profile, env: { HERALD_BODY_BUDGET: String(budget) } })
try {
  const large = bodyOf(randomBytes(FILE_BYTES).toString('base64'))
  const bare = await startBare('{}')
  const bareSeconds = await allAtOnce(bare, large)
  bare.stop()
  const idle = await smallOnes(until(1))
  const before = memoryOf(running.pid)
  const rounds: Round[] = []
  for (let round = 0; round < repeats; round++) rounds.push(await bench(large))
  const { peak } = memoryOf(running.pid)
  const [seconds, drained] = [of(rounds, 'seconds'), of(rounds, 'drained')]
  const [p50, idleP50] = [of(rounds, 'p50'), percentile(idle, 0.5)]
  table(
    [`${messages} × ${FILE_BYTES} bytes, to ${mail.name}`, 'value', 'beside'],
    [
      ['seconds until all were accepted', seconds, bareSeconds],
      ['seconds until all were handed over', drained, bareSeconds],
      ['peak MB', peak, before.peak],
      ['small e-mails meanwhile, p50 ms', p50, idleP50],
      ['small e-mails meanwhile, max ms', of(rounds, 'max'), Math.max(...idle)],
    ],
  )
  print([
    figure('files_memory', peak, 'MB', before.peak),
    figure('files_accepted', messages / seconds, '/s', messages / bareSeconds),
    figure('files_delivered', messages / drained, '/s', messages / bareSeconds),
    figure('files_others_p50', p50, 'ms', idleP50),
  ])
} finally {
  await running.stop()
  mail.stop()
  await environment.stop()
}

async function bench(body: Buffer): Promise<Round> {
  mail.reset()
  let isBusy = true
  const small = smallOnes(() => isBusy)
  const began = now()
  const seconds = await allAtOnce(running, body)
  isBusy = false
  const waits = await small
  const drained = ((await mail.received(messages + waits.length)) - began) / 1000
  return { seconds, drained, p50: percentile(waits, 0.5), max: Math.max(...waits) }
}

async function allAtOnce(to: { address: string }, body: Buffer): Promise<number> {
  const began = now()
  const all = Array.from({ length: messages }, () => ask(environment, to, 'POST', '/v2/notifications/email', body))
  await Promise.all(all)
  return (now() - began) / 1000
}

function until(seconds: number): () => boolean {
  const end = now() + seconds * 1000
  return () => now() < end
}

/** Small messages one after the other; the milliseconds of each. */
async function smallOnes(goesOn: () => boolean): Promise<number[]> {
  const waits: number[] = []
  while (goesOn()) {
    const began = now()
    await ask(environment, running, 'POST', '/v2/notifications/email', bodyOf(null))
    waits.push(now() - began)
    await sleep(50)
  }
  return waits
}

function bodyOf(file: string | null): Buffer {
  const document = file && { document: { file, filename: 'letter.txt', sending_method: 'attach' } }
  const personal = { personalisation: { ...personalisation(1), ...document } }
  return Buffer.from(
    JSON.stringify({ email_address: 'person@example.org', template_id: environment.templates.email, ...personal }),
  )
}
