// The files of commands, in the order of the help. A command imports what it needs only when it runs, because all imports together
// take a second: help, usage errors and completion use the generated table (table.ts).
import type { Command, CommandEntry } from './command.ts'

type CommandFile = () => Promise<{ commands: readonly Command[] }>

export const files: Readonly<Record<string, CommandFile>> = {
  start: () => import('./start.ts'),
  doctor: () => import('./doctor.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  'upgrade-database': () => import('./upgrade-database.ts'),
  hold: () => import('./hold.ts'),
  provider: () => import('./provider.ts'),
  'file-store': () => import('./file-store.ts'),
  sample: () => import('./sample.ts'),
  service: () => import('./service.ts'),
  transfer: () => import('./transfer.ts'),
  move: () => import('./move.ts'),
  key: () => import('./key.ts'),
  user: () => import('./user.ts'),
  lists: () => import('./lists.ts'),
  template: () => import('./template.ts'),
  templates: () => import('./templates.ts'),
  send: () => import('./send.ts'),
  check: () => import('./check.ts'),
  'job-file': () => import('./job-file.ts'),
  job: () => import('./job.ts'),
  message: () => import('./message.ts'),
  events: () => import('./events.ts'),
  webhook: () => import('./webhook.ts'),
  inbox: () => import('./inbox.ts'),
  audit: () => import('./audit.ts'),
  completion: () => import('./completion.ts'),
}

/** Imports the file of a command and returns the command. */
export async function load({ file, noun, verb }: CommandEntry): Promise<Command> {
  const found = (await files[file]?.())?.commands.find(command => command.noun === noun && command.verb === verb)
  if (!found) throw new Error(`src/cli/table.ts is out of date: ${file}.ts has no command ${noun} ${verb ?? ''}`.trim())
  return found
}

/** The table as the files of commands have it now; table.ts is generated from it. */
export async function currentTable(): Promise<CommandEntry[]> {
  const entries: CommandEntry[] = []
  for (const [file, open] of Object.entries(files))
    for (const { run: _, ...entry } of (await open()).commands) entries.push({ file, ...entry })
  return entries
}

/** src/cli/table.ts */
export const tableSource = (
  entries: readonly CommandEntry[],
): string => `// Every command without its function. Generated from src/cli; do not edit: npm run generate
import type { CommandEntry } from './command.ts'

export const table: readonly CommandEntry[] = ${JSON.stringify(entries, null, 2)}
`
