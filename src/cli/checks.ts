// The checks of doctor for the parts of a service: sending, queue, partitions, leader, clock, files, and the running process.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock, zulu } from '../core/clock.ts'
import { databaseMillis } from '../db/clock.ts'
import { createFilePlace } from '../delivery.ts'
import { isLed } from '../engine/leading.ts'
import { figuresOf } from '../figures.ts'
import { compareFileStore, STORE_REMEDY } from '../installation/installation.ts'
import { isLate as isUnseen, LATE_SECONDS } from '../installation/process.ts'
import { list } from '../installation/sql/processes.ts'
import { daysAhead } from '../maintenance/partitions.ts'
import type { Store } from '../parts.ts'
import type { LaneFigures } from '../queue/figures.ts'
import { holdingOf } from '../queue/hold.ts'
import { createLog } from '../telemetry/log.ts'
import { explained } from './explain.ts'
import { resumeBy } from './hold.ts'

/** `data`: with --json only. */
export type Check = { name: string; ok: boolean; found: string; remedy?: string; data?: unknown }

export const ok = (name: string, found: string): Check => ({ name, ok: true, found })
export const problem = (name: string, found: string, remedy: string): Check => ({ name, ok: false, found, remedy })

/** A check that throws is reported as a problem, and the other checks still run. */
export async function attempted(name: string, make: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await make()
  } catch (error) {
    return [problem(name, explained(error).join(' '), 'Correct the settings; docs/settings.md explains each setting.')]
  }
}

export async function checkHold({ db: { sql } }: Store): Promise<Check> {
  const holding = await holdingOf(sql)
  if (!holding) return ok('Sending', 'not held')
  const why = holding.reason === 'restored' ? 'this is a restored copy' : 'by herald hold'
  return problem(
    'Sending',
    `held since ${zulu(holding.held_since)}: ${why}; messages are accepted and wait`,
    `See what waits with herald held. To resume: ${resumeBy(holding.reason)} (docs/running.md, Backups).`,
  )
}

/** A due ticket that waits longer is a problem. */
const MOST_WAIT_SECONDS = { high: 60, other: 900 } as const
const isLate = ({ lane, oldest_seconds }: LaneFigures) =>
  oldest_seconds > (lane.endsWith('-high') ? MOST_WAIT_SECONDS.high : MOST_WAIT_SECONDS.other)

export async function checkQueue({ db: { sql } }: Store): Promise<Check[]> {
  const { lanes, kept, unmatched, scan_oldest_seconds: scan } = await figuresOf(sql)
  const late = lanes.filter(isLate)
  const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0)
  const backlog =
    late.length === 0
      ? ok('Queue', waiting === 0 ? 'empty' : `${waiting} tickets, none waits too long`)
      : problem(
          'Queue',
          late.map(one => `${one.lane} waits for ${duration(one.oldest_seconds)} (${one.waiting} tickets)`).join('; '),
          'Check that an engine runs, that sending is not held and that no provider is down. docs/on-call.md: HeraldCodesWait.',
        )
  return [
    backlog,
    ...(kept > 0
      ? [
          problem(
            'Kept back',
            `${kept} tickets wait for a decision after a release`,
            'List them with herald held and release them with herald release --id; otherwise they fail 72 hours after they were due.',
          ),
        ]
      : []),
    ...(scan > 300
      ? [
          problem(
            'Waiting for a scan',
            `the oldest message for ${duration(scan)}`,
            'Repair the scanner: a message that is not scanned within an hour fails; it is never sent unscanned.',
          ),
        ]
      : []),
    ...(unmatched > 100
      ? [
          problem(
            'Receipts',
            `${unmatched} belong to messages that do not exist here`,
            'Check whether another installation uses the same provider account. docs/on-call.md: HeraldReceiptsUnmatched.',
          ),
        ]
      : []),
  ]
}

