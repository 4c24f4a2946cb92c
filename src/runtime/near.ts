// "Did you mean": the known word closest to what was typed.

/** Undefined: none is close enough. A prefix of three letters or more counts as a match. */
export function nearest(known: readonly string[], typed: string): string | undefined {
  return known
    .map(name => ({ name, steps: name.startsWith(typed) && typed.length > 2 ? 0 : distance(name, typed) }))
    .filter(({ name, steps }) => steps <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps)[0]?.name
}

/** Edit distance with transpositions (Damerau-Levenshtein). */
function distance(a: string, b: string): number {
  const rows = [...Array(a.length + 1)].map((_, i) => [i, ...Array<number>(b.length).fill(0)])
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let j = 1; j <= b.length; j++) rows[0]?.splice(j, 1, j)
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const steps = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, change, isSwap ? at(i - 2, j - 2) + 1 : change)
      rows[i]?.splice(j, 1, steps)
    }
  return at(a.length, b.length)
}
