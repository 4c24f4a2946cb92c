// How many messages a service may still send today.
import type { Channel } from '../../channels/index.ts'
import { usedToday } from '../../limits/used.ts'
import { usePage } from '../components/context.ts'
import type { ServiceVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'

export type Room = { channel: Channel; used: number; limit: number; left: number }

export async function roomFor(visit: ServiceVisit, channel: Channel): Promise<Room> {
  const { parts, actor, service } = visit
  const all = await usedToday({ sql: parts.db.sql, clock: parts.clock }, actor, service)
  const { used = 0, limit = 0 } = all.find(one => one.channel === channel) ?? {}
  return { channel, used, limit, left: Math.max(0, limit - used) }
}

/** "3,816 e-mails left today." */
export function Left({ room: { channel, left } }: { room: Room }) {
  const { formats } = usePage()
  const many = formats.number(left)
  return (
    <p class={left === 0 ? 'bad strong' : 'hint'}>
      {channel === 'email'
        ? plural(left, t`${many} e-mail left today.`, t`${many} e-mails left today.`)
        : plural(left, t`${many} text message left today.`, t`${many} text messages left today.`)}
    </p>
  )
}
