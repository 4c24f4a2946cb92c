// Asks for confirmation, or for a secret. The question goes to stderr, because stdout holds only the output of the command.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

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

/** What is typed is not shown. Rejects after Ctrl-C and at the end of input. */
export const asksSecretly = (question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    process.stderr.write(question)
    const nothing = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input: process.stdin, output: nothing, terminal: true })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => reject(new Error('No passphrase was typed.')))
    lines.question('', answer => {
      resolve(answer)
      process.stderr.write('\n')
      lines.close()
    })
  })
