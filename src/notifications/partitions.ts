// The tables of this room that have a partition for each day.
import { partitionsOf } from '../db/partitions.ts'

export const {
  make: makePartitions,
  makeOf: makePartitionsOf,
  drop: dropPartitions,
  daysAhead,
  about: aboutPartitions,
  buildIndexes,
} = partitionsOf(['notifications', 'states'])
