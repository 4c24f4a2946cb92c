// Parses the command line into a command and its input, or throws a UsageError that says what is wrong.
import { parseArgs } from 'node:util'
import { nearest } from '../runtime/near.ts'
import { type CommandEntry, type CommandInput, type Option, UsageError } from './command.ts'
import { usageOf } from './help.ts'

export type Call =
  | { kind: 'help'; commands: readonly CommandEntry[] }
  | { kind: 'version' }
  | { kind: 'run'; command: CommandEntry; input: CommandInput }

export type Typed = { isJson: boolean; call(): Call }

/** Aliases of verbs. An alias works for commands that have one of the verbs it stands for. */
const otherVerbs: Record<string, readonly string[]> = {
  ls: ['list'],
  rm: ['remove', 'revoke'],
  delete: ['remove', 'revoke'],
  remove: ['revoke'],
  new: ['create', 'add'],
  add: ['create'],
  create: ['add'],
  update: ['set'],
  change: ['set'],
  get: ['show'],
}

/** `--json` is read before anything else is parsed, so that the output format is known even for an invalid call. */
export function read(commands: readonly CommandEntry[], argv: readonly string[]): Typed {
  return { isJson: beforeDashes(argv).some(word => word.toLowerCase() === '--json'), call: () => find(commands, argv) }
}

function find(commands: readonly CommandEntry[], argv: readonly string[]): Call {
  const rest = [...argv]
  const wantsHelp = beforeDashes(argv).some(word => word === '--help' || word === '-h')
  const first = takeWord(rest)
  if (first === undefined) {
    const unknown = rest.find(word => !isGlobal(word))
    if (unknown) throw new UsageError(`Give a command before ${unknown}.`)
    return rest.some(word => word === '--version' || word === '-V') ? { kind: 'version' } : { kind: 'help', commands }
  }
  if (first === 'help') return helpFor(commands, rest)
  if (plainName(first) === 'version') return { kind: 'version' }
  const ofNoun = nounOf(commands, first)
  const [only] = ofNoun
  if (only && only.verb === undefined) return wantsHelp ? { kind: 'help', commands: [only] } : run(only, rest)
  const verb = takeWord(rest)
  if (verb === undefined) {
    if (wantsHelp) return { kind: 'help', commands: ofNoun }
    throw new UsageError(`Give a verb for ${only?.noun}: ${orList(verbsOf(ofNoun))}.`, usageOfNoun(ofNoun))
  }
  const command = verbOf(ofNoun, verb)
  return wantsHelp ? { kind: 'help', commands: [command] } : run(command, rest)
}

function helpFor(commands: readonly CommandEntry[], rest: string[]): Call {
  const noun = takeWord(rest)
  if (noun === undefined) return { kind: 'help', commands }
  const ofNoun = nounOf(commands, noun)
  const verb = takeWord(rest)
  return { kind: 'help', commands: verb === undefined ? ofNoun : [verbOf(ofNoun, verb)] }
}

function nounOf(commands: readonly CommandEntry[], word: string): readonly CommandEntry[] {
  const plain = plainName(word)
  // `templates` is a noun of its own and the plural of `template`: own verbs come first, then those of the other.
  const found = [
    ...commands.filter(({ noun }) => noun === plain),
    ...commands.filter(({ noun }) => `${noun}s` === plain || noun === `${plain}s`),
  ]
  if (found.length > 0) return found
  const nouns = [...new Set(commands.map(command => command.noun))]
  throw new UsageError(`There is no command "${word}".${hint(nouns, plain, near => `herald ${near}`)}`)
}

function verbOf(ofNoun: readonly CommandEntry[], word: string): CommandEntry {
  const plain = plainName(word)
  const wanted = [plain, ...(otherVerbs[plain] ?? [])]
  for (const verb of wanted) {
    const found = ofNoun.find(command => command.verb === verb)
    if (found) return found
  }
  const noun = ofNoun[0]?.noun ?? ''
  const verbs = verbsOf(ofNoun)
  const near = hint(verbs, plain, verb => `herald ${noun} ${verb}`)
  throw new UsageError(`There is no command "${noun} ${word}".${near}`, usageOfNoun(ofNoun))
}

const verbsOf = (ofNoun: readonly CommandEntry[]) => [...new Set(ofNoun.flatMap(command => command.verb ?? []))]
const usageOfNoun = (ofNoun: readonly CommandEntry[]) => `herald ${ofNoun[0]?.noun} ${verbsOf(ofNoun).join('|')} …`

