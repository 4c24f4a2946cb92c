// What a command is. Help, usage errors and docs/cli.md are made from the same rows that run.
import type { Operator } from '../audit/actor.ts'
import type { Part } from '../config/in-use.ts'
import type { Config } from '../config/index.ts'
import { currentOperator } from '../operator.ts'
import type { Store } from '../parts.ts'
import { openStore } from '../store.ts'

export type Argument = { name: string; sentence: string }

export type Option = {
  name: string
  /** What stands after it, for people: `--name NAME`. Without it the option is a switch. */
  value?: string
  choices?: readonly string[]
  /** A whole number; `default` is understood too when `orDefault` is set. */
  number?: true
  orDefault?: true
  required?: true
  many?: true
  sentence: string
}

export type Command = {
  noun: string
  verb?: string
  args?: readonly Argument[]
  options?: readonly Option[]
  sentence: string
  /** What a reader of the manual should know besides. */
  more?: string
  examples?: readonly string[]
  run(io: Io, input: CommandInput): Promise<CommandOutput | undefined>
}

/** What a command has to say: for people, and for programs. */
export type CommandOutput = { text: string; data: unknown; failed?: true }

export type Io = {
  /** `part`: what is about to be started; a command that starts nothing goes without. */
  config(part?: Part): Config
  /** Says something now that is not the answer: goes to stderr when the answer must stand alone on stdout. */
  say(line: string): void
  print(output: CommandOutput): void
  /** Whether a person reads the answer on a terminal, and no program or log file. */
  isTerminal: boolean
}

/** The arguments and options of one call, already checked against the command's row. */
export type CommandInput = {
  text(name: string): string
  maybe(name: string): string | undefined
  list(name: string): string[]
  has(name: string): boolean
  /** Undefined: not given; null: `default`. */
  number(name: string): number | null | undefined
}

/** The call does not fit the command's row: told with the usage line, exit code 2. */
export class UsageError extends Error {
  readonly usage: string | undefined
  constructor(message: string, usage?: string) {
    super(message)
    this.name = 'UsageError'
    this.usage = usage
  }
}

/**
 * Connects to the database for one command. An embedded database that does not run yet is started, and stopped afterwards.
 * `statementSeconds`: for statements that may change a million rows.
 */
export const withStore =
  (
    work: (store: Store, input: CommandInput, operator: Operator) => Promise<CommandOutput>,
    { statementSeconds }: { statementSeconds?: number } = {},
  ): Command['run'] =>
  async (io, input) => {
    const store = await openStore({ ...io.config(), ...(statementSeconds && { databaseSeconds: statementSeconds }) })
    try {
      return await work(store, input, currentOperator())
    } finally {
      await store.stop()
    }
  }

export const SERVICE: Argument = {
  name: 'SERVICE',
  sentence: 'Exact name of the service, its id, or the first characters of its id (at least 8).',
}
