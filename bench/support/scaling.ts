// The table of docs/scaling.md: the measured cost of one message, multiplied by a rate.
import { type Figure, rounded } from './report.ts'

const RATES = [100, 1_000, 10_000, 100_000]
const DAY_SECONDS = 86_400
/** What one PostgreSQL primary is assumed to take, with a reserve. */
const CELL = { cores: 32, busy: 0.5, walMegabytes: 100, terabytes: 8, days: 7 }

/** CPU in µs; kB. */
type Cost = { service: number; database: number; wal: number; stored: number }

/**
 * CPU under load, where batches are large, times what eight machines cost beside one. The figures of `machines` themselves are of light
 * load, where nothing is batched: times 100,000 they would mean nothing.
 */
export function scalingOf(figures: readonly Figure[]): string {
  const find = (name: string) => figures.find(one => one.figure === name)
  const cpu = (part: 'service' | 'database') => {
    const [loaded, several, light] = [
      find(`deliver_cpu_${part}`),
      find(`machines_many_8_cpu_${part}`),
      find(`machines_many_1_cpu_${part}`),
    ]
    if (!loaded || !several || !light) return null
    return { loaded: Math.round(loaded.value * Math.max(1, several.ratio)), light: Math.round(light.value) }
  }
  const [service, database] = [cpu('service'), cpu('database')]
  const [wal, stored] = [find('disk_email_wal')?.value, find('disk_email_stored')?.value]
  if (!service || !database || wal === undefined || stored === undefined)
    return 'Not measured yet: `npm run bench -- add machines disk`.\n'
  const cost = { service: service.loaded, database: database.loaded, wal, stored }
  return `For one e-mail, accepted and delivered: ${cost.service} µs of Herald's CPU and ${cost.database} µs of PostgreSQL's under load (\`npm run bench -- deliver\`, times
what eight machines cost beside one, \`-- machines\`), ${wal} kB of WAL and ${stored} kB stored (\`-- disk\`). At light load nothing is batched, and
a message costs ${number(service.light)} and ${number(database.light)} µs (one machine alone): that limits nothing, but the first row is too low by this factor.

**Arithmetic, not measured:** these figures times the rate. Cores are busy cores: plan for twice as many. The number of cells
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
