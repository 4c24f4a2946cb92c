// The figures of the last runs, stored in faults/results, and the page made from them. `npx tsx faults/support/report.ts` only
// writes the page.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Verdict } from './promise.ts'
import { CHAPTERS, CLUSTER, type Promised } from './promises.ts'

const FOLDER = 'faults/results'
const PAGE = 'docs/reliability.md'
const LENGTHS = ['short', 'long'] as const

type Length = (typeof LENGTHS)[number]
/** The runs with a cluster have a file of their own, whatever their length. */
type Stored = Length | 'cluster'
type State = 'holds' | 'broken' | 'skipped'
type Origin = { seed: number; date: string; commit: string }
type Figure = Verdict & Origin
type Kept = { whole: (Origin & { seconds: number; totals: Record<string, number> }) | null; figures: Figure[] }
type Run = {
  seed: number
  isLong: boolean
  isCluster: boolean
  seconds: number
  isWhole: boolean
  totals: Record<string, number>
}

export function stateOf({ holds, skipped }: Pick<Verdict, 'holds' | 'skipped'>): State {
  if (skipped !== undefined) return 'skipped'
  return holds ? 'holds' : 'broken'
}

/** A partial run (--only) replaces its own figures: each figure has its seed, date and commit. */
export function keepRun(run: Run, verdicts: readonly Verdict[]): void {
  const { seed, seconds, totals } = run
  const origin = { seed, date: new Date().toISOString().slice(0, 10), commit: commit() }
  const length = run.isCluster ? 'cluster' : run.isLong ? 'long' : 'short'
  const before = kept(length)
  const ids = new Set(verdicts.map(({ id }) => id))
  const figures = verdicts.map(verdict => ({ ...verdict, ...origin }))
  const now: Kept = run.isWhole
    ? { whole: { ...origin, seconds, totals }, figures }
    : { whole: before.whole, figures: [...before.figures.filter(({ id }) => !ids.has(id)), ...figures] }
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}/${length}.json`, `${JSON.stringify(now, null, 2)}\n`)
}

export function writeReport(): void {
  writeFileSync(PAGE, page(kept('short'), kept('long'), kept('cluster')))
  console.log(`written: ${PAGE}`)
}

function page(short: Kept, long: Kept, cluster: Kept): string {
  const runs = { short, long }
  const found = new Set<Figure>()
  const rows = CHAPTERS.map(({ title, promises }) => {
    const lines = promises.map(promised => {
      const cells = LENGTHS.map(length => {
        const figures = runs[length].figures.filter(({ id }) => belongs(id, promised.id))
        for (const figure of figures) found.add(figure)
        return figures.map(figure => shown(figure, runs[length].whole)).join('<br>')
      })
      return `| ${promised.id} | ${promised.sentence} | ${promised.bound} | ${cells[0] || elsewhere(promised)} | ${cells[1]} |`
    })
    return `## ${title}\n\n| | promise | bound | short run | long run |\n|---|---|---|---|---|\n${lines.join('\n')}`
  })
  const others = LENGTHS.flatMap(length =>
    runs[length].figures
      .filter(figure => !found.has(figure))
      .map(figure => ({ ...figure, cell: shown(figure, runs[length].whole) })),
  )
  const more = others.map(figure => `| ${figure.id} | ${figure.promise} | ${figure.bound} | ${figure.cell} |`)
  const parts = [
    intro(runs),
    ...rows,
    clusterChapter(cluster),
    ...(more.length > 0
      ? [`## Also tested\n\n| | promise | bound | measured |\n|---|---|---|---|\n${more.join('\n')}`]
      : []),
    `## Not kept, or not tried\n\n${open(runs, cluster)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** A table of its own: other machines, another database, and one run. */
function clusterChapter({ whole, figures }: Kept): string {
  const run = whole
    ? `Run of ${whole.date}, commit ${whole.commit}, seed ${whole.seed}, ${whole.seconds} s: ${totalsOf(whole)}.`
    : 'No complete run is stored.'
  const lines = CLUSTER.map(promised => {
    const cells = figures.filter(({ id }) => belongs(id, promised.id)).map(figure => shown(figure, whole))
    return `| ${promised.id} | ${promised.sentence} | ${promised.bound} | ${cells.join('<br>') || 'no run stored'} |`
  })
  return `## Cluster

Three database nodes (PostgreSQL 15 under Patroni, with etcd) and three Herald machines, each in a network namespace of its own:
\`npm run faults -- --cluster\`. ${run}

| | promise | bound | measured |
|---|---|---|---|
${lines.join('\n')}`
}

