// A check of a file before sending, compared with the checks of a bulk send of the same file: the time in the bulk thread, from the
// bytes of the body to the result. npm run bench -- check [--rows 50000] [--repeats 5]
import { createBulkThread, type Examiner, type FileRules } from '../src/bulk/thread.ts'
import type { Id } from '../src/core/id.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'

const { rows: count, repeats } = sizes({ rows: 50_000, repeats: 5 }, { rows: 1_000, repeats: 1 })

const NOW = 1_800_000_000_000
const rules: FileRules = {
  channel: 'email',
  names: ['name', 'town'],
  content: 'Hello ((name)) of ((town)), your permit is ready.',
  subject: 'Your permit, ((name))',
  prefix: null,
  international: false,
  homeCountry: 'CA',
  allowedRecipients: null,
  isTest: false,
  simulated: [],
  mostErrors: 20,
  dueMicros: NOW * 1000,
}
const texts: FileRules = { ...rules, channel: 'sms', subject: null, prefix: 'Parking permits' }

const PLAIN = ['Ann', 'Bob', 'Charlotte']
const NAMES = ["O'Brien", 'Анна', '李']

const email = (at: number) => `person${at}@example.org`
const phone = (at: number) => `613555${String(1_000_000 + at).slice(-4)}`

function bodyOf(header: string, to: (at: number) => string, names: readonly string[], asCsv = false): Buffer {
  const rows = [
    [header, 'name', 'town'],
    ...Array.from({ length: count }, (_, at) => [to(at), `${names[at % names.length]}`, 'Ottawa']),
  ]
  const content = asCsv ? { csv: rows.map(row => row.join(',')).join('\n') } : { rows }
  return Buffer.from(JSON.stringify({ name: 'Job', template_id: '207b293c-2ae5-48e8-836d-fcabd60b2153', ...content }))
}

const cases: readonly (readonly [string, FileRules, Buffer])[] = [
  ['e-mails as rows', rules, bodyOf('email address', email, PLAIN)],
  ["e-mails to O'Brien, Анна, 李", rules, bodyOf('email address', email, NAMES)],
  ['e-mails as csv', rules, bodyOf('email address', email, PLAIN, true)],
  ['e-mails, every row wrong', rules, bodyOf('email address', () => 'nobody', PLAIN)],
  ['texts as rows', texts, bodyOf('phone number', phone, PLAIN)],
  ["texts to O'Brien, Анна, 李", texts, bodyOf('phone number', phone, NAMES)],
]

const thread = createBulkThread()
const measured: { name: string; send: number; check: number; ratio: number }[] = []
for (const [name, given, body] of cases) {
  const rounds: { send: number; check: number }[] = []
  // One uncounted round: the code is not optimised yet.
  for (let round = 0; round <= repeats; round++) {
    const send = await timed(body, given)
    const check = await timed(body, { ...given, isReport: true })
    if (round > 0) rounds.push({ send, check })
  }
  const [send, check] = [of(rounds, 'send'), of(rounds, 'check')]
  measured.push({ name, send, check, ratio: check / send })
}
await thread.stop()

table(
  [`${count} rows`, 'checks of a send ms', 'check ms', 'ratio'],
  measured.map(({ name, send, check, ratio }) => [name, send, check, ratio]),
)
const worst = measured.reduce((one, other) => (one.ratio > other.ratio ? one : other))
print([figure('check_bulk', worst.check / 1000, 's', worst.send / 1000)])

async function timed(body: Buffer, given: FileRules): Promise<number> {
  const work = async (examiner: Examiner) => {
    await examiner.read(NOW)
    return examiner.check(given)
  }
  const began = performance.now()
  await thread.examine('0b7e6f2a-5d4c-4b3a-9281-706f5e4d3c2b' as Id, body, work)
  return performance.now() - began
}
