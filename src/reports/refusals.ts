import { refusals } from '../core/refusal.ts'

export const sentences = {
  badMoment: ['ValidationError', '<name> is not a date or a time in ISO 8601'],
  backwards: ['ValidationError', 'from must be before to'],
  tooLong: ['ValidationError', 'from and to must be at most <n> days apart'],
} as const

export const refuse = refusals(sentences)
