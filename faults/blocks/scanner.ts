// A scanner that is down, hangs or answers garbage: a message without the verdict "clean" waits, ends after an hour, and is never
// sent.
import { setTimeout as sleep } from 'node:timers/promises'
import { EICAR } from '../../test/support/documents.ts'
import type { ScannerMode } from '../../test/support/scanner.ts'
import { type Answer, newKey, type Sender } from '../support/client.ts'
import type { Environment, Scenario } from '../support/environment.ts'
import { type Block, verdict } from '../support/promise.ts'

const MODES: readonly (ScannerMode | 'down')[] = ['error', 'garbage', 'endless', 'hang-up', 'hang', 'down']

type Held = { answer: Answer; isVirus: boolean }

export const scannerFaults: Block = {
  name: 'a scanner that is down, hangs or answers garbage',
  async run(environment) {
    const rounds = environment.isLong ? 5 : 1
    const env = { HERALD_SCANNER: 'clamd', HERALD_CLAMD_URL: environment.sink.scannerUrl, HERALD_LEASE_SECONDS: '15' }
    const result = await environment.scenario({ apps: 1, services: 1, env }, async scenario => {
      const early: string[] = []
      const held: Held[] = []
      const untried: string[] = []
      for (let round = 0; round < rounds; round++)
        for (const mode of MODES) {
          await environment.sink.set({ scanner: mode })
          const these = await sendFiles(scenario)
          held.push(...these)
          if (!(await isTried(environment, these))) untried.push(mode)
          early.push(...(await movedOn(environment, held)))
        }
      // The last mode is "down": for some messages the hour passes before their files are scanned.
      const aged = held.filter((_, n) => n % 2 === 0)
      scenario.allow.otherCounts = true // messages get ids of another hour
      scenario.allow.killed = true // the counter keeps its day although the message moves to another hour or day
      for (const one of aged) await makeOlder(environment, one.answer)
      const ended = await until(environment, aged, 'technical-failure')
      const arrivedEarly = held.filter(one => scenario.arrivalsOf(one.answer.id ?? '') > 0).length

      await environment.sink.set({ scanner: 'ok' })
      const rest = held.filter(one => !aged.includes(one))
      const [clean, virus] = [rest.filter(one => !one.isVirus), rest.filter(one => one.isVirus)]
      const delivered = await until(environment, clean, 'delivered')
      const refused = await until(environment, virus, 'virus-scan-failed')
      await scenario.drained()
      const arrivals = scenario.arrivals()
      return {
        held: held.length,
        early,
        untried,
        ended,
        aged: aged.length,
        arrivedEarly,
        delivered,
        clean: clean.length,
        refused,
        virus: virus.length,
        viruses: arrivals.filter(arrival => arrival.hasVirus).length,
        arrived: arrivals.length,
      }
    })
    return [
      verdict(
        'F9',
        'the scanner is down, hangs or answers nonsense',
        'held and asked again, technical-failure after an hour, never sent unscanned: arrivals 0',
        `${result.held} held in ${MODES.length} modes, ${result.arrivedEarly} arrived meanwhile; ${result.ended} of ${result.aged} ended after an hour; well again: ${result.delivered} of ${result.clean} clean ones delivered, ${result.refused} of ${result.virus} infected ones refused, ${result.viruses} test viruses among ${result.arrived} arrivals`,
        {
          'none moved on without a verdict': result.early.length === 0 && result.arrivedEarly === 0,
          'all were tried again': result.untried.length === 0,
          'the hour ends them': result.ended === result.aged,
          'clean ones arrive': result.delivered === result.clean && result.arrived === result.clean,
          'infected ones do not': result.refused === result.virus && result.viruses === 0,
        },
        [...result.early.slice(0, 3), ...result.untried, ...result.violations],
      ),
    ]
  },
}

const file = (isVirus: boolean) => ({
  file: Buffer.from(isVirus ? EICAR : 'nothing to see here').toString('base64'),
  filename: 'a.txt',
  sending_method: 'attach',
})

async function sendFiles({ client, senders }: Scenario): Promise<Held[]> {
  const all: Held[] = []
  for (const isVirus of [false, true])
    for (let n = 0; n < 2; n++) {
      const values = { doc: file(isVirus) }
      const answer = await client.send({ sender: senders[0] as Sender, idempotencyKey: newKey(), values })
      all.push({ answer, isVirus })
    }
  return all
}

const idsOf = (some: readonly Held[]) => some.map(one => one.answer.id)

/** Makes the next attempt due now: the backoff of the interface is ten seconds and more. */
const hurry = (environment: Environment, some: readonly Held[]) => environment.store.db.sql`
  update tickets set due_at = clock_timestamp()
  where lane = 'scan' and owner is null and subjects && ${idsOf(some)}::uuid[]`

/** Whether one of them was attempted in its lane: deferred, or in progress. */
async function isTried(environment: Environment, some: readonly Held[]): Promise<boolean> {
  await hurry(environment, some)
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(50)) {
    const tried = await environment.store.db.sql`
      select from tickets where lane = 'scan' and subjects && ${idsOf(some)}::uuid[] and (attempts > 0 or owner is not null)`
    if (tried.length > 0) return true
  }
  return false
}

async function movedOn(environment: Environment, some: readonly Held[]): Promise<string[]> {
  const rows = await environment.store.db.sql<{ id: string; status: string }>`
    select id, status from states where id = any (${idsOf(some)}::uuid[]) and status <> 'pending-virus-check'`
  const known = some.filter(one => one.answer.id === null).map(one => `not accepted: ${one.answer.body}`)
  return [...known, ...rows.map(row => `${row.id} ${row.status}`)]
}

async function countOf(environment: Environment, some: readonly Held[], status: string): Promise<number> {
  const rows = await environment.store.db.sql`
    select from states where id = any (${idsOf(some)}::uuid[]) and status = ${status}`
  return rows.length
}

/** How many of them reach the status, within a minute. */
async function until(environment: Environment, some: readonly Held[], status: string): Promise<number> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(200)) {
    const count = await countOf(environment, some, status)
    if (count === some.length) break
    await hurry(environment, some)
  }
  return countOf(environment, some, status)
}

/** An id contains the creation time of its message: with another id the message is an hour older. */
async function makeOlder(environment: Environment, answer: Answer) {
  const before = answer.id ?? ''
  const ms = Number.parseInt(before.replace('-', '').slice(0, 12), 16) - 61 * 60_000
  const time = ms.toString(16).padStart(12, '0')
  const after = `${time.slice(0, 8)}-${time.slice(8)}${before.slice(13)}`
  // Only while no process has leased its ticket: the owner knows the message by its old id.
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(20)) {
    const changed = await environment.store.db.sql`
      with ticket as (update tickets set subjects = array_replace(subjects, ${before}::uuid, ${after}::uuid)
                      where ${before}::uuid = any (subjects) and owner is null
                      returning id),
      message as (update notifications set id = ${after} where id = ${before} and exists (select from ticket)),
      state as (update states set id = ${after} where id = ${before} and exists (select from ticket)),
      file as (update files set notification_id = ${after}
               where notification_id = ${before} and exists (select from ticket))
      select id from ticket`
    if (changed.length === 0) continue
    answer.id = after
    return
  }
  throw new Error('the ticket of a held message was never free')
}
