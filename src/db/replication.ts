// Whether what is accepted is on a second server. PostgreSQL makes a commit wait for a synchronous standby; this checks that its
// settings say so, and that there is one.
import type { Sql } from './connect.ts'

/** `managed`: the service replicates below SQL, where nothing of it can be seen. */
export type ReplicationMode = 'none' | 'required' | 'managed'

export const LAG_STAGES = ['write', 'flush', 'replay'] as const
type Lag = Record<`${(typeof LAG_STAGES)[number]}_${'bytes' | 'seconds'}`, number>

/** The lag is that of the slowest standby; 0 without one. */
export type ReplicationState = Lag & {
  /** The settings synchronous_standby_names and synchronous_commit. */
  names: string
  commit: string
  /** All receivers of the WAL, and of these the synchronous standbys that receive it now. */
  standbys: number
  synchronous: number
  /** Receivers whose state this database user may not see. */
  hidden: number
}

export async function replicationState(sql: Sql): Promise<ReplicationState> {
  const [state] = await sql<ReplicationState>`
    select current_setting('synchronous_standby_names') as names,
           current_setting('synchronous_commit') as commit,
           count(*)::integer as standbys,
           count(*) filter (where state = 'streaming' and sync_state in ('sync', 'quorum'))::integer as synchronous,
           count(*) filter (where state is null)::integer as hidden,
           coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), write_lsn)), 0)::float8 as write_bytes,
           coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)), 0)::float8 as flush_bytes,
           coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0)::float8 as replay_bytes,
           coalesce(extract(epoch from max(write_lag)), 0)::float8 as write_seconds,
           coalesce(extract(epoch from max(flush_lag)), 0)::float8 as flush_seconds,
           coalesce(extract(epoch from max(replay_lag)), 0)::float8 as replay_seconds
    from pg_stat_replication`
  if (!state) throw new Error('the database says nothing about its replication')
  return state
}

export type ReplicationProblem = { found: string; remedy: string }

/** Why a message that is accepted now would be on one server only, or would wait; null: it is on two. */
export function replicationProblem(state: ReplicationState): ReplicationProblem | null {
  if (state.names === '')
    return {
      found: 'synchronous_standby_names is empty',
      remedy:
        'Set it in the configuration of PostgreSQL, e.g. ANY 1 (*); with Patroni, set synchronous_mode and synchronous_mode_strict to true.',
    }
  if (!SAFE_COMMITS.has(state.commit))
    return {
      found: `synchronous_commit is ${state.commit}`,
      remedy: 'Set it to on or remote_apply, for the server and for the database user of Herald.',
    }
  if (state.synchronous > 0) return null
  if (state.hidden > 0)
    return {
      found: 'the state of the standbys is hidden from this database user',
      remedy: 'Allow it to see the state, as a superuser: grant pg_monitor to herald (the name of the user).',
    }
  return {
    found: 'no synchronous standby is connected',
    remedy: 'Start a standby, or repair its connection to the primary; until then PostgreSQL lets every commit wait.',
  }
}

/** With the others a commit returns before it is on the disk of the standby. */
const SAFE_COMMITS = new Set(['on', 'remote_apply'])

/** The problem, where HERALD_REPLICATION requires that there is none. */
export const unmetReplication = async (sql: Sql, mode: ReplicationMode): Promise<ReplicationProblem | null> =>
  mode === 'required' ? replicationProblem(await replicationState(sql)) : null
