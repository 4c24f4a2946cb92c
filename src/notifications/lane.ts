// The lane of a message: its channel and the priority of its template's category; messages of test keys are only simulated.
import { type Channel, channelNames, PLAIN } from '../channels/plain.ts'
import type { KeyType } from '../keys/key.ts'
import type { Pace } from '../templates/categories.ts'

export type MessageLane = `${Channel}-${Pace}` | 'simulation'

export const laneOf = (channel: Channel, pace: Pace, keyType: KeyType): MessageLane =>
  keyType === 'test' ? 'simulation' : `${channel}-${pace}`

/** Lanes of messages that are sent. */
export const MESSAGE_LANES: readonly MessageLane[] = channelNames.flatMap(channel =>
  PLAIN[channel].lanes.map(({ pace }): MessageLane => `${channel}-${pace}`),
)

/** Messages whose files have no verdict yet; from here they go to their own lane. */
export const SCAN_LANE = 'scan'
