import { label, oneOf, reader } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'
import { CRASH_POINTS, type CrashPoint, readCrashPoints } from './crash.ts'

const crashPoints = reader(
  given =>
    readCrashPoints(given) ?? {
      problem: `is "${given}"; it must be like before-record=kill:0.01, with one of ${CRASH_POINTS.join(', ')}`,
    },
)

export const settings = {
  processName: setting<string | null>(
    'HERALD_PROCESS_NAME',
    label,
    null,
    'Name of this process in its log, its metrics and, with its process id, on the system page.',
    { shown: 'the name of the machine' },
  ),
  crashPoints: setting(
    'HERALD_CRASH_POINTS',
    crashPoints,
    [] as CrashPoint[],
    'Places at which the process ends itself or throws, for fault tests only: `after-provider-ok=kill:0.01`.',
    { shown: 'none' },
  ),
  logLevel: setting(
    'HERALD_LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'The lowest level that is logged.',
  ),
} satisfies Settings
