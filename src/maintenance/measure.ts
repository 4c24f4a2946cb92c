// Rows and duration of maintenance, as metrics.
import type { Metrics } from '../telemetry/metrics.ts'
import type { Task } from './run.ts'

/** Every task has its series from the start on: an alert on a series that does not exist yet would never fire. */
export function measureMaintenance(
  { maintenanceRows, maintenanceSeconds }: Pick<Metrics, 'maintenanceRows' | 'maintenanceSeconds'>,
  tasks: readonly Pick<Task, 'name'>[],
): (task: string, rows: number, seconds: number) => void {
  for (const { name: task } of tasks) {
    maintenanceRows.inc({ task }, 0)
    maintenanceSeconds.zero({ task })
  }
  return (task, rows, seconds) => {
    maintenanceRows.inc({ task }, rows)
    maintenanceSeconds.observe({ task }, seconds)
  }
}
