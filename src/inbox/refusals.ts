import { refusals } from '../core/refusal.ts'

export const sentences = {
  linkNeeded: ['AuthError', 'The inbox opens by its link. On this machine, `herald inbox --link` prints it.'],
} as const

export const refuse = refusals(sentences)
