// The table of docs/scaling.md: the measured cost of one message, multiplied by a rate.
import { type Figure, rounded } from './report.ts'

const RATES = [100, 1_000, 10_000, 100_000]
const DAY_SECONDS = 86_400
/** What one PostgreSQL primary is assumed to take, with a reserve. */
const CELL = { cores: 32, busy: 0.5, walMegabytes: 100, terabytes: 8, days: 7 }

/** CPU in µs; kB. */
type Cost = { service: number; database: number; wal: number; stored: number }

export function scalingOf(figures: readonly Figure[]): string {
  const value = (name: string) => figures.find(one => one.figure === name)?.value
  const [service, database] = [value('machines_many_8_cpu_service'), value('machines_many_8_cpu_database')]
  const [wal, stored] = [value('disk_email_wal'), value('disk_email_stored')]
  if (service === undefined || database === undefined || wal === undefined || stored === undefined)
    return 'Not measured yet: `npm run bench -- add machines disk`.\n'
  const cost = { service, database, wal, stored }
  return `Measured for one e-mail, accepted and delivered (\`npm run bench -- machines\`, eight machines and 100 services; \`npm run bench -- disk\`):
${service} µs of Herald's CPU, ${database} µs of PostgreSQL's, ${wal} kB of WAL, ${stored} kB stored.

**Arithmetic, not measured:** these four figures times the rate. Cores are busy cores: plan for twice as many. The number of cells
assumes a primary with ${CELL.cores} cores that are at most half busy, ${CELL.walMegabytes} MB of WAL a second (a standby replays it in one process), and ${CELL.terabytes} TB for
messages that are kept ${CELL.days} days.

| messages a second | cores for Herald | cores for PostgreSQL | WAL | stored in a day | binds first | cells |
|---|---|---|---|---|---|---|
${RATES.map(rate => rowOf(rate, cost)).join('\n')}
`
}

function rowOf(rate: number, { service, database, wal, stored }: Cost): string {
  const cores = (rate * database) / 1e6
  const walMegabytes = (rate * wal) / 1e3
  const gigabytes = (rate * stored * DAY_SECONDS) / 1e6
  const shares = [
    { what: "PostgreSQL's cores", share: cores / (CELL.cores * CELL.busy) },
    { what: 'WAL', share: walMegabytes / CELL.walMegabytes },
    { what: `disk for ${CELL.days} days`, share: (gigabytes * CELL.days) / (CELL.terabytes * 1e3) },
  ]
  const most = shares.reduce((one, other) => (other.share > one.share ? other : one))
  const cells = [
    number(rate),
    number((rate * service) / 1e6),
    number(cores),
    `${number(walMegabytes)} MB/s`,
    gigabytes >= 1_000 ? `${number(gigabytes / 1_000)} TB` : `${number(gigabytes)} GB`,
    `${most.what} (${number(most.share * 100)} % of a cell)`,
    number(Math.ceil(most.share)),
  ]
  return `| ${cells.join(' | ')} |`
}

const number = (value: number) => (value >= 10 ? Math.round(value) : rounded(value)).toLocaleString('en-GB')
