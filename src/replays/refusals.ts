import { refusals } from '../core/refusal.ts'

export const sentences = {
  notValid: ['ValidationError', 'Idempotency-Key is not valid'],
  inProgress: ['IdempotencyConflictError', 'A request with this Idempotency-Key is still being processed'],
  otherRequest: ['IdempotencyKeyReusedError', 'This Idempotency-Key was used with another request'],
} as const

export const refuse = refusals(sentences)
