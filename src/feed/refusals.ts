import { refusals } from '../core/refusal.ts'

export const sentences = {
  badCursor: [
    'ValidationError',
    'after <value> is not a cursor of this feed, a time such as 2026-01-31T12:00:00Z, or the word now',
  ],
  aheadOfLog: [
    'ValidationError',
    'after <value> is ahead of the log, as when a backup was restored: begin with a time, or without after',
  ],
  badLimit: ['ValidationError', 'limit <value> is not a whole number from 1 to 1000'],
  badWait: ['ValidationError', 'wait <value> is not a whole number from 0 to 25'],
  tooManyWaiting: ['RateLimitError', 'Exceeded <limit> requests that wait for events at the same time'],
} as const

export const refuse = refusals(sentences)
