// Asks for confirmation. The question goes to stderr, because stdout holds only the output of the command.
import { createInterface } from 'node:readline'

export const isAtTerminal = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** False for anything but y or yes, also for Ctrl-C and the end of input. */
export const agrees = (question: string): Promise<boolean> =>
  new Promise(resolve => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => resolve(false))
    lines.question(question, answer => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      lines.close()
    })
  })
