import { httpMade, smppMade, twilioMade } from '../support/text-providers.ts'
import { smsProviderSuite } from './sms-provider.ts'

smsProviderSuite('smpp', smppMade)
smsProviderSuite('twilio', twilioMade)
smsProviderSuite('http', httpMade)
