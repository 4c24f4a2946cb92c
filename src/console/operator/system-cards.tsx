// The cards of the system page.
import type { ComponentChildren } from 'preact'
import type { Channel as ChannelName } from '../../channels/index.ts'
import type { DatabaseAbout, Replica } from '../../db/about.ts'
import { type BackupAge, MOST_BACKUP_SECONDS } from '../../db/last-backup.ts'
import type { PartitionsAbout } from '../../db/partitions.ts'
import {
  inFlight,
  isLate,
  type ProviderReport,
  type ProviderView,
  type RunningProcess,
} from '../../installation/process.ts'
import type { LaneFigures } from '../../queue/figures.ts'
import { HELD_LANES } from '../../sending.ts'
import { Card, Facts, Time } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { Table } from '../components/list.tsx'
import { Badge } from '../components/status.tsx'
import type { Formats } from '../formats.ts'
import { rich, t } from '../words/index.ts'
import { providerPath } from './paths.ts'

export function Lanes(props: { lanes: readonly LaneFigures[]; processes: readonly RunningProcess[]; isHeld: boolean }) {
  const { formats } = usePage()
  return (
    <Card id="lanes" title={t`Lanes`} body={false}>
      <Table<LaneFigures>
        caption={t`Lanes of the queue`}
        rows={props.lanes}
        keyOf={({ lane }) => lane}
        columns={[
          {
            head: t`Lane`,
            cell: ({ lane }) => (
              <strong>
                <bdi>{lane}</bdi>
              </strong>
            ),
          },
          {
            head: t`State`,
            kind: 'status',
            cell: ({ lane, overdue }) =>
              props.isHeld && HELD_LANES.includes(lane) ? (
                <Badge tone="warn" icon="clock">
                  {t`Held`}
                </Badge>
              ) : overdue > 0 ? (
                <Badge tone="warn" icon="alert">
                  {t`Slow`}
                </Badge>
              ) : (
                <Badge tone="good" icon="check">
                  {t`On time`}
                </Badge>
              ),
          },
          {
            head: t`Waiting`,
            kind: 'num',
            cell: ({ waiting }) => (waiting >= 1_000 ? t`${formats.number(waiting)} or more` : formats.number(waiting)),
          },
          {
            head: t`Oldest`,
            kind: 'num',
            cell: ({ waiting, oldest_seconds }) =>
              waiting === 0 ? '–' : t`${formats.number(Math.round(oldest_seconds))} s`,
          },
          {
            head: t`In flight`,
            kind: 'num',
            cell: ({ lane }) => formats.number(inFlight(props.processes, lane)),
          },
        ]}
      />
    </Card>
  )
}

export function Processes(props: { processes: readonly RunningProcess[]; isLed: boolean }) {
  const { formats } = usePage()
  return (
    <Card
      id="processes"
      title={t`Processes`}
      body={false}
      foot={
        props.isLed
          ? t`The leader runs maintenance. When it ends, another process with an engine takes over within 10 s.`
          : t`No process leads. One with an engine begins to lead within 10 s after its start; without one nothing is sent or cleaned up.`
      }
    >
      <Table<RunningProcess>
        caption={t`Processes`}
        rows={props.processes}
        keyOf={({ id }) => id}
        columns={[
          {
            head: t`Process`,
            cell: ({ name, version, runs, started_at, seen_at }) => (
              <>
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                <span class="sub">{rich`${runsWords(runs)}, version ${version}`}</span>
                <span class="sub">{rich`up since ${<Time at={started_at} />}, seen ${formats.ago(seen_at)}`}</span>
              </>
            ),
          },
          { head: t`State`, kind: 'status', cell: process => <ProcessState process={process} /> },
        ]}
      />
    </Card>
  )
}

const runsWords = (runs: RunningProcess['runs']): string =>
  runs.length > 1 ? t`HTTP and engine` : runs[0] === 'engine' ? t`Engine only` : t`HTTP only`

function ProcessState({ process }: { process: RunningProcess }) {
  const { formats } = usePage()
  if (isLate(process))
    return (
      <Badge tone="bad" icon="alert">
        {t`Not seen for ${formats.duration(process.seen_seconds)}`}
      </Badge>
    )
  return process.leads_since ? (
    <Badge tone="plan" icon="shield">
      {rich`Leads since ${<Time at={process.leads_since} />}`}
    </Badge>
  ) : (
    <Badge tone="good" icon="check">
      {t`Running`}
    </Badge>
  )
}

/** `view` null: no running process reports it. */
export type ShownProvider = {
  name: string
  channel: ChannelName
  role: 'send' | 'capture' | 'off'
  view: ProviderView | null
}