export const duration = (seconds: number) =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`

export async function checkPartitions({ db: { sql } }: Store): Promise<Check> {
  const name = 'Partitions'
  const days = await daysAhead(sql)
  if (days === null) return ok(name, 'none yet; the first start creates them')
  if (days >= 1) return ok(name, `exist for ${days} ${days === 1 ? 'day' : 'days'} ahead`)
  return problem(
    name,
    days < 0 ? 'there are none for today: nothing can be accepted' : 'there are none for tomorrow',
    'herald start creates them. If Herald runs, it should have: look at Leader, and in its log for "maintenance task failed".',
  )
}

/** Leader election takes at most nine seconds (engine/leader.ts). */
const ELECTION_MS = 10_000
const LOOK_MS = 500

/** `runs`: this installation answers, so one of its processes should lead. */
export async function checkLeader({ db: { sql } }: Store, runs: boolean): Promise<Check> {
  const name = 'Leader'
  for (let waited = 0; runs && waited < ELECTION_MS && !(await isLed(sql)); waited += LOOK_MS) await sleep(LOOK_MS)
  if (await isLed(sql)) return ok(name, 'a process leads and runs maintenance')
  if (!runs) return ok(name, 'none; an engine becomes leader when it starts')
  return problem(
    name,
    'no process runs maintenance: nothing is purged, and in a few days there is no partition to accept into',
    'Start an engine (herald start, or herald start --only engine); if one runs, restart it and report its log.',
  )
}

/** Never a problem: a process that was killed stays in the list for an hour. */
export async function checkProcesses({ db: { sql } }: Store): Promise<Check> {
  const processes = await list(sql)
  const running = processes.filter(one => !isUnseen(one))
  const late = processes.filter(isUnseen).map(one => `${one.name} was not seen for ${duration(one.seen_seconds)}`)
  const named = running.map(one => `${one.name} (${[...one.runs, ...(one.leads_since ? ['leads'] : [])].join(', ')})`)
  const found =
    running.length === 0
      ? late.length === 0
        ? 'none runs'
        : `none was seen in the last ${LATE_SECONDS} s`
      : `${running.length} ${running.length === 1 ? 'runs' : 'run'}: ${named.join(', ')}`
  const data = processes.map(({ started_at, seen_at, leads_since, ...rest }) => ({
    ...rest,
    ...{ started_at: zulu(started_at), seen_at: zulu(seen_at), leads_since: leads_since && zulu(leads_since) },
  }))
  return { ...ok('Processes', [found, ...late].join('; ')), data }
}

const LARGEST_OFFSET_MS = 2_000

/** Herald uses the database's time. A wrong clock on this machine still makes its logs hard to compare. */
export async function checkClock({ db: { sql } }: Store): Promise<Check> {
  const name = 'Clock'
  const clock = createClock()
  const before = clock.micros() / 1000
  const there = await databaseMillis(sql)
  const offset = (before + clock.micros() / 1000) / 2 - there
  if (Math.abs(offset) < LARGEST_OFFSET_MS) return ok(name, 'same as the clock of the database')
  return problem(
    name,
    `this machine is ${duration(Math.abs(offset) / 1000)} ${offset > 0 ? 'ahead of' : 'behind'} its database`,
    'Synchronise both machines with NTP: Herald uses the time of the database, but logs, certificates and signatures need the right time too.',
  )
}

export async function checkFiles(store: Store): Promise<Check[]> {
  const files = createFilePlace(store, createLog('silent'))
  try {
    return [await scannerOf(files.scanner), await storeOf(store, files.store)]
  } finally {
    await files.stop()
  }
}

type Files = ReturnType<typeof createFilePlace>

async function scannerOf(scanner: Files['scanner']): Promise<Check> {
  const name = 'Scanner'
  if (scanner.name === 'none') return ok(name, 'none: files are not scanned for viruses (HERALD_SCANNER)')
  if (scanner.name === 'embedded') return ok(name, 'embedded; it knows only a few signatures (docs/files.md)')
  const reply = await scanner.probe()
  return reply.ok
    ? ok(name, 'clamd answers')
    : problem(
        name,
        `clamd does not answer: ${reply.detail}`,
        'Start clamd, or correct HERALD_CLAMD_URL. Messages with files wait for an hour, then fail; none is sent unscanned.',
      )
}

async function storeOf(store: Store, files: Files['store']): Promise<Check> {
  const works = files.mark ? await trialOf(store, files) : ok(STORE, 'the database')
  if (!works.ok) return works
  const found = await compareFileStore(store.db.sql, files)
  return found.kind === 'differs' ? problem(STORE, found.sentence.replace(/\.$/, ''), STORE_REMEDY) : works
}

const STORE = 'File store'

/** Writes, reads and removes a small object: only that shows whether the access rights suffice. */
async function trialOf({ db, ids }: Store, files: Files['store']): Promise<Check> {
  const name = STORE
  const content = ids.next()
  try {
    await files.put(db.sql, content, 0, Buffer.from('herald doctor'))
    const found = await files.get(content, 0)
    await files.remove(db.sql, [{ content, pieces: 1 }])
    if (found?.toString() !== 'herald doctor')
      return problem(name, 's3 did not return what was written', 'Check HERALD_S3_BUCKET: is it the right bucket?')
    return ok(name, 's3: writing, reading and removing works')
  } catch (error) {
    return problem(
      name,
      `s3 does not work: ${explained(error).join(' ')}`,
      'Check HERALD_S3_URL, HERALD_S3_BUCKET, the region and the key. The key must be allowed to put, get and delete objects.',
    )
  }
}

/** What only the metrics of the running process show. */
export async function checkRunning(address: string, token: string | null): Promise<Check[]> {
  const answer = await fetch(`${address}/metrics`, {
    ...(token !== null && { headers: { authorization: `Bearer ${token}` } }),
    signal: AbortSignal.timeout(5_000),
  })
  if (answer.status === 404)
    return [ok('Running service', `its metrics are not checked: with HERALD_METRICS_TOKEN ${address} shows them`)]
  const text = await answer.text()
  const samples = [...text.matchAll(/^(herald_\w+)\{([^}]*)\} (\S+)$/gm)]
  const found = (metric: string) => samples.filter(([, name]) => name === metric)
  const down = found('herald_provider_up').filter(([, , , value]) => value === '0')
  const aside = found('herald_set_aside_total').reduce((sum, [, , , value]) => sum + Number(value), 0)
  return [
    ...down.map(([, , labels = '']) =>
      problem(
        'Running service',
        `provider ${/provider="([^"]*)"/.exec(labels)?.[1]} is down; messages wait`,
        'The log has the answer of the provider ("provider is down"). docs/on-call.md: HeraldProviderDown.',
      ),
    ),
    ...(aside > 0
      ? [
          problem(
            'Running service',
            `${aside} pieces of work were set aside since its start, after repeated faults`,
            'Their messages are technical-failure. The log has the errors: report them (docs/on-call.md: HeraldSetAside).',
          ),
        ]
      : []),
  ]
}
