// The log has a partition for each day.
import { partitionsOf } from '../db/partitions.ts'

export const {
  make: makeEventPartitions,
  drop: dropEventPartitions,
  daysAhead: eventDaysAhead,
  about: aboutEventPartitions,
  buildIndexes: buildEventIndexes,
} = partitionsOf(['events'])
