// What the last runs measured, kept in faults/results, and the page made from it. Run alone it only makes the page again:
// npx tsx faults/support/report.ts
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Verdict } from './promise.ts'
import { CHAPTERS, type Promised } from './promises.ts'

const FOLDER = 'faults/results'
const PAGE = 'docs/reliability.md'
const LENGTHS = ['short', 'long'] as const

type Length = (typeof LENGTHS)[number]
type State = 'holds' | 'broken' | 'skipped'
type Origin = { seed: number; date: string; commit: string }
type Figure = Verdict & Origin
type Kept = { whole: (Origin & { seconds: number; totals: Record<string, number> }) | null; figures: Figure[] }
type Run = { seed: number; isLong: boolean; seconds: number; isWhole: boolean; totals: Record<string, number> }

export function stateOf({ holds, skipped }: Pick<Verdict, 'holds' | 'skipped'>): State {
  if (skipped !== undefined) return 'skipped'
  return holds ? 'holds' : 'broken'
}

/** A part of a run (--only) replaces its own figures: each has its seed, date and commit beside it. */
export function keepRun(run: Run, verdicts: readonly Verdict[]): void {
  const { seed, seconds, totals } = run
  const origin = { seed, date: new Date().toISOString().slice(0, 10), commit: commit() }
  const length = run.isLong ? 'long' : 'short'
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
  writeFileSync(PAGE, page(kept('short'), kept('long')))
  console.log(`written: ${PAGE}`)
}

function page(short: Kept, long: Kept): string {
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
    ...(more.length > 0
      ? [`## Also tried\n\n| | promise | bound | measured |\n|---|---|---|---|\n${more.join('\n')}`]
      : []),
    `## Not kept, or not tried\n\n${open(runs)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

const belongs = (verdict: string, promise: string) => verdict.split(/[/ ]/).includes(promise)

/** Where it comes from is said only of a figure that is not of the whole run in the table above. */
function shown(figure: Figure, whole: Kept['whole']): string {
  const said = cell(figure.skipped === undefined ? figure.measured : `skipped: ${figure.skipped}`)
  const mark = stateOf(figure) === 'broken' ? '**BROKEN** ' : ''
  const isOfWhole = whole?.seed === figure.seed && whole.commit === figure.commit
  return `${mark}${said}${isOfWhole ? '' : ` (${figure.date}, ${figure.commit}, seed ${figure.seed})`}`
}

function elsewhere({ test, untested }: Promised): string {
  if (test) return `by test: \`${test[0]}\`, “${cell(test[1])}”`
  return untested ? 'not tried' : 'no run kept'
}

function intro(runs: Record<Length, Kept>): string {
  const lines = LENGTHS.flatMap(length => {
    const { whole, figures } = runs[length]
    if (!whole) return [`| ${length} | no whole run kept | | | | | |`]
    const count = (state: State) => figures.filter(figure => stateOf(figure) === state).length
    const totals = Object.entries(whole.totals).map(([name, sum]) => `${sum.toLocaleString('en')} ${name}`)
    return [
      `| ${length} | ${whole.date} | ${whole.commit} | ${whole.seed} | ${whole.seconds} s | ${count('holds')} held, ${count('broken')} broken, ${count('skipped')} skipped | ${totals.join(', ')} |`,
    ]
  })
  return `# Reliability

What Herald promises when things break, and what the last runs measured. Made by \`npm run faults -- --report\` from the
figures kept in \`faults/results\`; do not edit. Times are of a machine with two cores that does other work beside; counts
of what was lost or sent twice are absolute on any machine. Where a bound of time scales with the slowness of the machine, the
factor is printed (“bounds × 1.40”), and above 3 the promise counts as broken. A figure that was measured later than its run says when. \`npm run faults -- --seed N\` repeats a run.

| run | date | commit | seed | took | promises | totals |
|---|---|---|---|---|---|---|
${lines.join('\n')}`
}

/** Named with the reason: what broke, what this machine could not try, and what nobody tries. */
function open(runs: Record<Length, Kept>): string {
  const tried = LENGTHS.flatMap(length => runs[length].figures.map(figure => ({ ...figure, length })))
  const bad = tried.flatMap(figure => {
    const state = stateOf(figure)
    if (state === 'holds') return []
    const why = state === 'skipped' ? figure.skipped : figure.why.map(one => one.slice(0, 200)).join('; ')
    return [`- ${figure.id}, ${figure.length} run: ${state}. ${cell(why ?? '')}`]
  })
  const never = CHAPTERS.flatMap(({ promises }) =>
    promises.flatMap(({ id, test, untested }) =>
      test || tried.some(figure => belongs(figure.id, id)) ? [] : [`- ${id}: ${untested ?? 'no run of it was kept.'}`],
    ),
  )
  return [...bad, ...never].join('\n') || 'None.'
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')

function kept(length: Length): Kept {
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
