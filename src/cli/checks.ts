// What doctor asks of the parts of a service: sending, the queue, files, the clock, and the process that runs.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock, zulu } from '../core/clock.ts'
import { databaseMillis } from '../db/clock.ts'
import { createFilePlace } from '../delivery.ts'
import { isLed } from '../engine/leading.ts'
import { figuresOf } from '../figures.ts'
import { daysAhead } from '../notifications/partitions.ts'
import type { Store } from '../parts.ts'
import type { LaneFigures } from '../queue/figures.ts'
import { holdingOf } from '../queue/hold.ts'
import { createLog } from '../telemetry/log.ts'
import { explained } from './explain.ts'

export type Check = { name: string; ok: boolean; found: string; remedy?: string }

export const fine = (name: string, found: string): Check => ({ name, ok: true, found })
export const trouble = (name: string, found: string, remedy: string): Check => ({ name, ok: false, found, remedy })

export async function checkHold({ db: { sql } }: Store): Promise<Check> {
  const holding = await holdingOf(sql)
  if (!holding) return fine('Sending', 'not held')
  const why = holding.reason === 'restored' ? 'this is a restored copy' : 'an operator asked for it'
  return trouble(
    'Sending',
    `held since ${zulu(holding.held_since)}: ${why}; messages are accepted and wait`,
    'Look with herald held, then go on with herald release (docs/running.md, Backups).',
  )
}

/** How long a due ticket may wait before somebody should look. */
const PATIENCE_SECONDS = { high: 60, other: 900 } as const
const isLate = ({ lane, oldest_seconds }: LaneFigures) =>
  oldest_seconds > (lane.endsWith('-high') ? PATIENCE_SECONDS.high : PATIENCE_SECONDS.other)

export async function checkQueue({ db: { sql } }: Store): Promise<Check[]> {
  const { lanes, kept, unmatched, scan_oldest_seconds: scan } = await figuresOf(sql)
  const late = lanes.filter(isLate)
  const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0)
  const backlog =
    late.length === 0
      ? fine('Queue', waiting === 0 ? 'nothing waits' : `${waiting} tickets wait their turn, none for long`)
      : trouble(
          'Queue',
          late.map(one => `${one.lane} waits for ${duration(one.oldest_seconds)} (${one.waiting} tickets)`).join('; '),
          'Is an engine running, is sending held, is a provider down? docs/on-call.md: HeraldCodesWait.',
        )
  return [
    backlog,
    ...(kept > 0
      ? [
          trouble(
            'Kept back',
            `${kept} tickets wait for a decision after a release`,
            'List them with herald held, let go with herald release --id; else they end 72 hours after they were due.',
          ),
        ]
      : []),
    ...(scan > 300
      ? [
          trouble(
            'Waiting for a scan',
            `the oldest message for ${duration(scan)}`,
            'Bring the scanner back: after an hour without a verdict a message fails, and it is never sent unscanned.',
          ),
        ]
      : []),
    ...(unmatched > 100
      ? [
          trouble(
            'Receipts',
            `${unmatched} are about messages that are not known here`,
            'Does another installation use the same provider account? docs/on-call.md: HeraldReceiptsUnmatched.',
          ),
        ]
      : []),
  ]
}

const duration = (seconds: number) =>
  seconds < 120
    ? `${Math.round(seconds)} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`

export async function checkPartitions({ db: { sql } }: Store): Promise<Check> {
  const name = 'Partitions'
  const days = await daysAhead(sql)
  if (days === null) return fine(name, 'none yet; the first start makes them')
  if (days >= 1) return fine(name, `made for ${days} ${days === 1 ? 'day' : 'days'} ahead`)
  return trouble(
    name,
    days < 0 ? 'there are none for today: nothing can be accepted' : 'there are none for tomorrow',
    'A start makes them. If Herald runs, it should have: look at Leader, and in its log for "maintenance task failed".',
  )
}

/** An election takes at most nine seconds (engine/leader.ts). */
const ELECTION_MS = 10_000
const LOOK_MS = 500

