import { refusals } from '../core/refusal.ts'

export const sentences = {
  tooFast: ['RateLimitError', 'Exceeded rate limit for key type <TEAM/TEST/LIVE> of <limit> requests per 60 seconds'],
  tooManyReads: ['RateLimitError', 'Exceeded rate limit for reading of <limit> requests per 60 seconds'],
  tooMany: ['TooManyRequestsError', 'Exceeded send limits (<limit>) for today'],
} as const

export const refuse = refusals(sentences)