const totalsOf = ({ totals }: NonNullable<Kept['whole']>) =>
  Object.entries(totals)
    .map(([name, sum]) => `${sum.toLocaleString('en')} ${name}`)
    .join(', ')

const belongs = (verdict: string, promise: string) => verdict.split(/[/ ]/).includes(promise)

/** The origin is printed only for figures that are not from the complete run in the table above. */
function shown(figure: Figure, whole: Kept['whole']): string {
  const said = cell(figure.skipped === undefined ? figure.measured : `skipped: ${figure.skipped}`)
  const mark = stateOf(figure) === 'broken' ? '**BROKEN** ' : ''
  const isOfWhole = whole?.seed === figure.seed && whole.commit === figure.commit
  return `${mark}${said}${isOfWhole ? '' : ` (${figure.date}, ${figure.commit}, seed ${figure.seed})`}`
}

function elsewhere({ test, untested }: Promised): string {
  if (test) return `by test: \`${test[0]}\`, “${cell(test[1])}”`
  return untested ? 'not tested' : 'no run stored'
}

function intro(runs: Record<Length, Kept>): string {
  const lines = LENGTHS.flatMap(length => {
    const { whole, figures } = runs[length]
    if (!whole) return [`| ${length} | no complete run stored | | | | | |`]
    const count = (state: State) => figures.filter(figure => stateOf(figure) === state).length
    return [
      `| ${length} | ${whole.date} | ${whole.commit} | ${whole.seed} | ${whole.seconds} s | ${count('holds')} held, ${count('broken')} broken, ${count('skipped')} skipped | ${totalsOf(whole)} |`,
    ]
  })
  return `# Reliability

This page says what Herald promises when something fails, and what the last runs measured. Generated by \`npm run faults -- --report\` from the
figures in \`faults/results\`; do not edit. Times are from a machine with two cores that also runs other work; counts of lost and
duplicate messages hold on any machine. Where a time bound is scaled by the slowness of the machine, the factor is printed
(“bounds × 1.40”); it is never above 3. A figure that was measured after its run has its own date.
\`npm run faults -- --seed N\` repeats a run.

| run | date | commit | seed | took | promises | totals |
|---|---|---|---|---|---|---|
${lines.join('\n')}`
}

/** Listed with the reason: broken promises, promises that this machine could not test, and promises without a test. */
function open(runs: Record<Length, Kept>, cluster: Kept): string {
  const all = { ...runs, cluster }
  const tried = ([...LENGTHS, 'cluster'] as const).flatMap(length =>
    all[length].figures.map(figure => ({ ...figure, length })),
  )
  const bad = tried.flatMap(figure => {
    const state = stateOf(figure)
    if (state === 'holds') return []
    const why = state === 'skipped' ? figure.skipped : figure.why.map(one => one.slice(0, 200)).join('; ')
    return [`- ${figure.id}, ${figure.length} run: ${state}. ${cell(why ?? '')}`]
  })
  const never = [...CHAPTERS, { promises: CLUSTER }].flatMap(({ promises }) =>
    promises.flatMap(({ id, test, untested }) =>
      test || tried.some(figure => belongs(figure.id, id)) ? [] : [`- ${id}: ${untested ?? 'no run of it is stored.'}`],
    ),
  )
  return [...bad, ...never].join('\n') || 'None.'
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')

function kept(length: Stored): Kept {
  const file = `${FOLDER}/${length}.json`
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : { whole: null, figures: [] }
}

function commit(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'src', 'faults') === '' ? '' : ' and changes'}`
  } catch {
    return 'unknown' // not a checkout
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeReport()
