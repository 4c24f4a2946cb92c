import { refusals } from '../core/refusal.ts'

export const sentences = {
  noOpenRequest: ['BadRequestError', 'This service does not ask to go live, or somebody has decided meanwhile.'],
  notReady: [
    'BadRequestError',
    'Not everything that a live service needs is there yet. The list says what is missing.',
  ],
  notVolume: ['ValidationError', 'The number of <what> a day must be a whole number from 0 to 10000000.'],
} as const

export const refuse = refusals(sentences)
