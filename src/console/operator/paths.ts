import type { Channel } from '../../channels/plain.ts'

/** The page that sends a test by a provider. */
export const providerPath = (channel: Channel, name: string) =>
  `/operator/system/providers/${channel}/${encodeURIComponent(name)}/test`
