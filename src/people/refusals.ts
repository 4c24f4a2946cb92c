import { refusals } from '../core/refusal.ts'

export const sentences = {
  tooManyTries: ['TooManyRequestsError', 'Too many tries. Try again in <minutes>.'],
  noAddress: [
    'BadRequestError',
    'Links in mails need the public address of this installation. Set HERALD_BASE_URL and start Herald again.',
  ],
  unknownPerson: ['NoResultFound', 'Nobody has the e-mail address "<address>".'],
  lastManager: [
    'BadRequestError',
    '"<name>" is the only manager of this service. Make somebody else a manager first, or ask an operator.',
  ],
  lastOperator: ['BadRequestError', '"<name>" is the only operator. Make somebody else an operator first.'],
  notOperator: ['BadRequestError', '"<address>" is not an operator.'],
  alreadyOperator: ['BadRequestError', '"<address>" is already an operator.'],
  alreadyMember: ['BadRequestError', '"<address>" is already in the team of this service.'],
  tooManyReplyTos: ['BadRequestError', 'A service has at most <most> reply-to addresses. Remove one first.'],
  signInFirst: ['BadRequestError', 'Sign in as "<address>" first, then accept the invitation.'],
  unknownInvitation: ['NoResultFound', 'This invitation was accepted, withdrawn or has ended.'],
} as const

export const refuse = refusals(sentences)
