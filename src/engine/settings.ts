import { whole } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'

export const settings = {
  leaseSeconds: setting(
    'HERALD_LEASE_SECONDS',
    whole(1, 3_600),
    30,
    'How long a process may go without a heartbeat before others take over its messages.',
  ),
} satisfies Settings
