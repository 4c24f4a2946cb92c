// Help and usage lines, generated from the table of commands.
import type { CommandEntry, Option } from './command.ts'
import { facts } from './print.ts'

export const nameOf = ({ noun, verb }: CommandEntry) => (verb === undefined ? noun : `${noun} ${verb}`)

export function usageOf(command: CommandEntry): string {
  const options = (command.options ?? []).map(option => {
    const text = withValue(option)
    return option.required ? text : `[${text}]${option.many ? '…' : ''}`
  })
  const short = options.length > 6 ? ['[OPTIONS]'] : options
  return [
    'herald',
    nameOf(command),
    ...(command.args ?? []).map(arg => (arg.optional ? `[${arg.name}]` : arg.name)),
    ...short,
    '[--json]',
  ].join(' ')
}

export function help(commands: readonly CommandEntry[], all: readonly CommandEntry[]): string {
  const [command] = commands
  if (commands.length === 1 && command) return helpOf(command)
  if (commands.length === all.length) return wholeHelp(all)
  return [
    `Usage: herald ${command?.noun} VERB`,
    '',
    overview(commands),
    '',
    `More: herald ${command?.noun} VERB --help`,
  ].join('\n')
}

function wholeHelp(all: readonly CommandEntry[]): string {
  return [
    'Herald sends e-mails and text messages from templates, over one HTTP interface, on PostgreSQL alone.',
    '',
    'Usage: herald COMMAND',
    '',
    overview(all),
    '',
    'Every command takes --json (output as one JSON document) and --help.',
    'Commands work whether or not the service runs. Settings: docs/settings.md. Manual: docs/cli.md.',
  ].join('\n')
}

const overview = (commands: readonly CommandEntry[]) =>
  indented(facts(commands.map(command => [nameOf(command), command.sentence])))

function helpOf(command: CommandEntry): string {
  const args = (command.args ?? []).map(({ name, sentence }) => [name, sentence] as const)
  const options = (command.options ?? []).map(option => [withValue(option), sentenceOf(option)] as const)
  const json = ['--json', 'Print one JSON document.'] as const
  return [
    `Usage: ${usageOf(command)}`,
    '',
    command.sentence,
    ...(command.more ? [command.more] : []),
    '',
    indented(facts([...args, ...options, json])),
    ...(command.examples ? ['', 'For example:', ...command.examples.map(line => `  ${line}`)] : []),
  ].join('\n')
}

export const withValue = ({ name, value, choices }: Option) =>
  value === undefined ? `--${name}` : `--${name} ${choices?.join('|') ?? value}`

export const sentenceOf = ({ sentence, required }: Option) => (required ? `${sentence} (required)` : sentence)

const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '  ')

/** The table of commands for `herald --help --json`. */
export const described = (commands: readonly CommandEntry[]) => ({
  commands: commands.map(command => ({
    command: nameOf(command),
    usage: usageOf(command),
    sentence: command.sentence,
    arguments: command.args ?? [],
    options: command.options ?? [],
  })),
})
