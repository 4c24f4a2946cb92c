import { refusals } from '../core/refusal.ts'

export const sentences = {
  tooManyTries: ['TooManyRequestsError', 'Too many tries. Try again in <minutes>.'],
  noAddress: [
    'BadRequestError',
    'Links in mails need the public address of this installation. Set HERALD_BASE_URL and start Herald again.',
  ],
  unknownPerson: ['NoResultFound', 'Nobody has the e-mail address "<address>".'],
  notInService: [
    'BadRequestError',
    '"<address>" belongs to no service and is not an operator. Add them to a service first.',
  ],
} as const

export const refuse = refusals(sentences)
