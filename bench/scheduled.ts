// Single messages that are all due at the same moment, compared with a bulk job of the same size: the time until the last one has
// reached a mail server, and the latency of a one-time code of the same service meanwhile. npm run bench -- scheduled [--messages
// 30000] [--repeats 3] [--profile FOLDER]
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from './support/clock.ts'
import type { Environment, Running } from './support/environment.ts'
import { load, percentile, request } from './support/load.ts'
import { type Mail, mailYardstick, source } from './support/mail.ts'
import { of } from './support/measure.ts'
import { sizes } from './support/options.ts'
import { figure, print, table } from './support/report.ts'
import { ask, people } from './support/requests.ts'
import { withMail } from './support/sending.ts'
import { personalisation } from './support/values.ts'

const { messages, repeats, profile } = sizes({ messages: 30_000, repeats: 3 }, { messages: 1_000, repeats: 1 })

/** The delay between setting their time and the moment they are due. */
const BEFORE_MS = 3_000

await withMail(profile, bench)

/** Seconds until the last one of a bulk, and of as many scheduled messages; seconds they were late; milliseconds of one-time codes. */
type Round = {
  bulk: number
  scheduled: number
  ratio: number
  lateP50: number
  lateP99: number
  codeP95: number
  codeMax: number
}

async function bench(environment: Environment, running: Running, mail: Mail) {
  const perSecond = await mailYardstick(mail, messages / 2)
  await bulkSeconds(environment, running, mail) // warm-up: the code is not optimised yet in the first seconds
  const rounds: Round[] = []
  for (let round = 0; round < repeats; round++) {
    await environment.settle()
    const bulk = await bulkSeconds(environment, running, mail)
    await schedule(environment, running)
    await environment.settle()
    const results = await scheduledSeconds(environment, running, mail)
    rounds.push({ ...results, bulk, ratio: results.scheduled / bulk })
  }
  const [bulk, scheduled] = [of(rounds, 'bulk'), of(rounds, 'scheduled')]
  table(
    [`${messages} e-mails to ${mail.name}`, 'seconds', '/s'],
    [
      ['as a bulk, from the request to the last one', bulk, messages / bulk],
      ['scheduled one by one for the same moment, from then to the last one', scheduled, messages / scheduled],
      [`${source()} to the same mail server`, messages / perSecond, perSecond],
    ],
  )
  table(
    ['seconds from the due time to sent', 'p50', 'p99'],
    [['scheduled one by one', of(rounds, 'lateP50'), of(rounds, 'lateP99')]],
  )
  table(
    ['one-time codes meanwhile', 'p95 ms', 'max ms'],
    [['accepted to sent', of(rounds, 'codeP95'), of(rounds, 'codeMax')]],
  )
  print([
    figure('scheduled_delivered', scheduled, 's', bulk, of(rounds, 'ratio')),
    figure('scheduled_late_p99', of(rounds, 'lateP99'), 's', bulk),
    figure('scheduled_code_p95', of(rounds, 'codeP95'), 'ms', 1),
  ])
}

async function bulkSeconds(environment: Environment, running: Running, mail: Mail): Promise<number> {
  const body = JSON.stringify({
    name: 'bulk',
    template_id: environment.templates.email,
    rows: people(messages, 'email'),
  })
  mail.reset()
  const began = now()
  await ask(environment, running, 'POST', '/v2/notifications/bulk', body)
  return ((await mail.received(messages)) - began) / 1000
}

/** Accepted for tomorrow: on a slow machine the first would be due before the last is accepted. */
async function schedule(environment: Environment, { address }: Running): Promise<void> {
  const scheduled_for = new Date(Date.now() + 24 * 3_600_000).toISOString()
  const headers = { authorization: `ApiKey-v1 ${environment.key}` }
  const requests = Array.from({ length: messages }, (_, n) =>
    request(
      'POST',
      '/v2/notifications/email',
      headers,
      JSON.stringify({
        email_address: `person.${n}@example.org`,
        template_id: environment.templates.email,
        personalisation: personalisation(n),
        scheduled_for,
      }),
    ),
  )
  const { statuses } = await load({
    addresses: [address],
    requests,
    connections: 64,
    seconds: 120,
    once: true,
    warmUp: 0,
  })
  if (statuses['201'] !== messages) throw new Error(`not all were accepted: ${JSON.stringify(statuses)}`)
}

async function scheduledSeconds(
  environment: Environment,
  running: Running,
  mail: Mail,
): Promise<Omit<Round, 'bulk' | 'ratio'>> {
  const { sql } = environment.store.db
  const begin = now() + BEFORE_MS
  const due = Date.now() + BEFORE_MS
  const client = environment.store.db.client() // outside the pool: no timeout
  await client.connect()
  await client.query(
    `with due as (select clock_timestamp() + make_interval(secs => $1) as at),
     result as (update notifications n set scheduled_for = due.at from due where n.id in (select id from tickets))
     update tickets set due_at = due.at from due`,
    [(begin - now()) / 1000],
  )
  await client.end()
  mail.reset()
  let isDone = false
  const codes = sendCodes(environment, running, () => isDone)
  await sleep(Math.max(0, begin - now()))
  const scheduled = ((await mail.received(messages)) - begin) / 1000
  isDone = true
  const ids = await codes
  const times = await sql<{ ms: number }>`
    select extract(epoch from sent_at - uuid_time(id))::float8 * 1000 as ms from states where id = any (${ids}::uuid[]) and sent_at is not null`
  const ms = times.map(row => row.ms)
  await environment.settle() // what was handed over last may not be recorded yet
  const [late] = await sql<{ p50: number; p99: number }>`
    select percentile_cont(0.5) within group (order by extract(epoch from s.sent_at - n.scheduled_for))::float8 as p50,
           percentile_cont(0.99) within group (order by extract(epoch from s.sent_at - n.scheduled_for))::float8 as p99
    from notifications n
    join states s on s.id = n.id
    where n.scheduled_for between to_timestamp(${due - 1_000} / 1000.0) and to_timestamp(${due + 1_000} / 1000.0)`
  return {
    scheduled,
    lateP50: late?.p50 ?? 0,
    lateP99: late?.p99 ?? 0,
    codeP95: percentile(ms, 0.95),
    codeMax: Math.max(...ms),
  }
}

/** Ten messages a second of the same service. */
async function sendCodes(environment: Environment, running: Running, isDone: () => boolean): Promise<string[]> {
  const ids: Promise<string>[] = []
  for (let n = 0; !isDone(); n++) {
    const body = {
      email_address: `code.${n}@example.org`,
      template_id: environment.templates.code,
      personalisation: personalisation(n),
    }
    ids.push(
      ask(environment, running, 'POST', '/v2/notifications/email', JSON.stringify(body)).then(
        text => (JSON.parse(text) as { id: string }).id,
      ),
    )
    await sleep(100)
  }
  return Promise.all(ids)
}
