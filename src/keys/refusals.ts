import { refusals } from '../core/refusal.ts'

export const sentences = {
  noToken: ['Unauthorized', 'Unauthorized, authentication token must be provided'],
  otherScheme: [
    'Unauthorized',
    'Unauthorized, Authorization header is invalid. Supported authentication methods: ApiKey-v1, Bearer',
  ],
  unknownKey: ['AuthError', 'Invalid token: API key not found'],
  revoked: ['AuthError', 'Invalid token: API key revoked'],
  archivedService: ['AuthError', 'Invalid token: service is archived'],
  clock: ['AuthError', 'Error: Your system clock must be accurate to within 30 seconds'],
  undecodable: ['AuthError', 'Invalid token: signature, api token is not valid'],
  noIssuer: ['AuthError', 'Invalid token: iss field not provided'],
  issuerNotId: ['AuthError', 'Invalid token: service id is not the right data type'],
  unknownService: ['AuthError', 'Invalid token: service not found'],
  noKeys: ['AuthError', 'Invalid token: service has no API keys'],
  noKeyFits: ['AuthError', 'Invalid token: signature, api token not found'],
  unknownKeyId: [
    'NoResultFound',
    'There is no key "<text>". Give its id, at least the first 8 characters of its id, or the whole key.',
  ],
  severalKeys: ['BadRequestError', '"<text>" fits more than one key. Give the whole id of one of them: <keys>.'],
  expiryPassed: ['ValidationError', 'The key would have ended already at <moment>. Choose a later moment.'],
  createdBefore: ['ChangedMeanwhile', 'This key was created already, and it cannot be shown again.'],
  notManager: ['ForbiddenError', 'This API key does not have permission to manage templates.'],
  notWebhookManager: ['ForbiddenError', 'This API key does not have permission to manage webhooks.'],
} as const

export const refuse = refusals(sentences)
