// Controls a hostile tenant from the test run.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endsWithUs } from './children.ts'

export type Attack = {
  what: 'list' | 'drip' | 'keys' | 'rendered' | 'phones' | 'bulk' | 'pages'
  address: string
  key: string
  template: string
  connections: number
  /** What `pages` opens, in turn, and with which cookie. */
  paths?: readonly string[]
  cookie?: string
}

export type Hostile = {
  /** The number of answers by status; 0: the connection was closed without one. */
  answered(): Record<string, number>
  stop(): Promise<void>
}

/** Resolves when the attack has begun. */
export async function attackWith(attack: Attack): Promise<Hostile> {
  const script = fileURLToPath(new URL('./hostile-process.ts', import.meta.url))
  const child = endsWithUs(
    spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(attack)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let answered: Record<string, number> = {}
  await new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the hostile tenant ended with ${code}`)))
    createInterface(child.stdout).on('line', line => {
      if (line === 'begun') resolve()
      else answered = JSON.parse(line) as Record<string, number>
    })
  })
  return {
    answered: () => answered,
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
