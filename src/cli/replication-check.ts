// The replication check of doctor: what the loss of the database server would lose.
import { type ReplicationState, replicationProblem, replicationState } from '../db/replication.ts'
import type { Store } from '../parts.ts'
import { type Check, ok, problem } from './checks.ts'

const NAME = 'Replication'

export async function checkReplication({ config, db }: Pick<Store, 'config' | 'db'>): Promise<Check> {
  const { databaseUrl, replication } = config
  if (replication === 'managed')
    return ok(NAME, 'not checked: HERALD_REPLICATION=managed says that the database service does it')
  const state = await replicationState(db.sql)
  const found = replicationProblem(state)
  if (replication === 'required')
    return found
      ? problem(NAME, `required, but ${found.found}`, found.remedy)
      : ok(NAME, `required: ${synchronous(state)}; the slowest has not flushed ${state.flush_bytes} bytes yet`)
  if (!databaseUrl) return ok(NAME, 'none: the embedded database is on this machine only; keep backups elsewhere')
  if (!found) return ok(NAME, `${synchronous(state)}; HERALD_REPLICATION=required would insist on it`)
  if (state.standbys > 0)
    return ok(NAME, `${count(state.standbys)}, but ${found.found}: the loss of the primary loses the last messages`)
  return ok(
    NAME,
    'none: the loss of this server loses what was accepted since the last backup; with a synchronous standby, set HERALD_REPLICATION=required, and where the service replicates itself, managed',
  )
}

const count = (standbys: number) => `${standbys} ${standbys === 1 ? 'standby' : 'standbys'}`

const synchronous = (state: ReplicationState) =>
  `${state.synchronous} synchronous of ${count(state.standbys)}, synchronous_commit is ${state.commit}`
