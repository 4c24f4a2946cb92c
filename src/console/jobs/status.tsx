// The status of a job as an icon, a word and a colour, and who made it.
import type { ShownStatus } from '../../bulk/sql/browse.ts'
import type { Maker } from '../../timeline/jobs.ts'
import type { IconName, Tone } from '../components/basics.tsx'
import { Badge } from '../components/status.tsx'
import { type Marked, mark, say, t } from '../words/index.ts'

const SIGNS: Readonly<Record<ShownStatus, readonly [tone: Tone, icon: IconName, words: Marked]>> = {
  scheduled: ['plan', 'clock', mark('Scheduled')],
  waiting: ['idle', 'dot', mark('Waiting')],
  sending: ['info', 'transit', mark('Sending')],
  finished: ['good', 'check', mark('Finished')],
  cancelled: ['idle', 'blocked', mark('Cancelled')],
  'over-limit': ['bad', 'alert', mark('Over the limit')],
  error: ['bad', 'cross', mark('Tech issue')],
}

export const statusWords = (status: ShownStatus): string => say(SIGNS[status][2])

/** For the script, which changes the badge of the page. */
export function badgeOf(status: ShownStatus): readonly [tone: string, icon: string, words: string] {
  const [tone, icon, words] = SIGNS[status]
  return [tone === 'idle' ? '' : tone, icon, say(words)]
}

export function Status({ status }: { status: ShownStatus }) {
  const [tone, icon, words] = SIGNS[status]
  return (
    <Badge tone={tone} icon={icon}>
      {say(words)}
    </Badge>
  )
}

export function makerWords({ kind, name }: Maker): string {
  if (kind === 'operator') return t`The operator`
  if (kind === 'key') return t`Key “${name ?? '–'}”`
  return name ?? t`Somebody who left`
}
