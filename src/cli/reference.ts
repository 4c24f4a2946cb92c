// The manual of the command line, made from the table of commands.
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import { nameOf, sentenceOf, usageOf, withValue } from './help.ts'

/** docs/cli.md */
export function cliReference(all: readonly Command[] = commands): string {
  const nouns = [...new Set(all.map(command => command.noun))]
  return `${[
    '# The command line',
    '',
    '<!-- Made from the table of commands in src/cli. Do not edit: npm run generate -->',
    '',
    'In a checkout: `npx herald COMMAND`. Commands work while the service runs and while it does not; a running service knows of every change at once.',
    '',
    '- `--json` on any command answers with one JSON document on stdout and nothing else.',
    '- `--help` explains a command; `herald help NOUN` lists what can be done with a noun.',
    '- Arguments may be given by name too: `--service X` for `SERVICE`. Names with spaces go in quotes.',
    '- `SERVICE` is the exact name of a service, its id, or the first characters of its id (at least 8).',
    '- Plurals (`keys list`) and the words `ls`, `rm`, `delete`, `new`, `get`, `update` are understood.',
    '- Commands read the same settings as the service: the environment, and the settings file (`herald.env`, see [running.md](running.md)).',
    '- Only `herald start` makes a database. Without one, every other command says where it looked and ends with exit code 2.',
    '- Exit codes: 0 done, 1 failed, 2 wrong usage or no database here. What went wrong is said on stderr.',
    '',
    '| command | what it does |',
    '|---|---|',
    ...all.map(
      command => `| [\`${nameOf(command)}\`](#${nameOf(command).replace(' ', '-')}) | ${cell(command.sentence)} |`,
    ),
    ...nouns.flatMap(noun => all.filter(command => command.noun === noun).flatMap(section)),
  ].join('\n')}\n`
}

function section(command: Command): string[] {
  const rows = [
    ...(command.args ?? []).map(({ name, sentence }) => [`\`${name}\``, sentence]),
    ...(command.options ?? []).map(option => [`\`${withValue(option)}\``, sentenceOf(option)]),
  ]
  return [
    '',
    `## ${nameOf(command)}`,
    '',
    [command.sentence, command.more].filter(Boolean).join(' '),
    '',
    '```',
    usageOf(command),
    '```',
    ...(rows.length > 0
      ? ['', '| | |', '|---|---|', ...rows.map(row => `| ${row.map(text => cell(text ?? '')).join(' | ')} |`)]
      : []),
    ...(command.examples ? ['', '```sh', ...command.examples, '```'] : []),
  ]
}

const cell = (text: string) => text.replaceAll('|', '\\|')
