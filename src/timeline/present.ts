import { zulu } from '../core/clock.ts'
import type { Entry } from './entry.ts'
import type { Timeline } from './read.ts'

export const presentTimeline = ({ message, sentence, entries, omitted }: Timeline) => ({
  message: {
    id: message.id,
    type: message.channel,
    status: message.status,
    status_description: message.description,
    reference: message.reference,
    template: { id: message.template_id, version: message.template_version },
    job_id: message.job_id,
    created_at: zulu(message.created_at),
    scheduled_for: message.scheduled_for && zulu(message.scheduled_for),
    sent_at: message.sent_at && zulu(message.sent_at),
    completed_at: message.completed_at && zulu(message.completed_at),
    attempts: message.attempts,
  },
  sentence,
  entries: entries.map(presentEntry),
  omitted,
})

const presentEntry = (entry: Entry) => ({
  ...entry,
  at: zulu(entry.at),
  next_try_at: entry.next_try_at && zulu(entry.next_try_at),
  provider_time: entry.provider_time && zulu(entry.provider_time),
})
