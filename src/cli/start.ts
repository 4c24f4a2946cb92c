import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { providersInUse } from '../config/in-use.ts'
import { migrate } from '../db/migrate.ts'
import { inboxLink } from '../inbox/link.ts'
import { type Running, start } from '../main.ts'
import { openDatabase } from '../store.ts'
import type { Command, CommandOutput, Io } from './command.ts'
import { curlLine, sampleText } from './sample.ts'

export const runCommands: readonly Command[] = [
  {
    noun: 'start',
    options: [
      {
        name: 'only',
        value: 'PART',
        choices: ['http', 'engine'],
        sentence: 'Run one half in this process: the HTTP interface, or the delivery engine.',
      },
    ],
    sentence: 'Run the service until Ctrl-C or SIGTERM.',
    more: 'It starts the database and brings it up to date. On an empty embedded database it makes a sample service and shows how to call it; its team and live keys are made and shown on a terminal only. The last lines say which provider each channel uses. With --json stdout has one line, {"address": …, "providers": …}, and before it {"sample": …} when one was made; the log is on stderr.',
    examples: ['herald start', 'HERALD_PORT=8080 herald start --only http'],
    run: async (io, input) => {
      const signal = firstSignal(io)
      leaveCores()
      const wanted = input.maybe('only')
      const only = wanted === 'http' || wanted === 'engine' ? wanted : undefined
      const config = io.config(only ?? 'all')
      const running = await startUnlessAsked(signal, () =>
        start(config, { ...(only && { only }), say: io.say, signal, sampleKeys: io.isTerminal ? 'all' : 'test' }),
      )
      if (running) {
        const { sample, address } = running
        // Not by `say`, which goes into the stream of the log with --json.
        if (sample)
          io.print({
            text: sampleText(sample, address),
            data: { sample: { ...sample, curl: curlLine(sample, address) } },
          })
        io.print(banner(running, io.isTerminal))
        if (!signal.aborted) await once(signal, 'abort')
        await running.stop()
      }
      io.say('Herald has stopped.')
      return undefined
    },
  },
  {
    noun: 'migrate',
    sentence: 'Bring the database to the shape this version needs; a start does it too.',
    run: async io => {
      const { db, stop } = await openDatabase(io.config())
      try {
        const steps = await migrate(db)
        const text =
          steps.length === 0 ? 'The database is up to date.' : steps.map(step => `migrated: ${step}`).join('\n')
        return { text, data: { steps } }
      } finally {
        await stop()
      }
    },
  },
]

/** What runs now: which provider each channel uses, where messages that were not sent can be seen, and the address. */
function banner({ address, port, parts: { config, seal } }: Running, isTerminal: boolean): CommandOutput {
  const channels = providersInUse(config)
  const link = isTerminal ? inboxLink(seal, { host: config.host, port }) : null
  const lines = [
    ...channels.map(({ sentence }) => sentence),
    ...(address === ''
      ? ['The delivery engine runs (Ctrl-C stops it).']
      : [
          `Messages that are not sent are in the inbox: ${link ?? '/inbox, by the link that herald inbox --link prints'}`,
          `Herald listens on ${address} (Ctrl-C stops it).`,
        ]),
  ]
  const providers = Object.fromEntries(channels.map(({ channel, providers }) => [channel, providers]))
  return { text: lines.join('\n'), data: { address: address || null, providers } }
}

/** Where there are few cores, the helpers of V8's garbage collector only take them from the database. */
function leaveCores() {
  if (availableParallelism() <= FEW_CORES) setFlagsFromString('--no-parallel-scavenge')
}

const FEW_CORES = 2
const SAME_PRESS_MS = 1_000

/** Undefined: a signal came first, and what was started has been stopped. */
async function startUnlessAsked(signal: AbortSignal, begin: () => Promise<Running>): Promise<Running | undefined> {
  const starting = begin()
  try {
    return await Promise.race([starting, givenUp(signal)])
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** A start ends at its next step. One that waits for somebody else's database, say for its lock, is not waited for. */
async function givenUp(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort')
  await new Promise(resume => setTimeout(resume, GIVEN_UP_MS).unref())
  throw new Error('The start did not end in time.')
}

const GIVEN_UP_MS = 5_000

/**
 * The first signal asks for an orderly stop, also when it comes while we are still starting; a second one insists.
 * `npm start` passes on the signal that the terminal has already given us, so what follows at once is the same press.
 */
function firstSignal(io: Io): AbortSignal {
  const asked = new AbortController()
  let isInsisting = false
  const hear = () => {
    if (isInsisting) process.exit(1)
    if (asked.signal.aborted) return
    io.say('Herald is stopping: requests under way are finished first (again to stop at once).')
    setTimeout(() => (isInsisting = true), SAME_PRESS_MS).unref()
    asked.abort()
  }
  process.on('SIGINT', hear)
  process.on('SIGTERM', hear)
  return asked.signal
}
