import { refusals } from '../core/refusal.ts'

export const sentences = {
  suspended: ['Suspended', 'Service is suspended'],
  noEmails: ['BadRequestError', 'Service is not allowed to send emails'],
  noTexts: ['BadRequestError', 'Service is not allowed to send text messages'],
  templateNotFound: ['BadRequestError', 'Template not found'],
  wrongType: ['BadRequestError', '<type> template is not suitable for <type> notification'],
  templateDeleted: ['BadRequestError', 'Template has been deleted'],
  filesByEmailOnly: ['BadRequestError', 'Files can only be sent by email'],
  missingPersonalisation: ['BadRequestError', 'Missing personalisation for template ID <id>: <names>'],
  tooLong: ['BadRequestError', 'Content for template has a character count greater than the limit of <limit>'],
  tooLarge: ['BadRequestError', 'Content has a character count greater than the limit of 2000000'],
  blank: ['BadRequestError', 'Message is empty or just whitespace'],
  unknownReplyTo: ['BadRequestError', 'email_reply_to_id <id> does not exist in database for service id <id>'],
  unknownSender: ['BadRequestError', 'sms_sender_id <id> does not exist in database for service id <id>'],
  teamOnly: ['BadRequestError', "Can't send to this recipient using a team-only API key"],
  trial: ['BadRequestError', "Can't send to this recipient when service is in trial mode"],
  international: ['BadRequestError', 'Cannot send to international mobile numbers'],
  filesGone: ['BadRequestError', 'The files of the message are not stored any more'],
  notFound: ['NoResultFound', 'No result found'],
  notInDatabase: ['NoResultFound', 'Notification not found in database'],
  notScheduled: ['BadRequestError', 'Notification is not scheduled and cannot be deleted'],
  alreadySent: ['BadRequestError', 'Notification has already been sent and cannot be deleted'],
} as const

export const refuse = refusals(sentences)
