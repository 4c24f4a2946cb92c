import { reader, whole } from '../core/readers.ts'
import { isProblem, type Settings, setting } from '../core/setting.ts'
import { MOST_PROCESSES } from './count.ts'

const number = whole(1, MOST_PROCESSES)

const autoOrNumber = reader<number | 'auto'>(given => {
  if (given === 'auto') return given
  const read = number.read(given)
  return isProblem(read) ? { problem: `${read.problem}, or auto` } : read
})

export const settings = {
  processes: setting<number | 'auto'>(
    'HERALD_PROCESSES',
    autoOrNumber,
    'auto',
    'Processes of one `herald start`, which share its port and its limits. `auto`: 1 on up to 2 cores, else 7 for every 10 cores; fewer with less than 512 MiB of memory for each, or when they would need more than half of the connections of the database.',
  ),
} satisfies Settings
