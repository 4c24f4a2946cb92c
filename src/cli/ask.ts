// A question to a person. It goes to standard error, so that the answer of a command stands alone on standard output.
import { createInterface } from 'node:readline'

export const isAtTerminal = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Only yes is yes; Ctrl-C and the end of input are no. */
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
