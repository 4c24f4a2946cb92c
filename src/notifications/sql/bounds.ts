// Finding rows of the tables that are partitioned by day.
import type { Id } from '../../core/id.ts'
import { type Part, part } from '../../db/connect.ts'

/** The highest id there can be. */
export const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Id

/** Ids carry their time, and the day's partition follows from it: with both ends known, the planner passes by all other days. */
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
 * A join of `states` in a statement that locks or changes rows others may change at the same moment. By a plain join PostgreSQL
 * 18 leaves out partitions while it runs; once it has had to read a changed row again (EvalPlanQual), it leaves out all of them,
 * and the update silently finds nothing (seen in 18.4: npm run faults, U2). So the rows are found by a list of ids, and the
 * join is written such that it cannot be used to leave anything out.
 */
export const unpruned = (join: Part): Part => part`(${join}) is true`
