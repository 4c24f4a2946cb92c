// Help and usage lines, generated from the table of commands.
import type { CommandEntry, Option } from './command.ts'
import { type Block, facts, painted, paragraph, type Text, usageLine } from './print.ts'

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

export function help(commands: readonly CommandEntry[], all: readonly CommandEntry[]): Text {
  const [command] = commands
  if (commands.length === 1 && command) return helpOf(command)
  if (commands.length === all.length) return wholeHelp(all)
  return [
    `Usage: herald ${command?.noun} VERB`,
    '',
    overview(commands),
    '',
    `More: herald ${command?.noun} VERB --help`,
  ]
}

function wholeHelp(all: readonly CommandEntry[]): Text {
  return [
    paragraph('Herald sends e-mails and text messages from templates, over one HTTP interface, on PostgreSQL alone.'),
    '',
    'Usage: herald COMMAND',
    '',
    overview(all),
    '',
    'Every command takes --json (output as one JSON document) and --help.',
    paragraph('Commands work whether or not the service runs. Settings: docs/settings.md. Manual: docs/cli.md.'),
  ]
}

const overview = (commands: readonly CommandEntry[]) =>
  indented(
    facts(
      commands.map(command => [nameOf(command), command.sentence]),
      'bold',
    ),
  )

function helpOf(command: CommandEntry): Text {
  const args = (command.args ?? []).map(({ name, sentence }) => [name, sentence] as const)
  const options = (command.options ?? []).map(option => [withValue(option), sentenceOf(option)] as const)
  const json = ['--json', 'Print one JSON document.'] as const
  return [
    usageLine(usageOf(command)),
    '',
    paragraph(command.sentence),
    ...(command.more ? [paragraph(command.more)] : []),
    '',
    indented(facts([...args, ...options, json], 'bold')),
    ...(command.examples ? ['', painted('bold', 'For example:'), ...command.examples.map(line => `  ${line}`)] : []),
  ]
}

export const withValue = ({ name, value, choices }: Option) =>
  value === undefined ? `--${name}` : `--${name} ${choices?.join('|') ?? value}`

export const sentenceOf = ({ sentence, required }: Option) => (required ? `${sentence} (required)` : sentence)

const indented =
  (block: Block): Block =>
  screen => {
    const inner = { ...screen, columns: screen.columns === null ? null : screen.columns - 2 }
    return (typeof block === 'string' ? block : block(inner)).replaceAll(/^(?=.)/gm, '  ')
  }

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
