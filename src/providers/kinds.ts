// Every kind of provider, by channel, in the order in which configured ones are used.
import { emailCapture, textCapture } from './capture/index.ts'
import { http } from './http/index.ts'
import type { ProviderKind } from './kind.ts'
import { emailNone, textNone } from './none/index.ts'
import type { EmailProvider, Provider, TextProvider } from './port.ts'
import { ses } from './ses/index.ts'
import { smpp } from './smpp/index.ts'
import { smtp } from './smtp/index.ts'
import { twilio } from './twilio/index.ts'

export type Kinds<P extends Provider> = {
  /** Kinds that send messages. */
  sending: readonly ProviderKind<P>[]
  capture: ProviderKind<P>
  none: ProviderKind<P>
}

export const KINDS: { email: Kinds<EmailProvider>; sms: Kinds<TextProvider> } = {
  email: { sending: [smtp, ses], capture: emailCapture, none: emailNone },
  sms: { sending: [smpp, twilio, http], capture: textCapture, none: textNone },
}
