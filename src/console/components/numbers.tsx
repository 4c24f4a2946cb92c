// Numbers: a strip of counts, bars, meters and the chart of seven days. Geometry is in attributes, because the policy of the page
// allows no styles.
import type { ComponentChildren } from 'preact'
import { rich, t } from '../words/index.ts'
import type { Tone } from './basics.tsx'
import { usePage } from './context.ts'

export type Stat = {
  label: string
  tone?: Tone
  /** Null: not known. */
  value: number | string | null
  note?: ComponentChildren
  /** The list behind the number. */
  href: string
}

/** Up to five numbers, each a link to its list. */
export const Stats = ({ stats, id }: { stats: readonly Stat[]; id?: string }) => {
  const { formats } = usePage()
  return (
    <div class="stats" {...(id && { id })}>
      {stats.map(({ label, tone, value, note, href }) => (
        <a key={label} class="stat" href={href}>
          <span class="stat-label">
            {tone && <span class={`dot ${tone}`} />}
            {label}
          </span>
          <span class="stat-value">
            {value === null ? '–' : typeof value === 'number' ? formats.number(value) : value}
          </span>
          {note && <span class="stat-note">{note}</span>}
        </a>
      ))}
    </div>
  )
}

const percent = (part: number) => `${Math.round(part * 10) / 10}%`

/** Shares of a whole from left to right; each at least a hair wide unless it is 0. */
export function Bar(props: { label: string; whole: number; parts: readonly { tone: Tone; value: number }[] }) {
  let at = 0
  return (
    <svg class="bar" role="img" aria-label={props.label}>
      {props.parts.map(({ tone, value }) => {
        if (value <= 0 || props.whole <= 0) return null
        const width = Math.min(100 - at, Math.max(0.5, (value / props.whole) * 100))
        const x = at
        at += width
        return <rect key={tone} class={`fill ${tone}`} x={percent(x)} width={percent(width)} height="100%" />
      })}
    </svg>
  )
}

/** How much of a limit is used: amber from nine tenths on, red when nothing is left. */
export function Meter(props: {
  label: string
  what: string
  used: number
  limit: number
  children?: ComponentChildren
}) {
  const { formats } = usePage()
  const { used, limit } = props
  const tone: Tone = used >= limit ? 'bad' : used >= limit * 0.9 ? 'warn' : 'info'
  return (
    <div class="meter">
      <p class="meter-head">
        <span>{props.label}</span>
        <span>{rich`${<b>{formats.number(used)}</b>} of ${formats.number(limit)}`}</span>
      </p>
      <Bar
        label={t`${formats.number(used)} of ${formats.number(limit)} ${props.what} used`}
        whole={Math.max(1, limit)}
        parts={[{ tone, value: Math.min(used, Math.max(1, limit)) }]}
      />
      {props.children && <p class="hint">{props.children}</p>}
    </div>
  )
}

export const Legend = ({ items }: { items: readonly (readonly [tone: Tone, words: string])[] }) => (
  <ul class="legend">
    {items.map(([tone, words]) => (
      <li key={words}>
        <span class={`dot ${tone}`} />
        {words}
      </li>
    ))}
  </ul>
)

export type ChartDay = {
  /** "Fri" and " 6"; the second is left out on phones. */
  words: readonly [short: string, rest: string]
  values: readonly { tone: Tone; value: number }[]
}

const HEIGHT = 200
const STEP = 100
const WIDTH = 52
const GAP = 1.5

/** Stacked bars, a day each; its numbers must follow as a table. */
export function Chart({ label, days }: { label: string; days: readonly ChartDay[] }) {
  const { formats } = usePage()
  const most = Math.max(0, ...days.map(({ values }) => values.reduce((sum, { value }) => sum + value, 0)))
  const top = roundUp(most)
  const width = days.length * STEP
  const round = (value: number) => Math.round(value * 10) / 10
  return (
    <div class="chart">
      <div class="chart-y" aria-hidden="true">
        <span>{formats.axis(top)}</span>
        <span>{formats.axis(top / 2)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {[0, HEIGHT / 2, HEIGHT].map(y => (
          <line key={y} x1="0" x2={width} y1={y} y2={y} />
        ))}
        {days.map(({ values }, at) => {
          let y = HEIGHT
          return values.map(({ tone, value }) => {
            if (value <= 0) return null
            const height = Math.max(1, (value / top) * HEIGHT - GAP)
            y = Math.max(0, y - height - GAP)
            return (
              <rect
                key={tone}
                class={`fill ${tone}`}
                x={at * STEP + (STEP - WIDTH) / 2}
                y={round(y)}
                width={WIDTH}
                height={round(height)}
              />
            )
          })
        })}
      </svg>
      <div class="chart-x" aria-hidden="true">
        {days.map(({ words: [short, rest] }, at) => (
          <span key={at}>
            {short}
            {rest && <span class="hide-phone">{rest}</span>}
          </span>
        ))}
      </div>
    </div>
  )
}

/** The smallest of 10, 20, 50, 100, 200 … that is not less. */
export function roundUp(value: number): number {
  for (let step = 10; ; step *= 10) for (const factor of [1, 2, 5]) if (step * factor >= value) return step * factor
}
