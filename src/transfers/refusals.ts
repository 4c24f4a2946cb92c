import { refusals } from '../core/refusal.ts'

export const sentences = {
  notAnExport: [
    'BadRequestError',
    'This is not an export of a service. Give a file that `herald service export` has written.',
  ],
  newerFormat: [
    'BadRequestError',
    'This file has format <format>, and this Herald reads formats up to <known>. Upgrade this Herald to the version that wrote the file.',
  ],
  truncated: [
    'BadRequestError',
    'This file is not complete: <bytes> of <wanted> bytes are here. Copy it again, or repeat the export.',
  ],
  damaged: [
    'BadRequestError',
    'This file was changed or damaged after the export. Copy it again, or repeat the export.',
  ],
  wrongPassphrase: [
    'BadRequestError',
    'This passphrase does not open the file. Give the passphrase of the export; if it is the right one, somebody has changed the file: repeat the export.',
  ],
  shortPassphrase: [
    'ValidationError',
    'The passphrase must have at least <least> characters: the file contains all keys of the service.',
  ],
  serviceExists: [
    'BadRequestError',
    'The service <id> is in this database already ("<name>", <state>). Nothing was imported. An import never changes a service that exists.',
  ],
  problem: ['ValidationError', 'The content of this file cannot be imported. Nothing was imported. <problem>.'],
  conflict: ['BadRequestError', 'Nothing was imported. <problem>'],
  otherCategory: [
    'BadRequestError',
    'Nothing was imported. A template has the category <id>, which is not in this installation.',
  ],
  otherPrefix: [
    'BadRequestError',
    'Keys of this service begin with "<theirs>-", and this Herald accepts keys that begin with "<ours>-". Set HERALD_KEY_PREFIX=<own>,<theirs> here, restart, and import again.',
  ],
} as const

export const refuse = refusals(sentences)