/** `runs`: this installation answers, so one of its processes should lead. */
export async function checkLeader({ db: { sql } }: Store, runs: boolean): Promise<Check> {
  const name = 'Leader'
  for (let waited = 0; runs && waited < ELECTION_MS && !(await isLed(sql)); waited += LOOK_MS) await sleep(LOOK_MS)
  if (await isLed(sql)) return fine(name, 'a process leads and runs maintenance')
  if (!runs) return fine(name, 'nobody; an engine that runs becomes it')
  return trouble(
    name,
    'no process runs maintenance: nothing is purged, and in a few days there is no partition to accept into',
    'Start an engine (herald start, or herald start --only engine); if one runs, restart it and report its log.',
  )
}

const LARGEST_OFFSET_MS = 2_000

/** Herald goes by the database's clock; a machine that is far off still has logs that nobody can compare. */
export async function checkClock({ db: { sql } }: Store): Promise<Check> {
  const name = 'Clock'
  const clock = createClock()
  const before = clock.micros() / 1000
  const there = await databaseMillis(sql)
  const offset = (before + clock.micros() / 1000) / 2 - there
  if (Math.abs(offset) < LARGEST_OFFSET_MS) return fine(name, 'agrees with that of the database')
  return trouble(
    name,
    `this machine is ${duration(Math.abs(offset) / 1000)} ${offset > 0 ? 'ahead of' : 'behind'} its database`,
    'Herald follows the database, but set both by NTP: logs, certificates and signatures depend on it.',
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
  if (scanner.name === 'none') return fine(name, 'none: files are not scanned for viruses (HERALD_SCANNER)')
  if (scanner.name === 'embedded') return fine(name, 'the embedded one, which knows a few signatures (docs/files.md)')
  const answer = await scanner.probe()
  return answer.ok
    ? fine(name, 'clamd answers')
    : trouble(
        name,
        `clamd does not answer: ${answer.detail}`,
        'Start it, or correct HERALD_CLAMD_URL. Messages with files wait for an hour, then fail; none is sent unscanned.',
      )
}

/** A piece of nothing is put, read and removed: less would not show whether the bucket may be written to. */
async function storeOf({ db, ids }: Store, files: Files['store']): Promise<Check> {
  const name = 'File store'
  if (files.name === 'postgres') return fine(name, 'the database')
  const content = ids.next()
  try {
    await files.put(db.sql, content, 0, Buffer.from('herald doctor'))
    const found = await files.get(content, 0)
    await files.remove(db.sql, [{ content, pieces: 1 }])
    if (found?.toString() === 'herald doctor') return fine(name, 's3 takes, gives and removes files')
    return trouble(name, 's3 did not give back what it took', 'Check HERALD_S3_BUCKET: is it the right kind of store?')
  } catch (error) {
    return trouble(
      name,
      `s3 does not work: ${explained(error).join(' ')}`,
      'Check HERALD_S3_URL, HERALD_S3_BUCKET, the region and the key; the key must be allowed to put, get and delete.',
    )
  }
}

/** What the process that runs knows and the database does not. */
export async function checkRunning(address: string): Promise<Check[]> {
  const text = await (await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(5_000) })).text()
  const samples = [...text.matchAll(/^(herald_\w+)\{([^}]*)\} (\S+)$/gm)]
  const found = (metric: string) => samples.filter(([, name]) => name === metric)
  const down = found('herald_provider_up').filter(([, , , value]) => value === '0')
  const aside = found('herald_set_aside_total').reduce((sum, [, , , value]) => sum + Number(value), 0)
  return [
    ...down.map(([, , labels = '']) =>
      trouble(
        'Running service',
        `its provider ${/provider="([^"]*)"/.exec(labels)?.[1]} is down, and messages wait`,
        'Its log has the answer of the provider ("provider is down"). docs/on-call.md: HeraldProviderDown.',
      ),
    ),
    ...(aside > 0
      ? [
          trouble(
            'Running service',
            `${aside} pieces of work were set aside since its start, after repeated faults`,
            'Their messages are technical-failure. The log has the errors: report them (docs/on-call.md: HeraldSetAside).',
          ),
        ]
      : []),
  ]
}
