import { refusals } from '../core/refusal.ts'

export const sentences = {
  rowsOrCsv: ['BadRequestError', 'You should specify either rows or csv'],
  notRows: ['BadRequestError', 'Error converting to CSV: <iterable expected, not kind>'],
  missingHeaders: ['BadRequestError', 'Missing column headers: <names>'],
  duplicateHeaders: ['BadRequestError', 'Duplicate column headers: <names>'],
  tooManyColumns: ['BadRequestError', 'Too many columns. Maximum number of columns allowed is 1000'],
  /** The file takes more time or memory than any file of 50,000 rows needs. */
  tooMuch: ['RequestEntityTooLarge', 'The data value transmitted exceeds the capacity limit.'],
  tooManyRows: ['BadRequestError', 'Too many rows. Maximum number of rows allowed is 50000'],
  tooFewRows: ['BadRequestError', 'Not enough rows. Minimum number of rows allowed is 1'],
  remaining: [
    'BadRequestError',
    "You only have <n> remaining messages before you reach your daily limit. You've tried to send <m> messages.",
  ],
  teamOnly: ['BadRequestError', 'You cannot send to these recipients because you used a team and safelist API key.'],
  trial: [
    'BadRequestError',
    'You cannot send to these recipients because your service is in trial mode. You can only send to members of your team and your safelist.',
  ],
  tooLong: [
    'BadRequestError',
    'Row <n> - has a character count greater than 612 characters. Some messages may be too long due to custom content.',
  ],
  rowErrors: ['BadRequestError', 'Some rows have errors. <Row n - column: what. Row m - column: what.>'],
  mixed: ['BadRequestError', 'Bulk sending to testing and non-testing numbers is not supported'],
  notFound: ['JobNotFoundError', 'Job not found in database'],
  alreadyCancelled: ['JobAlreadyCancelledError', 'Job has already been cancelled'],
  notCancellable: [
    'JobCancellationNotAllowedError',
    'Job cannot be cancelled because it is already being sent or has already been sent',
  ],
  nothingToRepeat: ['BadRequestError', 'No message of this job can be sent again'],
  otherCount: ['BadRequestError', 'Meanwhile <n> messages can be sent again'],
  otherService: ['BadRequestError', 'older_than: Job does not exist for this service'],
} as const

export const refuse = refusals(sentences)
