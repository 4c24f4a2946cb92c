import { refusals } from '../core/refusal.ts'

export const sentences = {
  notPermitted: ['ForbiddenError', 'You do not have the permission for this: <permission>.'],
} as const

export const refuse = refusals(sentences)
