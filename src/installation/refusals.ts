import { refusals } from '../core/refusal.ts'

export const sentences = {
  testWhileHeld: [
    'BadRequestError',
    'Sending is held, so nothing is sent, not even a test. Release all sending first.',
  ],
  testRecipient: ['BadRequestError', 'Enter <what> to send the test to.'],
  testNoEngine: [
    'BadRequestError',
    'No running process has the provider <name>. Start one that sends: herald start, or herald start --only engine.',
  ],
  testsTooMany: ['TooManyRequestsError', 'There were <limit> tests in the last minute. Try again in a minute.'],
} as const

export const refuse = refusals(sentences)
