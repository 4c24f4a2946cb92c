import { refusals } from '../core/refusal.ts'

export const sentences = {
  notJson: ['BadRequestError', 'The file <file> is not JSON: <problem>.'],
  notAMove: [
    'BadRequestError',
    'The file <file> is not an installation of format <format>: "is" and "format" differ. docs/moving.md has the form.',
  ],
  problems: ['ValidationError', 'The file <file> has <count> problems, and nothing was imported:<problems>'],
  notSecrets: [
    'BadRequestError',
    'The file <file> must be a JSON object with the id of a key and its secret in each line, as herald export --secrets-file writes it.',
  ],
  notASecret: ['ValidationError', 'Its secret must begin with whsec_ and go on in base64.'],
  addedMeanwhile: [
    'ChangedMeanwhile',
    'The service <id> was added by somebody else at this moment. Import again: what is missing is added.',
  ],
  notFamily: [
    'BadRequestError',
    'This database has no tables of the interface family: <tables> are missing or empty. Give the database of the other installation.',
  ],
} as const

export const refuse = refusals(sentences)
