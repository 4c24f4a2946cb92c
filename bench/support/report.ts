// What every bench prints: a table for people, and one JSON line per figure for programs.

export type Figure = { figure: string; value: number; unit: string; yardstick: number; ratio: number }

export const isFigure = (value: unknown): value is Figure =>
  typeof value === 'object' && value !== null && 'figure' in value && 'ratio' in value

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

export const rounded = (value: number) => {
  if (Math.abs(value) >= 100) return Math.round(value)
  return Math.round(value * 100) / 100
}

/** `ratio`: for figures that were compared with their yardstick round by round; the median counts. */
export function figure(
  name: string,
  value: number,
  unit: string,
  yardstick: number,
  ratio = value / yardstick,
): Figure {
  return {
    figure: name,
    value: rounded(value),
    unit,
    yardstick: rounded(yardstick),
    ratio: Math.round(ratio * 1000) / 1000,
  }
}

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const text = [head, ...rows].map(row => row.map(cell => (typeof cell === 'number' ? String(rounded(cell)) : cell)))
  const widths = head.map((_, at) => Math.max(...text.map(row => (row[at] ?? '').length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('   ')
      .trimEnd()
  console.log(`\n${text.map(line).join('\n')}\n`)
}

export function print(figures: readonly Figure[]): void {
  for (const one of figures) console.log(JSON.stringify(one))
}
