// One picture of how cost grows with load, backlog and stored messages, drawn from the figures of a run. Plain SVG; its colours
// follow the reader's light or dark theme.
import { type Figure, rounded } from './report.ts'

type Series = { name: string; points: { label: string; value: number }[] }
type Panel = { title: string; below: string; unit: string; series: Series[] }

const WIDTH = 300
const HEIGHT = 190
const LEFT = 46
const TOP = 58
const COLOURS = ['first', 'second']

export function growth(figures: readonly Figure[]): string {
  const panels = panelsOf(figures)
  const width = panels.length * (WIDTH + LEFT) + 20
  const height = TOP + HEIGHT + 52
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"
  aria-label="How cost grows with load, backlog and stored messages">
<style>
  text { font: 12px system-ui, sans-serif; fill: #424a53 }
  .title { font-size: 14px; font-weight: 600 }
  .grid { stroke: #d0d7de }
  .first { stroke: #0969da; fill: #0969da }
  .second { stroke: #bc4c00; fill: #bc4c00 }
  polyline.first, polyline.second { fill: none; stroke-width: 2 }
  text.first, text.second { stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #c9d1d9 }
    .grid { stroke: #3d444d }
    .first { stroke: #58a6ff; fill: #58a6ff }
    .second { stroke: #f0883e; fill: #f0883e }
  }
</style>
${panels.map(drawPanel).join('\n')}
</svg>
`
}

function panelsOf(figures: readonly Figure[]): Panel[] {
  /** Every figure whose name matches the pattern, by the number in it. */
  const series = (name: string, shape: RegExp, label: (n: number) => string): Series => ({
    name,
    points: figures
      .flatMap(({ figure, value }) => {
        const n = shape.exec(figure)?.[1]
        return n === undefined ? [] : [{ n: Number(n), value }]
      })
      .sort((a, b) => a.n - b.n)
      .map(({ n, value }) => ({ label: label(n), value })),
  })
  const percent = (n: number) => `${n} %`
  return [
    {
      title: 'Load: time of an accept',
      below: 'of the load at which it saturates',
      unit: 'ms',
      series: [series('p50', /^accept_load_(\d+)_p50$/, percent), series('p99', /^accept_load_(\d+)_p99$/, percent)],
    },
    {
      title: 'Backlog: accepted per second',
      below: 'messages waiting to be delivered',
      unit: '/s',
      series: [series('accepted', /^accept_queued_(\d+)$/, short)],
    },
    {
      title: 'Stored: time of a read, p95',
      below: 'messages stored',
      unit: 'ms',
      series: [
        series('GET one', /^one_stored_(\d+)_p95$/, short),
        series('page of 250', /^page_stored_(\d+)_p95$/, short),
      ],
    },
  ]
}

function short(n: number): string {
  if (n >= 1e6) return `${n / 1e6} M`
  return n >= 1e3 ? `${n / 1e3} k` : String(n)
}

function drawPanel({ title, below, unit, series }: Panel, at: number): string {
  const left = at * (WIDTH + LEFT) + LEFT
  const most = ceiling(Math.max(...series.flatMap(one => one.points.map(point => point.value)), 0))
  const count = Math.max(...series.map(one => one.points.length))
  const x = (n: number) => Math.round(left + ((n + 0.5) / count) * (WIDTH - 30))
  const y = (value: number) => Math.round(TOP + HEIGHT - (value / most) * HEIGHT)
  const text = (x: number, y: number, words: string, more = '') => `<text x="${x}" y="${y}" ${more}>${words}</text>`
  const grid = [0, 0.25, 0.5, 0.75, 1].map(share => {
    const line = `<line class="grid" x1="${left}" x2="${left + WIDTH - 30}" y1="${y(share * most)}" y2="${y(share * most)}"/>`
    return line + text(left - 6, y(share * most) + 4, number(share * most), 'text-anchor="end"')
  })
  const labels = (series[0]?.points ?? []).map((point, n) =>
    text(x(n), TOP + HEIGHT + 18, point.label, 'text-anchor="middle"'),
  )
  const lines = series.map(({ name, points }, which) => {
    const colour = COLOURS[which] ?? ''
    const dots = points.map((point, n) => {
      const words = text(x(n), y(point.value) - 8, number(point.value), `class="${colour}" text-anchor="middle"`)
      return `<circle class="${colour}" cx="${x(n)}" cy="${y(point.value)}" r="3.5"/>${words}`
    })
    const path = points.map((point, n) => `${x(n)},${y(point.value)}`).join(' ')
    const legend = text(left + which * 90, TOP - 18, `● ${name}`, `class="${colour}"`)
    return `<polyline class="${colour}" points="${path}"/>\n${dots.join('\n')}\n${legend}`
  })
  return [
    text(left, 20, `${title} (${unit})`, 'class="title"'),
    ...grid,
    ...labels,
    text(left + (WIDTH - 30) / 2, TOP + HEIGHT + 38, below, 'text-anchor="middle"'),
    ...lines,
  ].join('\n')
}

/** The next round number above, with room for a label. */
function ceiling(value: number): number {
  const wanted = value * 1.15 || 1
  const unit = 10 ** Math.floor(Math.log10(wanted))
  return ([1, 2, 4, 6, 8, 10].find(step => step * unit >= wanted) ?? 10) * unit
}

const number = (value: number) => (value >= 100 ? rounded(value) : Math.round(value * 10) / 10).toLocaleString('en-GB')
