// Messages and their states are kept in a partition for each day of their ids.
import { partitionsOf } from '../db/partitions.ts'

export const {
  make: makePartitions,
  makeOf: makePartitionsOf,
  drop: dropPartitions,
  daysAhead,
} = partitionsOf(['notifications', 'states'])
