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
): Verdict {
  const broken = Object.entries(conditions).flatMap(([name, holds]) => (holds ? [] : [`not: ${name}`]))
  const why = [...broken, ...violations]
  return { id, promise, bound, measured, holds: why.length === 0, why }
}

/** This machine cannot try it. */
export const skipped = (id: string, promise: string, bound: string, reason: string): Verdict => ({
  ...verdict(id, promise, bound, '', {}),
  skipped: reason,
})

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
