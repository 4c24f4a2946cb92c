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
  alreadyArchived: ['BadRequestError', 'Template is already archived.'],
  changedMeanwhile: [
    'ChangedMeanwhile',
    'Somebody saved version <version> of the template meanwhile. Compare it with yours, then save again.',
  ],
  missingPersonalisation: ['BadRequestError', 'Missing personalisation: <names>'],
} as const

export const refuse = refusals(sentences)
