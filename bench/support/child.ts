// Work in a child process: the module forks itself, receives jobs, and answers each.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export function forkModule(module: string, args: string[] = []): ChildProcess {
  return fork(fileURLToPath(module), ['--child', ...args], { execArgv: ['--import', 'tsx'] })
}

/** No child process outlives the bench. */
export function endWithUs(child: ChildProcess): void {
  const end = () => child.kill()
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}

/** Sends one job after the other to the child; the child ends with this process. */
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

/** The child's side: runs each job it receives, if this module was forked for it. */
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
