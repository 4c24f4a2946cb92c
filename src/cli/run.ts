// Runs one call of the program and returns its exit code.
import type { Part } from '../config/in-use.ts'
import { type Config, readSettings } from '../config/index.ts'
import { NothingHere } from '../store.ts'
import { heraldVersion } from '../version.ts'
import { type CommandOutput, type Io, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { explained } from './explain.ts'
import { described, help, usageOf } from './help.ts'
import { read } from './parse.ts'

/** `isTerminal`: `out` is a terminal. */
export type Streams = { out(text: string): void; err(text: string): void; isTerminal?: boolean }

export async function run(
  argv: readonly string[],
  { out, err, isTerminal = false }: Streams,
  settings: (part?: Part) => Config = part => readSettings(sentence => err(`${sentence}\n`), part ? { part } : {}),
): Promise<0 | 1 | 2> {
  const typed = read(commands, argv)
  let config: Config | undefined
  const print = ({ data, text }: CommandOutput) => out(`${typed.isJson ? json(data) : text}\n`)
  const io: Io = {
    config: part => (config ??= settings(part)),
    say: line => (typed.isJson ? err : out)(`${line}\n`),
    print: ({ data, text }) => out(`${typed.isJson ? JSON.stringify(data) : text}\n`),
    isTerminal: isTerminal && !typed.isJson,
  }
  try {
    const call = typed.call()
    if (call.kind === 'version') {
      print({ text: `herald ${heraldVersion()}`, data: { version: heraldVersion() } })
      return 0
    }
    if (call.kind === 'help') {
      print({ text: help(call.commands, commands), data: described(call.commands) })
      return 0
    }
    const output = await call.command.run(io, call.input).catch(error => {
      // A command validates some values itself; its UsageError gets the usage line here.
      throw error instanceof UsageError ? new UsageError(error.message, error.usage ?? usageOf(call.command)) : error
    })
    if (output) print(output)
    return output?.failed ? 1 : 0
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${error.message}\nUsage: ${error.usage ?? 'herald COMMAND (herald --help lists them)'}\n`)
      return 2
    }
    err(`${explained(error).join('\n')}\n`)
    if (error instanceof NothingHere) return 2
    if (error instanceof Error && (config?.logLevel === 'debug' || config?.logLevel === 'trace'))
      err(`${error.stack}\n`)
    return 1
  }
}

const json = (data: unknown) => JSON.stringify(data, null, 2)
