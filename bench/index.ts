// npm run bench: every figure, one bench after the other, into bench/results.json, bench/results.md, docs/performance.svg and
// the tables of docs/performance.md and docs/scaling.md.
//   -- accept|bulk|…            one bench, with its own options, which only prints
//   -- --quick [--to FOLDER]    everything on a small scale, to see that it works; its figures mean nothing
//   -- add machines disk        runs these benches alone and replaces their figures in results.json
//   -- report                   writes these documents again from results.json
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from './support/environment.ts'
import { type Figure, isFigure } from './support/report.ts'
import { addFigures, HOME, machine, readResults, writeReport, writeResults } from './support/results.ts'

const WHOLE = [
  'accept',
  'deliver',
  'processes',
  'machines',
  'disk',
  'bulk',
  'scheduled',
  'latency',
  'list',
  'backlog',
  'receipts',
  'events',
  'files',
  'render',
]
/** An experiment that decided a design, not a figure of the service. */
const ALONE = ['check', 'console', 'reports', 'storage', 'smtp']
const ALL = [...WHOLE, ...ALONE]

const [wanted = '', ...options] = process.argv.slice(2)
if (wanted === 'report') writeReport(readResults(), HOME)
else if (wanted === 'add' && options.length > 0 && options.every(name => WHOLE.includes(name))) await add(options)
else if (ALL.includes(wanted)) await run(wanted, options)
else if (wanted === '' || wanted.startsWith('--')) await runAll()
else {
  console.error(`There is no bench "${wanted}". There are: ${ALL.join(', ')}.`)
  process.exitCode = 1
}

async function runAll() {
  const { values } = parseArgs({ options: { quick: { type: 'boolean' }, to: { type: 'string' } } })
  const folder = values.to ?? mkdtempSync(join(tmpdir(), 'herald-results-'))
  const [load = 0] = loadavg()
  if (load > 0.5)
    console.log(`The load of this machine is ${load.toFixed(1)}: what is measured now is the others, too.`)
  build()
  const began = performance.now()
  const figures: Figure[] = []
  for (const name of WHOLE) figures.push(...(await run(name, values.quick ? ['--quick'] : [])))
  const minutes = (performance.now() - began) / 60_000
  console.log(`\n${figures.length} figures in ${minutes.toFixed(1)} minutes`)
  if (process.exitCode) return console.error('A bench has failed: no results are written.')
  const places = values.quick || values.to ? { results: folder, docs: folder } : HOME
  writeResults({ ...machine(load, minutes), figures }, places)
  console.log(`The results are in ${places.results}.`)
}

async function add(benches: readonly string[]) {
  for (const name of benches) {
    const [load = 0] = loadavg()
    const figures = await run(name, [])
    if (process.exitCode) return console.error(`${name} has failed: no results are written.`)
    writeResults(addFigures(readResults(), name, figures, load), HOME)
  }
}

/** In a process of its own; its output is shown, and its figures are stored. */
async function run(name: string, options: string[]): Promise<Figure[]> {
  const began = performance.now()
  console.log(`\n# ${name}`)
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const figures: Figure[] = []
  for await (const line of createInterface(child.stdout)) {
    console.log(line)
    if (line.startsWith('{')) figures.push(...[JSON.parse(line) as unknown].filter(isFigure))
  }
  if (child.exitCode === null) await once(child, 'exit')
  console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  if (child.exitCode !== 0) process.exitCode = 1
  return figures
}
