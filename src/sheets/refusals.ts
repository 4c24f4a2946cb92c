import { refusals } from '../core/refusal.ts'

export const sentences = {
  notFound: ['NotFound', 'There is no such file. Files are deleted after 7 days, and when they have been sent.'],
  empty: ['BadRequestError', 'The file is empty.'],
  tooLarge: ['RequestEntityTooLarge', 'The file is too large. The most is <n> MB.'],
  notReady: ['BadRequestError', 'The file has not been read yet.'],
  unknownColumn: ['BadRequestError', 'There is no such column: <number>.'],
  unknownTarget: ['BadRequestError', 'The template has no such placeholder: <name>.'],
  twice: ['BadRequestError', 'Two columns are matched to the same: <name>.'],
  alreadySent: ['BadRequestError', 'The file has already been sent.'],
} as const

export const refuse = refusals(sentences)
