// A scanner that is down, hangs or talks nonsense: what it has not called clean waits, ends after an hour, and is never sent.
import { setTimeout as sleep } from 'node:timers/promises'
import { EICAR } from '../../test/support/documents.ts'
import type { ScannerMode } from '../../test/support/scanner.ts'
import { type Answer, newKey, type Sender } from '../support/client.ts'
import type { House, Story } from '../support/house.ts'
import { type Block, verdict } from '../support/promise.ts'

const MODES: readonly (ScannerMode | 'down')[] = ['error', 'garbage', 'endless', 'hang-up', 'hang', 'down']

type Held = { answer: Answer; isVirus: boolean }

export const scannerFaults: Block = {
  name: 'a scanner that is down, hangs or lies',
  async run(house) {
    const rounds = house.isLong ? 5 : 1
    const env = { HERALD_SCANNER: 'clamd', HERALD_CLAMD_URL: house.sink.scannerUrl, HERALD_LEASE_SECONDS: '15' }
    const told = await house.story({ apps: 1, services: 1, env }, async story => {
      const early: string[] = []
      const held: Held[] = []
      const untried: string[] = []
      for (let round = 0; round < rounds; round++)
        for (const mode of MODES) {
          await house.sink.set({ scanner: mode })
          const these = await sendFiles(story)
          held.push(...these)
          if (!(await isTried(house, these))) untried.push(mode)
          early.push(...(await movedOn(house, held)))
        }
      // The last mode is "down": for some of them the hour is over before anybody has looked at their files.
      const aged = held.filter((_, n) => n % 2 === 0)
      story.allow.killed = true // a counter stays where it was though a message moves to another hour, or day
      for (const one of aged) await makeOlder(house, one.answer)
      const ended = await until(house, aged, 'technical-failure')
      const arrivedEarly = held.filter(one => story.arrivalsOf(one.answer.id ?? '') > 0).length

      await house.sink.set({ scanner: 'ok' })
      const rest = held.filter(one => !aged.includes(one))
      const [clean, virus] = [rest.filter(one => !one.isVirus), rest.filter(one => one.isVirus)]
      const delivered = await until(house, clean, 'delivered')
      const refused = await until(house, virus, 'virus-scan-failed')
      await story.drained()
      const arrivals = story.arrivals()
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
        `${told.held} held in ${MODES.length} modes, ${told.arrivedEarly} arrived meanwhile; ${told.ended} of ${told.aged} ended after an hour; well again: ${told.delivered} of ${told.clean} clean ones delivered, ${told.refused} of ${told.virus} infected ones refused, ${told.viruses} test viruses among ${told.arrived} arrivals`,
        {
          'none moved on without a verdict': told.early.length === 0 && told.arrivedEarly === 0,
          'all were tried again': told.untried.length === 0,
          'the hour ends them': told.ended === told.aged,
          'clean ones arrive': told.delivered === told.clean && told.arrived === told.clean,
          'infected ones do not': told.refused === told.virus && told.viruses === 0,
        },
        [...told.early.slice(0, 3), ...told.untried, ...told.violations],
      ),
    ]
  },
}

const file = (isVirus: boolean) => ({
  file: Buffer.from(isVirus ? EICAR : 'nothing to see here').toString('base64'),
  filename: 'a.txt',
  sending_method: 'attach',
})

async function sendFiles({ client, senders }: Story): Promise<Held[]> {
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

/** Brings the next try forward: the waits of the interface are ten seconds and more. */
const hurry = (house: House, some: readonly Held[]) => house.store.db.sql`
  update tickets set due_at = clock_timestamp()
  where lane = 'scan' and owner is null and subjects && ${idsOf(some)}::uuid[]`

/** Whether one of them was tried in its lane: asked again later, or being asked at this moment. */
async function isTried(house: House, some: readonly Held[]): Promise<boolean> {
  await hurry(house, some)
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(50)) {
    const tried = await house.store.db.sql`
      select from tickets where lane = 'scan' and subjects && ${idsOf(some)}::uuid[] and (attempts > 0 or owner is not null)`
    if (tried.length > 0) return true
  }
  return false
}

async function movedOn(house: House, some: readonly Held[]): Promise<string[]> {
  const rows = await house.store.db.sql<{ id: string; status: string }>`
    select id, status from states where id = any (${idsOf(some)}::uuid[]) and status <> 'pending-virus-check'`
  const known = some.filter(one => one.answer.id === null).map(one => `not accepted: ${one.answer.body}`)
  return [...known, ...rows.map(row => `${row.id} ${row.status}`)]
}

async function countOf(house: House, some: readonly Held[], status: string): Promise<number> {
  const rows = await house.store.db.sql`
    select from states where id = any (${idsOf(some)}::uuid[]) and status = ${status}`
  return rows.length
}

/** How many of them come to that status, in a minute at most. */
async function until(house: House, some: readonly Held[], status: string): Promise<number> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(200)) {
    const count = await countOf(house, some, status)
    if (count === some.length) break
    await hurry(house, some)
  }
  return countOf(house, some, status)
}

/** An id is the time of its message: by another id the message is an hour older. */
async function makeOlder(house: House, answer: Answer) {
  const before = answer.id ?? ''
  const ms = Number.parseInt(before.replace('-', '').slice(0, 12), 16) - 61 * 60_000
  const time = ms.toString(16).padStart(12, '0')
  const after = `${time.slice(0, 8)}-${time.slice(8)}${before.slice(13)}`
  // Only while nobody holds its ticket: whoever does knows the message by the old id.
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(20)) {
    const changed = await house.store.db.sql`
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
