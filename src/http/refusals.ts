// Refusals of the HTTP layer itself, before any noun is called.
import { refusals } from '../core/refusal.ts'

export const sentences = {
  unreadable: [
    'BadRequestError',
    'Error decoding arguments: The browser (or proxy) sent a request that this server could not understand.',
  ],
  notJson: [
    'UnsupportedMediaType',
    "UnsupportedMediaType error: Did not attempt to load JSON data because the request Content-Type was not 'application/json'.",
  ],
  unknownPath: [
    'NotFound',
    'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
  ],
  wrongMethod: ['MethodNotAllowed', 'The method is not allowed for the requested URL.'],
  tooManyValues: ['ValidationError', 'personalisation has too many values'],
  tooDeep: ['ValidationError', 'personalisation is nested too deeply'],
  tooLarge: ['RequestEntityTooLarge', 'The data value transmitted exceeds the capacity limit.'],
} as const

export const refuse = refusals(sentences)
