// Work in a process of its own: the module forks itself, is told its job, and answers once.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function forkModule(module: string, args: string[] = []): ChildProcess {
  return fork(fileURLToPath(module), ['--child', ...args], { execArgv: ['--import', 'tsx'] })
}

/** Nothing that a bench starts outlives it. */
export function endWithUs(child: ChildProcess): void {
  const end = () => child.kill()
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}

/** Tells the module its job and waits for its answer and its end. */
export async function runChild<Answer>(module: string, job: object): Promise<Answer> {
  const child = forkModule(module)
  const gone = new Promise<number | null>(resolve => child.once('exit', resolve))
  const answer = new Promise<Answer>(resolve => child.once('message', told => resolve(told as Answer)))
  child.send(job)
  const first = await Promise.race([answer, gone.then(code => new Error(`${module} ended with ${code}`))])
  if (first instanceof Error) throw first
  await gone
  return first
}

/** The other side: does the job it is told, if this module was started for it. */
export function serveParent<Job, Answer>(module: string, work: (job: Job) => Promise<Answer>): void {
  if (process.argv[1] !== fileURLToPath(module) || process.argv[2] !== '--child') return
  process.once('message', job => {
    work(job as Job).then(
      answer => process.send?.(answer, () => process.exit(0)),
      error => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
