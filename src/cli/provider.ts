// herald provider: the providers with their state, and one test message by one of them, sent by a running process.
import { setTimeout as sleep } from 'node:timers/promises'
import { channelNames } from '../channels/plain.ts'
import { processesNow } from '../installation/look.ts'
import { isLate, providerViews } from '../installation/process.ts'
import { type ProviderTest, readTest, testProvider } from '../installation/test.ts'
import { holdingOf } from '../queue/hold.ts'
import { type Command, UsageError, withStore } from './command.ts'
import { listing } from './print.ts'

const LOOK_MS = 200

export const commands: readonly Command[] = [
  {
    noun: 'provider',
    verb: 'list',
    sentence: 'List the providers of the settings, with their state in the running processes.',
    more: 'The state is that of the circuit breaker: closed (in use), open (down), half-open (one probe is sent). Without a running engine it is not known. herald doctor connects to each.',
    run: withStore(async (store, _, operator) => {
      const running = providerViews(await processesNow(store, operator))
      const configured = channelNames.flatMap(channel =>
        store.config.providers[channel].map(({ name }) => ({ channel, name })),
      )
      const providers = configured.map(one => {
        const view = running.find(({ channel, name }) => channel === one.channel && name === one.name)
        return {
          ...one,
          state: view?.state ?? null,
          accepted_last_minute: view?.accepted_last_minute ?? null,
          last_error: view?.last_error ?? null,
        }
      })
      const rows = providers.map(one => [
        one.name,
        one.channel,
        one.state,
        one.accepted_last_minute,
        one.last_error && (one.last_error.reason ?? one.last_error.class),
      ])
      return {
        text: listing(['NAME', 'CHANNEL', 'STATE', 'LAST MINUTE', 'LAST ERROR'], rows, 'There is no provider.'),
        data: { providers },
      }
    }),
  },
  {
    noun: 'provider',
    verb: 'test',
    args: [{ name: 'NAME', sentence: 'Name of the provider, as herald doctor shows it.' }],
    options: [
      { name: 'to', value: 'RECIPIENT', required: true, sentence: 'E-mail address or phone number of the recipient.' },
    ],
    sentence: 'Send one test message by a provider, and show its answer.',
    more: 'A running process with an engine sends it, by this provider only, also while its circuit breaker is open. Nothing is sent while sending is held. The test is recorded in the audit log, without the recipient. Exit code 1 if the provider does not accept it.',
    examples: ['herald provider test smtp --to duty@example.org'],
    run: withStore(async (store, input, operator, io) => {
      const [provider, recipient] = [input.text('NAME'), input.text('to')]
      const { sql } = store.db
      const hold = await heldNow(() => holdingOf(sql))
      const running = (await processesNow(store, operator)).filter(one => !isLate(one))
      const reports = running.flatMap(one => one.providers).filter(one => one.name === provider)
      // Both channels may have a provider of this name, such as capture.
      const wanted = recipient.includes('@') ? 'email' : 'sms'
      const channel = channelNames.find(
        name => reports.some(one => one.channel === name) && (name === wanted || reports.length === 1),
      )
      if (!channel && running.length > 0 && reports.length === 0)
        throw new UsageError(`No running process has a provider "${provider}".`)
      const id = await testProvider({ ...store, hold }, operator, { channel: channel ?? wanted, provider, recipient })
      let test = await readTest(store, operator, id)
      io.progress.show('Waiting for the answer of the provider')
      while (test?.state === 'waiting') {
        await sleep(LOOK_MS)
        test = await readTest(store, operator, id)
      }
      const isAccepted = test?.answer?.kind === 'accepted'
      return {
        text: test ? wordsOf(test) : 'The test is gone.',
        data: { provider, channel: test?.channel, state: test?.state, process: test?.process, answer: test?.answer },
        ...(!isAccepted && { failed: true as const }),
      }
    }),
  },
]

/** A command looks once, and watches nothing. */
async function heldNow(read: () => Promise<unknown>) {
  const held = (await read()) !== null
  return { isHeld: () => held, look: async () => {} }
}

function wordsOf({ state, answer, process }: ProviderTest): string {
  if (state === 'not taken') return 'Not sent: no process with an engine took the test in time.'
  if (!answer) return 'No answer in time. The message may still arrive.'
  switch (answer.kind) {
    case 'accepted':
      return `Accepted, sent by ${process}. Reference of the provider: ${answer.ref}`
    case 'refused':
      return `Refused (${answer.class}): ${answer.detail}`
    case 'deferred':
      if (answer.reason !== undefined && !answer.uncertain) return `Not sent. ${answer.reason}`
      return `${answer.uncertain ? 'Perhaps accepted' : 'Refused for now'} (${answer.class}): ${answer.detail}`
    case 'held':
      return 'Not sent: sending was held meanwhile.'
    case 'fault':
      return 'Not sent: something failed in Herald itself. The log of the process says what.'
  }
}
