// The lane of webhooks: one ticket for each endpoint that has something to send.
export const WEBHOOK_LANE = 'webhooks'
