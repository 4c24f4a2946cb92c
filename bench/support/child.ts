// Work in a process of its own: the module forks itself, is told its jobs, and answers each.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
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

/** Told one job after the other, each time the one before is done; ends when this process does. */
export function keepChild<Job extends object, Answer>(module: string): (job: Job) => Promise<Answer> {
  let kept: ReturnType<typeof start> | undefined
  return async job => {
    kept ??= start()
    const { child, gone } = kept
    const answer = once(child, 'message')
    child.ref()
    child.channel?.ref()
    child.send(job)
    const first = await Promise.race([answer, gone])
    child.unref()
    child.channel?.unref()
    if (first instanceof Error) throw first
    return first[0] as Answer
  }

  function start() {
    const child = forkModule(module)
    endWithUs(child)
    return { child, gone: once(child, 'exit').then(([code]) => new Error(`${module} ended with ${code}`)) }
  }
}

/** The other side: does each job it is told, if this module was started for it. */
export function serveParent<Job, Answer>(module: string, work: (job: Job) => Promise<Answer>): void {
  if (process.argv[1] !== fileURLToPath(module) || process.argv[2] !== '--child') return
  process.on('disconnect', () => process.exit())
  process.on('message', job => {
    work(job as Job).then(
      answer => process.send?.(answer),
      error => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
