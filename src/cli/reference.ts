// The manual of the command line, generated from the table of commands.
import type { CommandEntry } from './command.ts'
import { nameOf, sentenceOf, usageOf, withValue } from './help.ts'

/** docs/cli.md */
export function cliReference(all: readonly CommandEntry[]): string {
  const nouns = [...new Set(all.map(command => command.noun))]
  return `${[
    '# The command line',
    '',
    '<!-- Generated from the table of commands in src/cli. Do not edit: npm run generate -->',
    '',
    'In a checkout, a command is `npx herald COMMAND`; hints say so where there is no `herald` on the `PATH`. Commands work whether or not the service runs. A running service applies every change at once.',
    '',
    '- `--json` on any command prints one JSON document on stdout and nothing else. An error is then one line of JSON, the last one on stderr: `{"errors": [{"error", "message"}], "usage", "exit_code"}`.',
    '- On a terminal, tables are cut to its width; ids become their first characters where commands take those. Statuses, headings, errors and differences have colours. Other programs get all columns, uncut, without colours. `NO_COLOR` (or `TERM=dumb`) switches colours off, `FORCE_COLOR` on, `FORCE_COLOR=0` off; with `--json` there are none.',
    '- What takes longer than a second shows its progress on stderr: one line on a terminal, which disappears; otherwise a line every five seconds, where it is known how much there is.',
    '- `--help` explains a command; `herald help NOUN` lists the verbs of a noun.',
    '- Arguments may also be given by name: `--service X` for `SERVICE`. Put names with spaces in quotes.',
    '- `SERVICE` is the exact name of a service, its id, or the first characters of its id (at least 8).',
    '- Plurals (`keys list`), the words `ls`, `rm`, `delete`, `new`, `get`, `update`, and earlier names of options are accepted.',
    '- `herald version` and `herald --version` print the version.',
    '- Commands read the same settings as the service: the environment, and the settings file (`herald.env`, see [running.md](running.md)).',
    '- Only `herald start` creates a database. Without one, every other command says where it looked and ends with exit code 2.',
    '- Only `herald start` and `herald migrate` migrate a database. On one of an older version, every other command says so and ends with exit code 2.',
    '- Exit codes: 0 success, 1 failure, 2 wrong usage or settings, no database, or one to migrate first. Errors go to stderr.',
    '',
    '| command | description |',
    '|---|---|',
    ...all.map(
      command => `| [\`${nameOf(command)}\`](#${nameOf(command).replace(' ', '-')}) | ${cell(command.sentence)} |`,
    ),
    ...nouns.flatMap(noun => all.filter(command => command.noun === noun).flatMap(section)),
  ].join('\n')}\n`
}

function section(command: CommandEntry): string[] {
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
