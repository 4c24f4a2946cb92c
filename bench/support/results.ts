// The last complete run as a file, and the documents made from it: the table in results.md and the picture in
// docs/performance.md.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bar, bars } from './bars.ts'
import { growth } from './growth.ts'
import { type Figure, rounded } from './report.ts'
import { scalingOf } from './scaling.ts'

export type Results = {
  date: string
  commit: string
  machine: { cores: number; processor: string; memoryGiB: number; load: number; node: string; postgres: string }
  minutes: number
  /** Benches that were run again alone, after the whole run; their figures replace those of the whole run. */
  added?: { bench: string; date: string; commit: string; processor: string; load: number }[]
  figures: Figure[]
}

type Places = { results: string; docs: string }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const HOME: Places = { results: join(ROOT, 'bench'), docs: join(ROOT, 'docs') }

/** `load` is the load average before the run: nearly zero on a quiet machine. */
export function machine(load: number, minutes: number): Omit<Results, 'figures'> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--', 'src', 'migrations', 'package-lock.json') !== ''
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const [postgres = ''] = Object.values(optionalDependencies)
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: git('rev-parse', '--short', 'HEAD') + (isChanged ? ' with changes' : ''),
    machine: {
      cores: cpus().length,
      processor: cpus()[0]?.model ?? 'unknown',
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      load: rounded(load),
      node: process.versions.node,
      postgres: postgres.replace(/\.0-.*/, ''),
    },
    minutes: rounded(minutes),
  }
}

export const readResults = () => JSON.parse(readFileSync(join(HOME.results, 'results.json'), 'utf8')) as Results

export function writeResults(results: Results, places: Places): void {
  writeFileSync(join(places.results, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
  writeReport(results, places)
}

/** Replaces the figures of one bench in the results of the last whole run. */
export function addFigures(results: Results, bench: string, figures: readonly Figure[], load: number): Results {
  const { date, commit, machine: here } = machine(load, 0)
  const isOfBench = ({ figure }: Figure) => figure.startsWith(`${bench}_`)
  return {
    ...results,
    added: [
      ...(results.added ?? []).filter(one => one.bench !== bench),
      { bench, date, commit, processor: here.processor, load: rounded(load) },
    ],
    figures: [...results.figures.filter(one => !isOfBench(one)), ...figures],
  }
}

type Markers = readonly [begin: string, end: string]
const MADE: Markers = ['<!-- made by npm run bench from results.json: do not edit from here -->', '<!-- to here -->']
const SCALING: Markers = ['<!-- bench:scaling -->', '<!-- /bench:scaling -->']

export function writeReport(results: Results, places: Places): void {
  replaceMarked(join(places.results, 'results.md'), MADE, reportOf(results))
  replaceMarked(join(places.docs, 'performance.md'), MADE, costsOf(results.figures))
  replaceMarked(join(places.docs, 'scaling.md'), SCALING, scalingOf(results.figures))
  writeFileSync(join(places.docs, 'performance.svg'), growth(results.figures))
}

/** The text outside the markers is written by hand and kept. */
function replaceMarked(file: string, [begin, end]: Markers, made: string): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : `${begin}${end}\n`
  if (!text.includes(begin) || !text.includes(end)) throw new Error(`${file} has no ${begin} … ${end}`)
  const [before = '', rest = ''] = text.split(begin)
  writeFileSync(file, `${before}${begin}\n\n${made}\n${end}${rest.split(end)[1] ?? ''}`)
}

function reportOf({ date, commit, machine, minutes, added = [], figures }: Results): string {
  const judged = bars.flatMap(bar => {
    const found = figures.find(one => one.figure === bar.figure)
    return found ? [rowOf(bar, found)] : []
  })
  const others = figures
    .filter(one => !bars.some(bar => bar.figure === one.figure))
    .map(one => `| ${one.figure} | ${shown(one.value, one.unit)} | ${shown(one.yardstick, one.unit)} | ${one.ratio} |`)
  const later = added.map(
    one =>
      `\n\`${one.bench}\` was run alone later: ${one.date}, commit ${one.commit}, on ${one.processor}, load before it ${one.load}.`,
  )
  return `The last whole run: ${date}, commit ${commit}, ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, load
before it ${machine.load}, Node ${machine.node}, embedded PostgreSQL ${machine.postgres} with its durable defaults; ${minutes} minutes.${later.join('')}

| figure | value | yardstick | ratio | must | goal | beside the peer |
|---|---|---|---|---|---|---|
${judged.join('\n')}

Without a bar:

| figure | value | yardstick | ratio |
|---|---|---|---|
${others.join('\n')}
`
}

function costsOf(figures: readonly Figure[]): string {
  const micros = (name: string) => figures.find(one => one.figure === name)?.value ?? Number.NaN
  const row = (what: string, kind: string) => {
    const [service, database] = [micros(`${kind}_cpu_service`), micros(`${kind}_cpu_database`)]
    return `| ${what} | ${service} µs | ${database} µs | ${shown(1e6 / service, '/s')} | ${shown(1e6 / (service + database), '/s')} |`
  }
  return `| | service | PostgreSQL | a core of the service alone | a core of both |
|---|---|---|---|---|
${row('accept an e-mail', 'accept')}
${row('accept an e-mail and deliver it', 'deliver')}
${row('an e-mail of a bulk, accepted and delivered', 'bulk')}
`
}

function rowOf(bar: Bar, { value, unit, yardstick, ratio }: Figure): string {
  const measured = bar.ratio ? ratio : value
  const reaches = (wanted: number) => (bar.better === 'more' ? measured >= wanted : measured <= wanted)
  const sign = bar.better === 'more' ? '≥' : '≤'
  const verdict = (wanted: number, missed: string) =>
    `${sign} ${shown(wanted, bar.ratio ? '×' : unit)} ${reaches(wanted) ? 'reached' : missed}`
  const beside = bar.peer && (bar.better === 'more' ? measured / bar.peer : bar.peer / measured)
  const cells = [
    bar.what,
    bar.ratio ? `**${ratio} ×**` : `**${shown(value, unit)}**`,
    shown(yardstick, unit),
    ratio,
    verdict(bar.must, '**missed**'),
    bar.goal === undefined ? '' : verdict(bar.goal, 'missed'),
    beside ? `${rounded(beside)} × better` : '',
  ]
  return `| ${cells.join(' | ')} |`
}

const shown = (value: number, unit: string) =>
  `${rounded(value).toLocaleString('en-GB')}${unit === '/s' || unit === '%' ? '' : ' '}${unit}`