function run(command: CommandEntry, rest: readonly string[]): Call {
  const known = optionsOf(command)
  const { tokens } = parseArgs({
    args: withPlainNames(rest),
    options: Object.fromEntries(
      known.flatMap(({ name, formerly = [], value }) =>
        [name, ...formerly].map(spelling => [spelling, { type: value ? 'string' : 'boolean' }]),
      ),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const values = new Map<string, string[]>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const option = known.find(({ name, formerly }) => name === token.name || formerly?.includes(token.name))
    if (!option) throw unknownOption(command, known, token.rawName)
    const before = values.get(option.name) ?? []
    if (before.length > 0 && !option.many && option.value)
      throw new UsageError(`--${option.name} is given twice.`, usageOf(command))
    if (!option.value && token.value !== undefined)
      throw new UsageError(`--${option.name} is a switch and takes no value.`, usageOf(command))
    values.set(option.name, [...before, option.value ? readValue(command, option, token) : ''])
  }
  placeWords(command, words, values)
  for (const { name, required, sentence } of command.options ?? [])
    if (required && !values.has(name)) throw new UsageError(`--${name} is missing. ${sentence}`, usageOf(command))
  return { kind: 'run', command, input: inputFrom(command, values) }
}

const globals: readonly Option[] = [
  { name: 'json', sentence: 'Print one JSON document.' },
  { name: 'help', sentence: 'Explain the command.' },
]

/** Arguments may also be given by name: `--service X` for SERVICE. */
function optionsOf(command: CommandEntry): readonly Option[] {
  const args = (command.args ?? []).map(({ name, ...arg }) => ({ ...arg, name: name.toLowerCase(), value: name }))
  return [...(command.options ?? []), ...args, ...globals]
}

type OptionToken = { value: string | undefined; inlineValue: boolean | undefined }

function readValue(command: CommandEntry, option: Option, { value, inlineValue }: OptionToken): string {
  const isForgotten = value === undefined || (!inlineValue && value.startsWith('-') && value.length > 1)
  if (isForgotten)
    throw new UsageError(`--${option.name} needs a value: --${option.name} ${option.value}`, usageOf(command))
  if (option.choices) {
    const plain = value.toLowerCase()
    const chosen = option.choices.find(choice => choice === (option.synonyms?.[plain] ?? plain))
    if (!chosen)
      throw new UsageError(`--${option.name} takes ${orList(option.choices)}, not "${value}".`, usageOf(command))
    return chosen
  }
  const isDefault = option.orDefault && value.toLowerCase() === 'default'
  if (option.number && !isDefault && !/^\d{1,15}$/.test(value))
    throw new UsageError(
      `--${option.name} takes a whole number${option.orDefault ? ' or `default`' : ''}, not "${value}".`,
      usageOf(command),
    )
  return value
}

function placeWords(command: CommandEntry, words: string[], values: Map<string, string[]>) {
  for (const { name, sentence, optional, choices } of command.args ?? []) {
    if (values.has(name.toLowerCase())) continue
    const word = words.shift()
    if (word === undefined && optional) continue
    if (word === undefined || word.trim() === '')
      throw new UsageError(`${name} is missing. ${sentence}`, usageOf(command))
    if (choices && !choices.includes(word))
      throw new UsageError(`${name} is ${orList(choices)}, not "${word}".`, usageOf(command))
    values.set(name.toLowerCase(), [word])
  }
  if (words.length > 0)
    throw new UsageError(`"${words.join(' ')}" was not expected. Put names with spaces in quotes.`, usageOf(command))
}

function inputFrom(command: CommandEntry, values: Map<string, string[]>): CommandInput {
  const one = (name: string) => values.get(name.toLowerCase())?.at(-1)
  return {
    text(name) {
      const value = one(name)
      if (value === undefined) throw new UsageError(`${name} is missing.`, usageOf(command))
      return value
    },
    maybe: one,
    list: name => values.get(name) ?? [],
    has: name => values.has(name),
    number(name) {
      const value = one(name)
      if (value === undefined) return undefined
      return value.toLowerCase() === 'default' ? null : Number(value)
    },
  }
}

function unknownOption(command: CommandEntry, known: readonly Option[], rawName: string): UsageError {
  const names = known.map(option => `--${option.name}`)
  return new UsageError(`There is no option ${rawName} here.${hint(names, rawName, near => near)}`, usageOf(command))
}

const isGlobal = (word: string) => /^(--(json|help|version)|-[hV])$/i.test(word)
const plainName = (word: string) => word.toLowerCase().replaceAll('_', '-')
const beforeDashes = (argv: readonly string[]) => (argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv)

/** Removes and returns the next word that is not an option. Global switches may stand anywhere. */
function takeWord(rest: string[]): string | undefined {
  const at = rest.findIndex(word => !isGlobal(word))
  const word = rest[at]
  if (word === undefined || word.startsWith('-')) return undefined
  rest.splice(at, 1)
  return word
}

// Normalises option names: --Manage_Templates=x becomes --manage-templates=x. Values stay as they are.
function withPlainNames(rest: readonly string[]): string[] {
  const end = rest.indexOf('--')
  return rest.map((word, at) => {
    if (!word.startsWith('--') || (end !== -1 && at >= end)) return word === '-h' ? '--help' : word
    const [name = '', ...value] = word.split('=')
    return [plainName(name), ...value].join('=')
  })
}

const orList = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function hint(known: readonly string[], typed: string, say: (near: string) => string): string {
  const near = nearest(known, typed)
  return near ? ` Did you mean ${say(near)}?` : ''
}
