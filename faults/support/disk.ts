// A small disk that can be filled to the last byte: a tmpfs, mounted where the database is created.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export type Disk = { fill(): void; free(): void; stop(): void }

/** Gives the reason when it cannot be mounted; this needs root on a Linux that allows it. */
export function mountSmall(folder: string, megabytes: number): Disk | { problem: string } {
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', folder]
    execFileSync('mount', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).trim()
    return { problem: `a small disk cannot be mounted here (${said.split('\n')[0]})` }
  }
  const ballast = join(folder, 'ballast')
  let isMounted = true
  const stop = () => {
    if (isMounted) execFileSync('umount', ['-l', folder])
    isMounted = false
  }
  process.on('exit', stop)
  return {
    fill() {
      const file = openSync(ballast, 'a')
      for (const bytes of [1024 * 1024, 4096]) while (wrote(file, Buffer.alloc(bytes)));
      closeSync(file)
    },
    free: () => rmSync(ballast),
    stop() {
      process.off('exit', stop)
      stop()
    },
  }
}

function wrote(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length
  } catch {
    return false // full, as intended
  }
}
