// What commands need that send or check one message: the parts of the service, a question before real people are reached.
import { addressOf } from '../address.ts'
import type { Store } from '../parts.ts'
import { agrees, isAtTerminal } from './ask.ts'
import { type CommandInput, type CommandOutput, type Io, type Option, UsageError } from './command.ts'
import { readGiven } from './given-file.ts'
import type { SendingApp } from './sending-app.ts'

export const YES: Option = { name: 'yes', sentence: 'Send without asking. Required when there is no terminal.' }
export const TO: Option = { name: 'to', value: 'RECIPIENT', sentence: 'E-mail address or phone number.' }
export const VALUES: readonly Option[] = [
  { name: 'value', value: 'NAME=TEXT', many: true, sentence: 'Value of a placeholder.' },
  { name: 'values', value: 'FILE', sentence: 'JSON file with an object of values; - reads standard input.' },
]

/** Loaded only by a command that sends or checks: it needs most of the service. */
export const withSending = async <T>(store: Store, work: (app: SendingApp) => Promise<T>): Promise<T> =>
  (await import('./sending-app.ts')).withApp(store, work)

export const baseOf = ({ config }: Store): string => config.baseUrl ?? addressOf(config)

/** Asks on a terminal. Without one it needs --yes, unless nothing is really sent. */
export async function mayReach(io: Io, input: CommandInput, question: string): Promise<void> {
  if (input.has('yes') || input.maybe('key-type') === 'test') return
  if (!isAtTerminal())
    throw new UsageError('This would send to a real person, and there is no terminal to ask on. Add --yes to send.')
  io.progress.end()
  if (!(await agrees(`${question}? Type yes: `))) throw new Error('Nothing was sent.')
}

/** `id` null: the recipient is one for smoke tests. */
export const sentOutput = (id: string | null, more: object = {}): CommandOutput => ({
  text:
    id === null
      ? 'The recipient is one for smoke tests: the message was checked, and nothing is stored or sent.'
      : `Accepted as ${id}. What happens to it: herald message show ${id}`,
  data: { id, ...more },
})

/** Values of --values, then of --value. */
export function valuesFrom(input: CommandInput): Record<string, unknown> {
  const values: Record<string, unknown> = input.has('values') ? objectIn(input.text('values')) : {}
  for (const given of input.list('value')) {
    const at = given.indexOf('=')
    if (at < 1) throw new UsageError(`--value takes NAME=TEXT, not "${given}".`)
    values[given.slice(0, at)] = given.slice(at + 1)
  }
  return values
}

function objectIn(file: string): Record<string, unknown> {
  const text = readGiven(file)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // The sentence below says what is expected.
  }
  throw new UsageError(`${file} must hold a JSON object of values, such as {"name": "Ann"}.`)
}
