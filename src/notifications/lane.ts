// Which lane a message rides: its channel and the pace of its template's category; test keys go where nothing is sent.
import type { KeyType } from '../keys/key.ts'
import type { Channel } from '../services/service.ts'
import type { Pace } from '../templates/categories.ts'

export type Lane = `${Channel}-${Pace}` | 'simulation'

export const laneOf = (channel: Channel, pace: Pace, keyType: KeyType): Lane =>
  keyType === 'test' ? 'simulation' : `${channel}-${pace}`

const PACES = ['high', 'medium', 'low'] as const satisfies readonly Pace[]

/** Lanes of messages that are sent. */
export const MESSAGE_LANES: readonly Lane[] = (['email', 'sms'] as const).flatMap(channel =>
  PACES.map((pace): Lane => `${channel}-${pace}`),
)

/** Messages whose files have no verdict yet; from here they go to their own lane. */
export const SCAN_LANE = 'scan'
