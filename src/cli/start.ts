import { once } from 'node:events'
import { forBrowsers } from '../address.ts'
import { providersInUse } from '../config/in-use.ts'
import { notifySocket } from '../config/systemd.ts'
import { migrate, migrations } from '../db/migrate.ts'
import { inboxLink } from '../inbox/link.ts'
import { type Started, start } from '../main.ts'
import { currentOperator } from '../operator.ts'
import { PRINTED_LINK_MINUTES, printLink } from '../people/links.ts'
import { firstOperator } from '../people/operators.ts'
import { countOf } from '../processes/count.ts'
import { firstSignal, limitGarbageCollector, unlessAborted } from '../runtime/process.ts'
import { tellReady } from '../runtime/systemd.ts'
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
    more: 'Starts the embedded database, unless DATABASE_URL is set, and migrates it. On an empty embedded database it creates a sample service and shows how to call it; its team and live keys are created and shown only on a terminal. The last lines name the provider of each channel and the address of the console. On the embedded database and on a terminal they have a link that signs the first operator in; elsewhere, as in a journal, they name the command that prints one. With --json stdout has one line, {"address": …, "providers": …, "console": …}, and before it {"sample": …} if a sample was created; the log goes to stderr.',
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
        io.print(banner(running, io.isTerminal, await firstSignIn(running, io.isTerminal)))
        await tellSystemd(io.say)
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

/** Also when the start was slow: until then `systemctl start` waits, and units after Herald do. */
async function tellSystemd(say: (line: string) => void) {
  const socket = notifySocket()
  if (socket === null) return
  await tellReady(socket).catch(error => {
    const why = error instanceof Error ? error.message : String(error)
    say(`systemd could not be notified that Herald is ready, and shows it as activating: ${why}`)
  })
}

/** `link` is null where the output may be stored, as in a journal: its readers could sign in. */
type FirstSignIn = { email_address: string; link: string | null }

/** For the first operator, as long as no one else can let people in: on the embedded database. */
async function firstSignIn({ console, parts }: Started, isTerminal: boolean): Promise<FirstSignIn | null> {
  if (parts.config.databaseUrl || console === null) return null
  const operator = currentOperator()
  const { email_address } = await firstOperator(parts, operator)
  if (!isTerminal || !parts.config.localSignIn) return { email_address, link: null }
  const { path } = await printLink(parts, operator, email_address)
  return { email_address, link: forBrowsers(console) + path }
}

/** Printed after the start: provider of each channel, link of the inbox, address, and last the link to the console. */
function banner(
  { address, port, console, parts }: Started,
  isTerminal: boolean,
  signIn: FirstSignIn | null,
): CommandOutput {
  const { config } = parts
  const channels = providersInUse(config)
  const link = isTerminal ? inboxLink(parts, { host: config.host, port }) : null
  const lines = [
    ...channels.map(({ sentence }) => sentence),
    ...(address === ''
      ? ['The delivery engine runs (Ctrl-C stops it).']
      : [
          `Messages that are not sent are in the inbox: ${link ?? '/inbox, by the link that herald inbox --link prints'}`,
          `Herald listens on ${address} (Ctrl-C stops it).`,
          ...(console === null ? [] : consoleLines(console, config.localSignIn, signIn)),
        ]),
  ]
  const providers = Object.fromEntries(channels.map(({ channel, providers }) => [channel, providers]))
  return {
    text: lines.join('\n'),
    data: { address: address || null, providers, console },
  }
}

function consoleLines(console: string, hasLocal: boolean, signIn: FirstSignIn | null): string[] {
  const place = `The console is at ${console}.`
  if (!hasLocal) return [`${place} People sign in with single sign-on.`]
  if (!signIn) return [`${place} The first operator: herald operator add EMAIL, then herald user sign-in-link EMAIL.`]
  const { link, email_address } = signIn
  const another = `herald user sign-in-link ${email_address}`
  if (link === null) return [`${place} A sign-in link: ${another}`]
  return [
    '',
    `  Open the console: ${link}`,
    `  (the link works once, for ${PRINTED_LINK_MINUTES} minutes, as ${email_address}; another: ${another})`,
    '',
  ]
}
