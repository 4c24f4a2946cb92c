// Child processes of the test run end with it, also when it is interrupted; by id, and no others.
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
