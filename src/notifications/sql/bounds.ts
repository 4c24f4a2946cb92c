// Conditions for tables that are partitioned by day.
import type { Id } from '../../core/id.ts'
import { type Part, part } from '../../db/connect.ts'

/** The highest possible id. */
export const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id

/** Ids contain their time, so the range of ids lets the planner skip (prune) the partitions of all other days. */
export function lowest(ids: readonly Id[]): Id {
  let low = LAST
  for (const id of ids) if (id < low) low = id
  return low
}
export function highest(ids: readonly Id[]): Id {
  let high = ''
  for (const id of ids) if (id > high) high = id
  return (high as Id) || LAST
}

/**
 * A join condition on `states` for statements that update rows which others may update concurrently. With a plain join PostgreSQL
 * 18 prunes partitions at run time; after it has had to re-check a changed row (EvalPlanQual) it prunes all of them, and the update
 * silently finds nothing (seen in 18.4: npm run faults, U2). So the rows are found by a list of ids, and the join is written in a
 * form that cannot be used for pruning.
 */
export const unpruned = (join: Part): Part => part`(${join}) is true`