export function Providers({ providers }: { providers: readonly ShownProvider[] }) {
  const { formats, url } = usePage()
  return (
    <Card id="providers" title={t`Providers`} body={false}>
      <Table<ShownProvider>
        caption={t`Providers`}
        rows={providers}
        keyOf={({ channel, name }) => `${channel}-${name}`}
        columns={[
          {
            head: t`Provider`,
            cell: ({ name, channel, view }) => (
              <>
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                <span class="sub">{channelWords(channel)}</span>
                {view?.differing.map(({ process, report }) => (
                  <span key={process} class="sub">
                    <bdi>{process}</bdi>: {stateWords(report.state)}
                  </span>
                ))}
              </>
            ),
          },
          {
            head: t`State`,
            kind: 'status',
            cell: provider => (
              <>
                <ProviderState {...provider} />
                {provider.view?.since && <span class="sub">{rich`since ${<Time at={provider.view.since} />}`}</span>}
              </>
            ),
          },
          {
            head: t`Accepted a minute`,
            kind: 'num',
            cell: ({ view }) => (view ? formats.number(view.accepted_last_minute) : '–'),
          },
          {
            head: t`Last error`,
            cell: ({ view }) =>
              view?.last_error ? (
                <>
                  <bdi>{view.last_error.reason ?? view.last_error.class}</bdi>
                  <span class="sub">
                    <Time at={view.last_error.at} />
                  </span>
                </>
              ) : (
                '–'
              ),
          },
          {
            head: t`Test`,
            hidden: true,
            cell: ({ name, channel, role }) =>
              role === 'off' ? null : (
                <a class="btn btn-sm" href={url(providerPath(channel, name))}>
                  {rich`Test ${<span class="vh">{name}</span>}`}
                </a>
              ),
          },
        ]}
      />
    </Card>
  )
}

export const channelWords = (channel: ChannelName): string => (channel === 'sms' ? t`Text message` : t`E-mail`)

const stateWords = (state: ProviderReport['state']): string =>
  state === 'closed' ? t`Working` : state === 'open' ? t`Paused after errors` : t`Trying again`

function ProviderState({ role, view }: ShownProvider) {
  if (role === 'off') return <Badge tone="idle" icon="blocked">{t`Switched off`}</Badge>
  if (!view) return <Badge tone="warn" icon="alert">{t`No process sends`}</Badge>
  if (role === 'capture') return <Badge tone="idle" icon="inbox">{t`Captured, not sent`}</Badge>
  const [tone, icon] = (
    { closed: ['good', 'check'], open: ['bad', 'alert'], 'half-open': ['warn', 'repeat'] } as const
  )[view.state]
  return (
    <Badge tone={tone} icon={icon}>
      {stateWords(view.state)}
    </Badge>
  )
}

export function Database(props: {
  about: DatabaseAbout
  replicas: readonly Replica[]
  partitions: PartitionsAbout | null
  daysAhead: number | null
  backup: BackupAge | null
}) {
  const { formats } = usePage()
  const { about, replicas, partitions, daysAhead, backup } = props
  const used = Math.min(100, Math.round((about.connections / about.most_connections) * 100))
  const connections = t`${formats.number(about.connections)} of ${formats.number(about.most_connections)}`
  return (
    <Card id="database" title={t`Database`}>
      <div class="stack">
        <div class="meter">
          <p class="meter-head">
            <span>{t`Connections`}</span>
            <span>{connections}</span>
          </p>
          <svg class="bar" role="img" aria-label={`${t`Connections`}: ${connections}`}>
            <rect class={used > 80 ? 'fill warn' : 'fill info'} x="0%" width={`${used}%`} height="100%" />
          </svg>
        </div>
        <Facts
          top
          rows={[
            [t`Version`, `PostgreSQL ${about.version}`],
            [t`Size`, sizeWords(about.bytes, formats)],
            [t`Partitions`, partitionWords(partitions, daysAhead, formats)],
            [
              t`Replication`,
              replicas.length === 0
                ? t`no replica`
                : replicas.map(replica => (
                    <p key={replica.name}>
                      <bdi>{replica.name}</bdi>: {replicaWords(replica, formats)}
                    </p>
                  )),
            ],
            ...(backup ? [[t`Last backup`, <Backup key="backup" {...backup} />] as const] : []),
          ]}
        />
      </div>
    </Card>
  )
}

function Backup({ last, seconds }: BackupAge) {
  const isOld = seconds > MOST_BACKUP_SECONDS
  return (
    <>
      {last ? <Time at={last.begun} /> : t`none yet`}
      {isOld && (
        <>
          {' '}
          <Badge tone="warn" icon="alert">
            {t`More than 2 days without one`}
          </Badge>
        </>
      )}
    </>
  )
}

const sizeWords = (bytes: number, { number }: Formats): string =>
  bytes < 10_000_000_000
    ? t`${number(Math.round(bytes / 1_000_000))} MB`
    : t`${number(Math.round(bytes / 1_000_000_000))} GB`

function partitionWords(
  about: PartitionsAbout | null,
  ahead: number | null,
  { number, day }: Formats,
): ComponentChildren {
  if (!about) return t`none`
  const [oldest, newest] = [day(`${about.oldest} 12:00:00+00`), day(`${about.newest} 12:00:00+00`)]
  return t`${number(about.count)}, from ${oldest} to ${newest}, ${number(ahead ?? 0)} days ahead`
}

/** A database user without the role pg_monitor sees that there is a replica, and nothing else. */
function replicaWords({ state, sync, lag_bytes, lag_seconds }: Replica, { number }: Formats): string {
  if (state === null) return t`Only a member of pg_monitor sees its state`
  const lag = [
    ...(lag_bytes === null ? [] : [t`${number(Math.round(lag_bytes / 1000))} kB behind`]),
    ...(lag_seconds === null ? [] : [t`${number(Math.round(lag_seconds * 10) / 10)} s behind`]),
  ]
  return [state, sync, ...lag].join(', ')
}
