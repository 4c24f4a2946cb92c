// Variables that all programs of a terminal share. They are no settings of Herald, and are read before those.

export type TerminalVariables = Readonly<Record<'FORCE_COLOR' | 'NO_COLOR' | 'TERM', string | undefined>>

export const terminalVariables = (): TerminalVariables => {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env
  return { FORCE_COLOR, NO_COLOR, TERM }
}

/** The command of the person's editor; it may have arguments, such as `code --wait`. */
export const editorCommand = (): string => process.env.VISUAL || process.env.EDITOR || 'vi'
