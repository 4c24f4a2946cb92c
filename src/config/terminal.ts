// Variables that all programs of a terminal share. They are no settings of Herald, and are read before those.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type TerminalVariables = Readonly<Record<'FORCE_COLOR' | 'NO_COLOR' | 'TERM', string | undefined>>

export const terminalVariables = (): TerminalVariables => {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env
  return { FORCE_COLOR, NO_COLOR, TERM }
}

/** Whether a program is on the PATH. Folders that npm adds are there for its own commands only. */
export const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .some(folder => folder !== '' && !/node_modules[/\\]\.bin[/\\]?$/.test(folder) && existsSync(join(folder, program)))

/** The command of the person's editor; it may have arguments, such as `code --wait`. */
export const editorCommand = (): string => process.env.VISUAL || process.env.EDITOR || 'vi'
