// A refusal is a polite no to the caller. Nouns know kinds, only http/errors.ts knows status codes.

export type Kind =
  | 'AuthError'
  | 'Unauthorized'
  | 'BadRequestError'
  | 'ForbiddenError'
  | 'IdempotencyConflictError'
  | 'IdempotencyKeyReusedError'
  | 'JobAlreadyCancelledError'
  | 'JobCancellationNotAllowedError'
  | 'JobNotFoundError'
  | 'MethodNotAllowed'
  | 'NoResultFound'
  | 'NotFound'
  | 'RateLimitError'
  | 'RequestEntityTooLarge'
  | 'Suspended'
  | 'TemplateCategoryNotFoundError'
  | 'TemplateCategoryValidationError'
  | 'TooManyRequestsError'
  | 'UnsupportedMediaType'
  | 'ValidationError'

export class Refusal extends Error {
  readonly kind: Kind
  readonly messages: readonly string[]
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: Kind, messages: string | readonly string[], headers: Record<string, string> = {}) {
    const list = typeof messages === 'string' ? [messages] : messages
    super(list.join('; '))
    this.name = 'Refusal'
    this.kind = kind
    this.messages = list
    this.headers = headers
  }
}
