// Runs one call of the program and returns its exit code.
import type { Part } from '../config/in-use.ts'
import type { Config } from '../config/index.ts'
import { heraldVersion } from '../version.ts'
import { type CommandEntry, type CommandInput, type CommandOutput, type Io, UsageError } from './command.ts'
import { load } from './commands.ts'
import { described, help, usageOf } from './help.ts'
import { read } from './parse.ts'
import { type Block, diff, layOut, paragraph, usageLine } from './print.ts'
import { table } from './table.ts'
import { createProgress, NO_PROGRESS, NO_SCREEN, type Progress, type Screen } from './terminal.ts'

export type Streams = {
  out(text: string): void
  err(text: string): void
  /** Absent: the stream is not a terminal. */
  screens?: { out: Screen; err: Screen }
  /** Whether a line of `err` can be painted again. */
  hasCursor?: boolean
}

export async function run(
  argv: readonly string[],
  streams: Streams,
  settings?: (part?: Part) => Config,
): Promise<0 | 1 | 2> {
  const typed = read(table, argv)
  const screens = streams.screens ?? { out: NO_SCREEN, err: NO_SCREEN }
  const progress = progressOn(streams, typed.isJson)
  const out = (text: string) => {
    progress.end()
    streams.out(text)
  }
  const err = (text: string) => {
    progress.end()
    streams.err(text)
  }
  const print = ({ data, text }: CommandOutput) => out(`${typed.isJson ? json(data) : layOut(text, screens.out)}\n`)
  let config: Config | undefined
  try {
    const call = typed.call()
    if (call.kind === 'version') {
      print({ text: `herald ${heraldVersion()}`, data: { version: heraldVersion() } })
      return 0
    }
    if (call.kind === 'help') {
      print({ text: help(call.commands, table), data: described(call.commands) })
      return 0
    }
    const read = settings ?? (await settingsReader(err))
    const io: Io = {
      config: part => (config ??= read(part)),
      say: line => (typed.isJson ? err : out)(`${layOut(line, screens.out)}\n`),
      print: ({ data, text }) => out(`${typed.isJson ? JSON.stringify(data) : layOut(text, screens.out)}\n`),
      isTerminal: screens.out.columns !== null && !typed.isJson,
      progress,
      errorScreen: screens.err,
    }
    const output = await runCommand(io, call)
    if (output) print(output)
    return output?.failed ? 1 : 0
  } catch (error) {
    const { messages, kind, code, usage } = await failureOf(error)
    if (typed.isJson)
      err(
        `${JSON.stringify({ errors: messages.map(message => ({ error: kind, message })), usage, exit_code: code })}\n`,
      )
    else err(`${layOut(failureText(messages, usage), screens.err)}\n`)
    if (code === 1 && error instanceof Error && (config?.logLevel === 'debug' || config?.logLevel === 'trace'))
      err(`${error.stack}\n`)
    return code
  } finally {
    progress.end()
  }
}

/** With --json as well: it is on stderr, and cleared before an error is printed. */
function progressOn({ err, screens, hasCursor = true }: Streams, isJson: boolean): Progress {
  if (!screens) return NO_PROGRESS
  const { columns, paint } = isJson ? { ...screens.err, paint: NO_SCREEN.paint } : screens.err
  return createProgress(err, { columns: hasCursor ? columns : null, paint })
}

/** The first line of each message is red; what follows it are details. */
const failureText = (messages: readonly string[], usage: string | undefined): Block[] => [
  ...messages.flatMap(message => {
    const [first = '', ...rest] = message.split('\n')
    return [failureLine(first), ...(rest.length > 0 ? [details(rest.join('\n'))] : [])]
  }),
  ...(usage === undefined ? [] : [usageLine(usage)]),
]

const details =
  (text: string): Block =>
  screen =>
    layOut(diff(screen.hint?.(text) ?? text), screen)

const failureLine =
  (text: string): Block =>
  screen =>
    screen.paint('red', layOut(paragraph(text), screen))

/** Imported only for a command that runs: the settings know every provider. */
async function settingsReader(err: (text: string) => void): Promise<(part?: Part) => Config> {
  const { readSettings } = await import('../config/index.ts')
  return part => readSettings(sentence => err(`${sentence}\n`), part ? { part } : {})
}

async function runCommand(io: Io, { command, input }: { command: CommandEntry; input: CommandInput }) {
  const { run } = await load(command)
  return await run(io, input).catch(error => {
    // A command validates some values itself; its UsageError gets the usage line here.
    throw error instanceof UsageError ? new UsageError(error.message, error.usage ?? usageOf(command)) : error
  })
}

/** What fails again however often it is tried, until a person changes something: systemd does not restart on exit code 2. */
const WRONG_USE = ['ConfigProblems', 'NothingHere', 'NotMigrated', 'OtherInstallation']

type Failure = { messages: readonly string[]; kind: string; code: 1 | 2; usage?: string }

async function failureOf(error: unknown): Promise<Failure> {
  if (error instanceof UsageError)
    return {
      messages: [error.message],
      kind: error.name,
      code: 2,
      usage: error.usage ?? 'herald COMMAND (herald --help lists them)',
    }
  const { explained, kindOf } = await import('./explain.ts')
  const kind = kindOf(error)
  return { messages: explained(error), kind, code: WRONG_USE.includes(kind) ? 2 : 1 }
}

const json = (data: unknown) => JSON.stringify(data, null, 2)
