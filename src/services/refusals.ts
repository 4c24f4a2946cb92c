import { refusals } from '../core/refusal.ts'

export const sentences = {
  unknownService: [
    'NoResultFound',
    'There is no service "<text>". Give its exact name, its id, or at least the first 8 characters of its id.',
  ],
  severalServices: ['BadRequestError', '"<text>" fits more than one service. Give the id of one of them: <services>.'],
  serviceNameTaken: ['BadRequestError', 'There is already a service named "<name>". Choose another name.'],
  archivedService: ['BadRequestError', 'The service "<name>" is archived. Make it active first.'],
  empty: ['ValidationError', 'The <what> must not be empty.'],
  tooLong: ['ValidationError', 'The <what> must have at most <most> characters.'],
  notOneLine: ['ValidationError', 'The <what> must be one line without control characters.'],
  notMailbox: [
    'ValidationError',
    '"<text>" is not a mailbox. It must be 1 to 64 small letters, digits, dots, hyphens and underscores, with dots only between others.',
  ],
  notLimit: ['ValidationError', 'The <what> must be a whole number from 0 to 2147483647.'],
  notDays: ['ValidationError', 'The <what> must be a whole number of days from 1 to 365.'],
  notEmail: ['ValidationError', '"<text>" is not a valid e-mail address.'],
  notPhone: [
    'ValidationError',
    '"<text>" is not a valid phone number. Write it with the country code, like +16135550123.',
  ],
  notSender: [
    'ValidationError',
    '"<text>" is not a text sender. It must be a name of 1 to 11 letters and digits, a short code of 3 to 8 digits, or a phone number.',
  ],
  notCountry: ['ValidationError', '"<text>" is not a country. Write two capital letters, like CA or FR.'],
  notRecipient: ['ValidationError', '"<text>" is neither an e-mail address nor a phone number.'],
  userTaken: ['BadRequestError', '"<email>" is already a team member of this service.'],
  replyToTaken: ['BadRequestError', '"<email>" is already a reply-to address of this service.'],
  notVerified: [
    'BadRequestError',
    '"<email>" is not verified yet. Somebody must open the link that was sent to it first.',
  ],
  noReason: ['ValidationError', 'Say why the service is suspended: its team sees it.'],
  senderTaken: ['BadRequestError', '"<sender>" is already a text sender of this service.'],
  safelistTaken: ['BadRequestError', '"<recipient>" is already on the safelist of this service.'],
  safelistFull: ['BadRequestError', 'A safelist can have at most <limit> recipients. Remove some.'],
  unknownUser: ['NoResultFound', 'No team member of this service has the id or e-mail address "<text>".'],
  unknownReplyTo: ['NoResultFound', 'This service has no reply-to address "<text>".'],
  unknownSender: ['NoResultFound', 'This service has no text sender "<text>".'],
  unknownSafelist: ['NoResultFound', '"<text>" is not on the safelist of this service.'],
  severalEntries: ['BadRequestError', '"<text>" fits more than one entry. Give the whole id.'],
} as const

export const refuse = refusals(sentences)
