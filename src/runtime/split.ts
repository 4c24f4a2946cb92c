// A batch write that fails because of one item's data must not fail for the others, nor be retried for ever: the batch is split
// by halves until the refused item is alone.

/**
 * Runs `run` on all items. When it fails and `isRefused` says that the data is the reason, each half is run by itself, in order,
 * down to single items: one refused item among n costs about 2 log2 n further runs. Any other failure (an outage) is the result
 * of every item of that run, and nothing is split. One result for each item comes back, in order; this never rejects.
 */
export async function runSplitting<Item, Result>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  isRefused: (error: unknown) => boolean,
): Promise<PromiseSettledResult<Result>[]> {
  if (items.length === 0) return []
  try {
    const results = await run(items)
    return items.map((_item, at) => ({ status: 'fulfilled', value: results[at] as Result }))
  } catch (reason) {
    if (items.length === 1 || !isRefused(reason)) return items.map(() => ({ status: 'rejected', reason }))
  }
  const middle = Math.ceil(items.length / 2)
  const first = await runSplitting(items.slice(0, middle), run, isRefused)
  const second = await runSplitting(items.slice(middle), run, isRefused)
  return [...first, ...second]
}
