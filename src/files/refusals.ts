import { refusals } from '../core/refusal.ts'

export const sentences = {
  noPlaceholder: ['BadRequestError', 'Template has no placeholder for file link: <key>'],
  tooLarge: [
    'ValidationError',
    'Email size including files is <n> bytes and greater than allowed limit of 6291456 bytes.',
  ],
  notAllowed: ['BadRequestError', 'Service is not allowed to send documents'],
  unsupported: [
    'BadRequestError',
    "Unsupported file type '<type>'. Supported types are: 'pdf, csv, txt, jpeg, png, doc, docx, xls, xlsx, rtf, odt'",
  ],
  virus: ['BadRequestError', 'File did not pass the virus scan'],
  notFound: ['NotFound', 'File not found'],
  stillScanning: ['PreconditionRequired', 'File is still being scanned for viruses'],
  infected: ['ForbiddenError', 'File did not pass the virus scan'],
} as const

export const refuse = refusals(sentences)
