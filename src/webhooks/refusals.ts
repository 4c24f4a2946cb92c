import { refusals } from '../core/refusal.ts'

export const sentences = {
  notFound: ['NoResultFound', 'No result found'],
  tooManyWebhooks: ['BadRequestError', 'A service can have at most <limit> webhooks. Remove one first.'],
  url: ['ValidationError', 'url <problem>'],
  batchRange: ['ValidationError', 'batch must be a number from 1 to <most>'],
  batchOfCallback: ['ValidationError', 'batch must be 1 for the format callback, which sends one message a request'],
  recipientOfCallback: [
    'ValidationError',
    'include_recipient cannot be false for the format callback, whose body contains the recipient',
  ],
  tokenMissing: ['ValidationError', 'token is a required property for the format callback'],
  tokenUnused: [
    'ValidationError',
    'token is only used by the format callback; the format standard signs with a secret',
  ],
  tokenForm: ['ValidationError', 'token must have <least> to <most> characters of ASCII, without spaces'],
  typeOfCallback: [
    'ValidationError',
    'types <type> cannot be sent in the format callback, which tells the status of a message',
  ],
  noTypes: ['ValidationError', 'types is empty. Leave it out to receive all types.'],
  overlapRange: ['ValidationError', 'overlap_hours must be a number from 0 to <most>'],
  noSecret: ['BadRequestError', 'The format callback has no secret. Change its token instead.'],
  momentForm: ['ValidationError', '<field> must be a time like 2026-11-02T09:15:00Z'],
  momentAhead: ['ValidationError', '<field> must not be in the future'],
  emptyPeriod: ['ValidationError', 'to must be later than from'],
  oneReplay: ['ValidationError', 'Give one of these: from (with to and types, if wanted), event, or failed'],
  failedIsTrue: ['ValidationError', 'failed must be true'],
  typeNotReceived: ['ValidationError', 'types <type> is not among the types of this webhook. Add it first.'],
  eventNotFound: ['NoResultFound', 'event not found'],
  eventNotCarried: ['BadRequestError', 'An event of type <type> cannot be sent in the format callback.'],
  tooManyReplays: ['BadRequestError', 'This webhook has <limit> replays that have not ended. Try again later.'],
  tooManyWaiting: ['BadRequestError', 'This webhook has <limit> single events that wait to be sent. Try again later.'],
  createdBefore: ['ChangedMeanwhile', 'This webhook was created already, and its secret cannot be shown again.'],
  changedMeanwhile: ['ChangedMeanwhile', 'This webhook was changed meanwhile. Look at it again.'],
  testRunning: ['TooManyRequestsError', 'A test of this webhook has not ended yet. Try again in a few seconds.'],
  unknownWebhook: [
    'NoResultFound',
    'There is no webhook "<text>". Give its id, or at least the first 8 characters of it.',
  ],
  severalWebhooks: ['BadRequestError', '"<text>" fits more than one webhook. Give the whole id of one of them: <ids>.'],
} as const

export const refuse = refusals(sentences)
