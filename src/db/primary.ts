// Finds the primary among the hosts of a database. All hosts are asked at the same time and again and again, so that a host that is
// silent (frozen, or cut off from us) does not delay the others.
import net from 'node:net'
import pg from 'pg'
import { pause } from '../runtime/within.ts'

export type Primary = {
  /** The position of the host that was found last; null: none yet. */
  current(): number | null
  /** Looks for it. Calls during a look share it. Rejects when there is none within two seconds. */
  find(): Promise<number>
  /** Calls `tell` when another host than before was found. */
  onMove(tell: () => void): void
  /** Ends a look in progress. */
  stop(): void
}

const LOOK_MS = 2_000
const PAUSE_MS = 200
/** Two hosts may both claim to be the primary: an old one that has not noticed yet. So the others get a moment to answer, too. */
const OTHERS_MS = 100

/** What the hosts answered. `primary`: the one that was found; null: none. `others`: why each of the others is not used. */
export type Look = { primary: string | null; others: readonly HostAnswer[] }
export type HostAnswer = { host: string; isStandby: boolean; reason: string }

/** `onLook`: called after each look, for the log. */
export function createPrimary(hosts: readonly pg.ClientConfig[], onLook: (look: Look) => void = () => {}): Primary {
  const stopping = new AbortController()
  const tells: (() => void)[] = []
  let current = hosts.length === 1 ? 0 : null
  let timeline = 0
  let looking: Promise<number> | null = null

  async function look(): Promise<number> {
    const { found, answers } = await findAmong(hosts, timeline, stopping.signal)
    if (stopping.signal.aborted) throw new Error('the database was stopped')
    onLook({ primary: found ? nameAt(hosts, found.at) : null, others: othersOf(hosts, answers) })
    if (!found) throw notFound(hosts, answers)
    const hasMoved = found.at !== current
    current = found.at
    timeline = found.timeline
    if (hasMoved) for (const tell of tells) tell()
    return found.at
  }

  return {
    current: () => current,
    find() {
      looking ??= look().finally(() => {
        looking = null
      })
      return looking
    },
    onMove: tell => void tells.push(tell),
    stop: () => stopping.abort(),
  }
}

/** A server that is a standby accepts statements, but its data may be old. */
export class StandbyError extends Error {}

const STANDBY =
  'The server that DATABASE_URL names is a standby. Name the primary, or all hosts: postgresql://user@a,b,c/database'

/** Rejects when the server is a standby. */
export async function refuseStandby(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as is_standby')
  if (rows[0]?.is_standby !== false) throw new StandbyError(STANDBY)
}

/** `timeline` is higher on a server that was promoted later. */
type Answer = { kind: 'primary'; timeline: number } | { kind: 'other'; reason: unknown }

/** `known`: a host with a lower timeline is a former primary, which has not noticed yet that another was promoted. */
async function findAmong(hosts: readonly pg.ClientConfig[], known: number, signal: AbortSignal) {
  const answers: (Answer | null)[] = hosts.map(() => null)
  const ending = new AbortController()
  const end = () => ending.abort()
  const over = AbortSignal.any([signal, ending.signal])
  const timers = [setTimeout(end, LOOK_MS)]
  const follow = async (host: pg.ClientConfig, at: number) => {
    for (; !over.aborted; await pause(PAUSE_MS, over)) {
      const answer = current(await ask(host, hosts.length > 1, over), known)
      if (over.aborted) return
      answers[at] = answer
      if (!answers.some(isPrimary)) continue
      if (answers.every(one => one !== null)) end()
      else timers.push(setTimeout(end, OTHERS_MS))
    }
  }
  await Promise.all(hosts.map(follow))
  for (const timer of timers) clearTimeout(timer)
  const [found] = answers
    .flatMap((answer, at) => (isPrimary(answer) ? { at, timeline: answer.timeline } : []))
    .sort((one, other) => other.timeline - one.timeline)
  return { found: found ?? null, answers }
}

/** Asks every host once. */
export async function askHosts(hosts: readonly pg.ClientConfig[]): Promise<Look> {
  const over = new AbortController()
  const answers = await Promise.all(hosts.map(host => ask(host, true, over.signal)))
  const at = answers.findIndex(isPrimary)
  return { primary: at === -1 ? null : nameAt(hosts, at), others: othersOf(hosts, answers) }
}

/** Without those that have not answered yet when another was found. */
const othersOf = (hosts: readonly pg.ClientConfig[], answers: readonly (Answer | null)[]): HostAnswer[] =>
  answers.flatMap((answer, at) =>
    answer?.kind === 'other'
      ? [
          {
            host: nameAt(hosts, at),
            isStandby: answer.reason instanceof StandbyError,
            reason: sentenceOf(answer.reason),
          },
        ]
      : [],
  )

const nameAt = (hosts: readonly pg.ClientConfig[], at: number) => nameOf(hosts[at] as pg.ClientConfig)

const current = (answer: Answer, known: number): Answer =>
  isPrimary(answer) && answer.timeline < known ? { kind: 'other', reason: new Error('a former primary') } : answer

const isPrimary = (answer: Answer | null | undefined): answer is Answer & { kind: 'primary' } =>
  answer?.kind === 'primary'

async function ask(host: pg.ClientConfig, hasOthers: boolean, signal: AbortSignal): Promise<Answer> {
  const socket = new net.Socket()
  const client = new pg.Client({ ...host, connectionTimeoutMillis: LOOK_MS, stream: () => socket })
  const destroy = () => void socket.destroy()
  client.on('error', () => {}) // the statement fails with it
  signal.addEventListener('abort', destroy)
  try {
    await client.connect()
    await refuseStandby(client)
    return { kind: 'primary', timeline: hasOthers ? await timelineOf(client) : 0 }
  } catch (reason) {
    return { kind: 'other', reason }
  } finally {
    signal.removeEventListener('abort', destroy)
    void client.end().catch(destroy)
    if (signal.aborted) destroy()
  }
}

/** The first eight digits of a WAL file's name. A service that replicates below SQL may not have such files: 0. */
const timelineOf = (client: pg.Client): Promise<number> =>
  client.query('select pg_walfile_name(pg_current_wal_lsn()) as file').then(
    ({ rows }) => Number.parseInt(String(rows[0]?.file).slice(0, 8), 16) || 0,
    () => 0,
  )

function notFound(hosts: readonly pg.ClientConfig[], answers: readonly (Answer | null)[]): unknown {
  const reasons = answers.map(answer => (answer?.kind === 'other' ? answer.reason : null))
  if (hosts.length === 1) return reasons[0] ?? new Error('the database does not answer')
  // A wrong password is the same on all hosts, and its error says more than ours.
  const refused = reasons.find(reason => reason instanceof pg.DatabaseError && /^(28|3D)/.test(reason.code ?? ''))
  if (refused) return refused
  const found = hosts.map((host, at) => `${nameOf(host)}: ${sentenceOf(reasons[at])}`)
  return new Error(
    `None of the hosts in DATABASE_URL is the primary (${found.join('; ')}). Start or promote one of them, or correct DATABASE_URL.`,
  )
}

function nameOf(host: pg.ClientConfig): string {
  const { host: name, port } = new pg.Client(host)
  return `${name}:${port}`
}

function sentenceOf(reason: unknown): string {
  if (reason === null || reason === undefined) return 'no answer'
  if (reason instanceof StandbyError) return 'a standby'
  const first = reason instanceof AggregateError ? reason.errors[0] : reason
  return first instanceof Error ? first.message : String(first)
}
