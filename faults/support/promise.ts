// A promise under test: its bound, what was measured, and whether it held. Where a machine cannot try it, `skipped` says why,
// and `holds` means nothing.
export type Verdict = {
  id: string
  promise: string
  bound: string
  measured: string
  holds: boolean
  why: string[]
  skipped?: string
}

export type Block = { name: string; run(house: import('./house.ts').House): Promise<Verdict[]> }

export function verdict(
  id: string,
  promise: string,
  bound: string,
  measured: string,
  conditions: Readonly<Record<string, boolean>>,
  violations: readonly string[] = [],
  factor?: number,
): Verdict {
  const broken = Object.entries(conditions).flatMap(([name, holds]) => (holds ? [] : [`not: ${name}`]))
  const tooSlow =
    factor !== undefined && !(factor <= MOST_FACTOR) ? [`not: bounds scaled by ${MOST_FACTOR} at most`] : []
  const why = [...broken, ...violations, ...tooSlow]
  const used = factor === undefined ? '' : `; bounds × ${factor.toFixed(2)}`
  return { id, promise, bound, measured: measured + used, holds: why.length === 0, why }
}

/** A bound of time is that of a quiet machine with two cores and scales with this machine's slowness; above this it proves nothing. */
export const MOST_FACTOR = 3

/** How much longer than promised is allowed, because this machine needs `own` by itself. */
export const factorOf = (promised: number, own: number) => Math.max(1, own / promised)

/** This machine cannot try it. */
export const skipped = (id: string, promise: string, bound: string, reason: string): Verdict => ({
  ...verdict(id, promise, bound, '', {}),
  skipped: reason,
})

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
