import { refusals } from '../core/refusal.ts'

export const sentences = {
  linkNeeded: ['AuthError', 'The inbox opens by its link. On this machine, `herald inbox --link` prints it.'],
  notFound: ['NoResultFound', 'No result found'],
  badRecipient: ['ValidationError', 'to is not an e-mail address or a phone number'],
  badBound: ['ValidationError', '<name> <value> is not the id of a message or a time such as 2026-01-31T12:00:00Z'],
  badLimit: ['ValidationError', 'limit <value> is not a whole number from 1 to 100'],
  badWait: ['ValidationError', 'wait <value> is not a whole number from 0 to 25'],
  tooManyWaiting: ['RateLimitError', 'Exceeded <limit> requests that wait for messages at the same time'],
} as const

export const refuse = refusals(sentences)
