import { flag, oneOf, reader, whole } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'
import { addressProblem } from './hosts.ts'
import type { ReplicationMode } from './replication.ts'

const SCHEME = /^postgres(ql)?:\/\//

const postgresUrl = reader<string>(
  given => {
    const problem = SCHEME.test(given)
      ? addressProblem(given)
      : 'must be an address like postgresql://user:password@host:5432/database'
    return problem === null ? given : { problem }
  },
  { type: 'string', pattern: SCHEME.source },
)

export const settings = {
  databaseUrl: setting<string | null>(
    'DATABASE_URL',
    postgresUrl,
    null,
    'An external PostgreSQL (15 or newer) to use instead of the embedded one. With several hosts (postgresql://user@a,b:5433,c/herald) always the one that is the primary. TLS by sslmode and sslrootcert (docs/running.md).',
    { shown: 'none: embedded', secret: true },
  ),
  allowUnsafeDatabase: setting(
    'HERALD_ALLOW_UNSAFE_DATABASE',
    flag,
    false,
    'Start even though the database may lose acknowledged commits (fsync, full_page_writes or synchronous_commit off). For tests only.',
  ),
  databaseConnections: setting(
    'HERALD_DATABASE_CONNECTIONS',
    whole(2, 500),
    10,
    'Connections to the database of one process, to serve requests and to send. It has two more, for notifications and leader election, and the leader up to two for maintenance.',
  ),
  databaseSeconds: setting(
    'HERALD_DATABASE_SECONDS',
    whole(1, 60),
    5,
    'How long one statement may take before the request is answered with 500.',
  ),
  replication: setting<ReplicationMode>(
    'HERALD_REPLICATION',
    oneOf('none', 'required', 'managed'),
    'none',
    'required: refuse to start, and report not ready, without a synchronous standby. managed: the database service replicates below SQL, and nothing is checked.',
  ),
} satisfies Settings
