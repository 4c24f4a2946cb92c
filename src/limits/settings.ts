import { whole } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'

export const settings = {
  readLimit: setting<number | null>(
    'HERALD_READ_LIMIT',
    whole(1, 2_147_483_647),
    null,
    'Reads (GET) that one service may make in 60 seconds; more are answered 429. Without it reads are never refused, only scheduled fairly between services.',
    { shown: 'none' },
  ),
} satisfies Settings
