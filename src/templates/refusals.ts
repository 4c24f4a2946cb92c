import { refusals } from '../core/refusal.ts'

export const sentences = {
  notFound: ['NoResultFound', 'No result found'],
  categoryNotId: ['TemplateCategoryValidationError', 'template_category_id must be a valid UUID'],
  categoryNotFound: ['TemplateCategoryNotFoundError', 'template_category_id not found'],
  folderNotFound: ['BadRequestError', 'parent_folder_id not found'],
  emailNotAllowed: ['ForbiddenError', 'Creating email templates is not allowed'],
  smsNotAllowed: ['ForbiddenError', 'Creating text message templates is not allowed'],
  contentTooLong: ['BadRequestError', 'Content has a character count greater than the limit of <limit>'],
  nameTooLong: ['BadRequestError', 'Template name must be less than <limit> characters'],
  subjectTooLong: ['BadRequestError', 'The subject must have at most <limit> characters.'],
  subjectMissing: ['BadRequestError', 'An e-mail template must have a subject.'],
  alreadyArchived: ['BadRequestError', 'Template is already archived.'],
  changedMeanwhile: [
    'ChangedMeanwhile',
    'Somebody saved version <version> of the template meanwhile. Compare it with yours, then save again.',
  ],
  folderTaken: ['BadRequestError', 'There is already a folder named "<name>" in this place.'],
  unknownFolder: ['NoResultFound', 'This service has no folder "<text>".'],
  folderNotEmpty: [
    'BadRequestError',
    'The folder "<name>" still holds templates or folders. Move them out first (on the command line: --move-templates-out).',
  ],
  folderTooDeep: ['BadRequestError', 'At most <most> folders can be inside each other.'],
  folderInItself: ['BadRequestError', 'A folder cannot be moved into itself or into a folder that it contains.'],
  tooManyFolders: ['BadRequestError', 'A service has at most <most> folders.'],
  missingPersonalisation: ['BadRequestError', 'Missing personalisation: <names>'],
} as const

export const refuse = refusals(sentences)
