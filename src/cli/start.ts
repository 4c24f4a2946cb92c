import { once } from 'node:events'
import { forBrowsers } from '../address.ts'
import { providersInUse } from '../config/in-use.ts'
import { migrate, migrations } from '../db/migrate.ts'
import { inboxLink } from '../inbox/link.ts'
import { type Started, start } from '../main.ts'
import { currentOperator } from '../operator.ts'
import { PRINTED_LINK_MINUTES, printLink } from '../people/links.ts'
import { firstOperator } from '../people/operators.ts'
import type { Person } from '../people/person.ts'
import { countOf } from '../processes/count.ts'
import { firstSignal, limitGarbageCollector, unlessAborted } from '../runtime/process.ts'
import { openDatabase } from '../store.ts'
import { type StartOptions, startSeveral } from '../supervisor.ts'
import type { Command, CommandOutput } from './command.ts'
import { curlLine, sampleText } from './sample.ts'

export const commands: readonly Command[] = [
  {
    noun: 'start',
    options: [
      {
        name: 'only',
        value: 'PART',
        choices: ['http', 'engine'],
        sentence: 'Run only one part in this process: the HTTP interface or the delivery engine.',
      },
    ],
    sentence: 'Run the service until Ctrl-C or SIGTERM.',
    more: 'Starts the embedded database, unless DATABASE_URL is set, and migrates it. On an empty embedded database it creates a sample service and shows how to call it; its team and live keys are created and shown only on a terminal. The last lines name the provider of each channel and, on the embedded database, a link that signs the first operator in to the console. With --json stdout has one line, {"address": …, "providers": …, "console": …, "sign_in_link": …}, and before it {"sample": …} if a sample was created; the log goes to stderr.',
    examples: ['herald start', 'HERALD_PORT=8080 herald start --only http'],
    run: async (io, input) => {
      const signal = firstSignal(() => io.say(STOPPING))
      limitGarbageCollector()
      const wanted = input.maybe('only')
      const only = wanted === 'http' || wanted === 'engine' ? wanted : undefined
      const config = io.config(only ?? 'all')
      const options: StartOptions = {
        ...(only && { only }),
        say: io.say,
        signal,
        sampleKeys: io.isTerminal ? 'all' : 'test',
      }
      const begin = countOf(config.processes) > 1 ? startSeveral : start
      const running = await unlessAborted<Started>(signal, () => begin(config, options))
      if (running) {
        const { sample, address } = running
        // `say` would print it to stderr with --json, between the lines of the log.
        if (sample)
          io.print({
            text: sampleText(sample, address),
            data: { sample: { ...sample, curl: curlLine(sample, address) } },
          })
        io.print(banner(running, io.isTerminal, await signInLink(running)))
        if (!signal.aborted) await once(signal, 'abort')
        await running.stop()
      }
      io.say('Herald has stopped.')
      return undefined
    },
  },
  {
    noun: 'migrate',
    sentence: 'Migrate the database to this version; herald start does it too.',
    run: async io => {
      io.progress.show('Opening the database')
      const { db, stop } = await openDatabase(io.config())
      try {
        const steps = await migrate(db, migrations(), (name, done, total) =>
          io.progress.show(`Migrating ${name}`, done, total),
        )
        const text =
          steps.length === 0 ? 'The database is up to date.' : steps.map(step => `migrated: ${step}`).join('\n')
        return { text, data: { steps } }
      } finally {
        await stop()
      }
    },
  },
]

const STOPPING = 'Herald is stopping: running requests are finished first (press Ctrl-C again to stop at once).'

type SignInLink = { link: string; person: Person }

/** For the first operator, as long as nobody else can let people in: on the embedded database. */
async function signInLink({ console, parts }: Started): Promise<SignInLink | null> {
  if (parts.config.databaseUrl || console === null) return null
  const operator = currentOperator()
  const { email_address } = await firstOperator(parts, operator)
  const { path, person } = await printLink(parts, operator, email_address)
  return { link: forBrowsers(console) + path, person }
}

/** Printed after the start: provider of each channel, link of the inbox, address, and last the link to the console. */
function banner(
  { address, port, console, parts: { config, seal } }: Started,
  isTerminal: boolean,
  signIn: SignInLink | null,
): CommandOutput {
  const channels = providersInUse(config)
  const link = isTerminal ? inboxLink(seal, { host: config.host, port }) : null
  const lines = [
    ...channels.map(({ sentence }) => sentence),
    ...(address === ''
      ? ['The delivery engine runs (Ctrl-C stops it).']
      : [
          `Messages that are not sent are in the inbox: ${link ?? '/inbox, by the link that herald inbox --link prints'}`,
          `Herald listens on ${address} (Ctrl-C stops it).`,
          ...(console === null ? [] : consoleLines(console, signIn)),
        ]),
  ]
  const providers = Object.fromEntries(channels.map(({ channel, providers }) => [channel, providers]))
  return {
    text: lines.join('\n'),
    data: { address: address || null, providers, console, sign_in_link: signIn?.link ?? null },
  }
}

const consoleLines = (console: string, signIn: SignInLink | null): string[] =>
  signIn
    ? [
        '',
        `  Open the console: ${signIn.link}`,
        `  (the link works once, for ${PRINTED_LINK_MINUTES} minutes, as ${signIn.person.name}; another: herald user sign-in-link ${signIn.person.email_address})`,
        '',
      ]
    : [
        `The console is at ${console}. The first operator: herald operator add EMAIL, then herald user sign-in-link EMAIL.`,
      ]
