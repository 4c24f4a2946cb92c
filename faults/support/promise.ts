// A promise under test: its bound, what was measured, and whether it held. Where a machine cannot test it, `skipped` says why,
// and `holds` has no meaning.
export type Verdict = {
  id: string
  promise: string
  bound: string
  measured: string
  holds: boolean
  why: string[]
  skipped?: string
}

export type Block = { name: string; run(environment: import('./environment.ts').Environment): Promise<Verdict[]> }

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
  const why = [...broken, ...violations]
  const used = factor === undefined ? '' : `; bounds × ${factor.toFixed(2)}`
  return { id, promise, bound, measured: measured + used, holds: why.length === 0, why }
}

/** Time bounds are for a quiet machine with two cores; they scale with the slowness of this machine, but never further than this. */
const MOST_FACTOR = 3

/** The factor by which a time bound is extended, because this machine needs `own` without load. */
export const factorOf = (promised: number, own: number) => Math.min(MOST_FACTOR, Math.max(1, own / promised))

/** This machine cannot test it. */
export const skipped = (id: string, promise: string, bound: string, reason: string): Verdict => ({
  ...verdict(id, promise, bound, '', {}),
  skipped: reason,
})

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
