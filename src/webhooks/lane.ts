// The lane of webhooks: one ticket for each endpoint that has something to send.
import { MOST_WEBHOOKS } from './webhook.ts'

export const WEBHOOK_LANE = 'webhooks'

/** An endpoint that is slow keeps its ticket for 15 seconds: all endpoints of one service, and those of many services, have a place. */
export const WEBHOOK_TICKETS = { all: 256, ofOne: MOST_WEBHOOKS }
