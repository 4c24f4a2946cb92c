// Whatever the harness has started ends with it, also when it ends in the middle; by id, and only that.
import type { ChildProcess } from 'node:child_process'

const children = new Set<ChildProcess>()

export function endsWithUs<T extends ChildProcess>(child: T): T {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
