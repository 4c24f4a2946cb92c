// Settings → providers, in order of preference.
import { stopTogether } from '../runtime/lifetime.ts'
import { captureEmail, captureText } from './capture/send.ts'
import { noEmail, noText } from './none.ts'
import type { EmailMessage, EmailProvider, ProviderWorld, TextMessage, TextProvider } from './port.ts'

export type Makers = {
  email: Readonly<Record<string, (world: ProviderWorld) => EmailProvider>>
  text: Readonly<Record<string, (world: ProviderWorld) => TextProvider>>
}

export type Keep = { email(message: EmailMessage): Promise<void>; text(message: TextMessage): Promise<void> }

export type Registry = {
  email: readonly EmailProvider[]
  text: readonly TextProvider[]
  stop(): Promise<void>
}

export function createRegistry(
  wanted: { email: readonly string[]; text: readonly string[] },
  makers: Makers,
  world: ProviderWorld,
  keep: Keep,
): Registry {
  const all: Makers = {
    email: { ...makers.email, capture: () => captureEmail(keep.email), none: () => noEmail },
    text: { ...makers.text, capture: () => captureText(keep.text), none: () => noText },
  }
  const email = wanted.email.map(name => chosen(all.email, name, 'HERALD_EMAIL_PROVIDERS')(world))
  const text = wanted.text.map(name => chosen(all.text, name, 'HERALD_TEXT_PROVIDERS')(world))
  let stopped: Promise<void> | undefined
  return {
    email,
    text,
    stop() {
      stopped ??= stopTogether([...email, ...text].map(provider => provider.stop()))
      return stopped
    },
  }
}

function chosen<T>(makers: Readonly<Record<string, T>>, name: string, setting: string): T {
  const maker = Object.hasOwn(makers, name) ? makers[name] : undefined
  if (!maker) throw new Error(`${setting} names "${name}"; there are: ${Object.keys(makers).join(', ')}.`)
  return maker
}
