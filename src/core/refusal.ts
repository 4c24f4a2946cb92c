// A refusal is an expected error that is reported to the caller. Nouns use kinds; only http/errors.ts knows status codes.

export type Kind =
  | 'AuthError'
  | 'Unauthorized'
  | 'BadRequestError'
  | 'ChangedMeanwhile'
  | 'ForbiddenError'
  | 'IdempotencyConflictError'
  | 'IdempotencyKeyReusedError'
  | 'JobAlreadyCancelledError'
  | 'JobCancellationNotAllowedError'
  | 'JobNotFoundError'
  | 'MethodNotAllowed'
  | 'NoResultFound'
  | 'NotFound'
  | 'PreconditionRequired'
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
  /** The input that is refused, by its name in the API; null: not one alone. Forms show the sentence there. */
  field: string | null = null

  constructor(kind: Kind, messages: string | readonly string[], headers: Record<string, string> = {}) {
    const list = typeof messages === 'string' ? [messages] : messages
    super(list.join('; '))
    this.name = 'Refusal'
    this.kind = kind
    this.messages = list
    this.headers = headers
  }

  about(field: string): this {
    this.field = field
    return this
  }
}

/** One thing that a request would be refused for. */
export type Problem = { kind: Kind; message: string }

export const problemsOf = ({ kind, messages }: Refusal): Problem[] => messages.map(message => ({ kind, message }))

/** A noun's refusals as a table: name → kind and sentence, where each `<part>` takes the next argument. */
export type Sentences = Readonly<Record<string, readonly [Kind, string]>>

type Part = string | number
type Parts<S extends string> = S extends `${string}<${string}>${infer Rest}` ? [Part, ...Parts<Rest>] : []

type Refusals<S extends Sentences> = {
  [K in keyof S]: (...parts: Parts<S[K][1]>) => Refusal
}

/** Makes `refuse.name(parts…)` for every row. docs/errors.md is generated from the same table. */
export function refusals<const S extends Sentences>(sentences: S): Refusals<S> {
  const made: Record<string, (...parts: Part[]) => Refusal> = {}
  for (const [name, [kind, sentence]] of Object.entries(sentences)) {
    const pieces = sentence.split(/<[^>]*>/)
    made[name] = (...parts) =>
      new Refusal(kind, pieces.map((piece, at) => piece + (at < parts.length ? parts[at] : '')).join(''))
  }
  return made as Refusals<S>
}
