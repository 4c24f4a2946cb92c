// The type of a command. Help, usage errors and docs/cli.md are generated from the same table that is run.
import type { Operator } from '../audit/actor.ts'
import type { Part } from '../config/in-use.ts'
import type { Config } from '../config/index.ts'
import { currentOperator } from '../operator.ts'
import type { Store } from '../parts.ts'
import type { Text } from './print.ts'
import type { Progress, Screen } from './terminal.ts'

export type Argument = { name: string; sentence: string; optional?: true; choices?: readonly string[] }

export type Option = {
  name: string
  /** Placeholder of the value in the help: `--name NAME`. Without it the option is a switch. */
  value?: string
  choices?: readonly string[]
  /** Other spellings of choices, accepted and not shown: the spelling and the choice. */
  synonyms?: Readonly<Record<string, string>>
  /** Earlier names of the option, accepted and not shown: scripts may use them. */
  formerly?: readonly string[]
  /** The value is a whole number, or `default` when `orDefault` is set. */
  number?: true
  orDefault?: true
  required?: true
  /** May be given several times. */
  many?: true
  sentence: string
}

export type Command = {
  noun: string
  verb?: string
  args?: readonly Argument[]
  options?: readonly Option[]
  sentence: string
  /** Details for --help and the manual, after the sentence. */
  more?: string
  examples?: readonly string[]
  run(io: Io, input: CommandInput): Promise<CommandOutput | undefined>
}

/** A command without its function, as in the generated table. `file`: the file in src/cli that has it. */
export type CommandEntry = Omit<Command, 'run'> & { file: string }

/** `text` is printed for people, `data` with --json. `failed`: exit code 1. */
export type CommandOutput = { text: Text; data: unknown; failed?: true }

export type Io = {
  /** `part`: the part of Herald that is about to start; undefined for commands that start none. */
  config(part?: Part): Config
  /** Prints a message at once; with --json to stderr, because stdout holds only the output. */
  say(line: string): void
  /** For questions, which go to stderr. */
  errorScreen: Screen
  /** What takes over a second shows how far it is, on stderr. */
  progress: Progress
  print(output: CommandOutput): void
  /** The output goes to a terminal, not to a program or a file. */
  isTerminal: boolean
}

/** Arguments and options of one call, already validated. */
export type CommandInput = {
  text(name: string): string
  maybe(name: string): string | undefined
  list(name: string): string[]
  has(name: string): boolean
  /** Undefined: not given; null: `default`. */
  number(name: string): number | null | undefined
}

/** Invalid arguments or options: printed with the usage line, exit code 2. */
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
    work: (store: Store, input: CommandInput, operator: Operator, io: Io) => Promise<CommandOutput>,
    { statementSeconds }: { statementSeconds?: number } = {},
  ): Command['run'] =>
  async (io, input) => {
    // Imported here: help and usage errors, which need this file, must not wait for it.
    const { openStore } = await import('../store.ts')
    io.progress.show('Opening the database')
    const store = await openStore({ ...io.config(), ...(statementSeconds && { databaseSeconds: statementSeconds }) })
    try {
      io.progress.show('Working')
      return await work(store, input, currentOperator(), io)
    } finally {
      await store.stop()
    }
  }

/** `normal` is the word of the database, of events and of webhooks. */
export const KEY_TYPE_CHOICES = { choices: ['live', 'team', 'test'], synonyms: { normal: 'live' } } as const

/** How many entries a list has. */
export const limitOption = (sentence: string) =>
  ({ name: 'limit', value: 'NUMBER', number: true, formerly: ['most'], sentence }) as const satisfies Option

export const SERVICE: Argument = {
  name: 'SERVICE',
  sentence: 'Exact name of the service, its id, or the first characters of its id (at least 8).',
}
