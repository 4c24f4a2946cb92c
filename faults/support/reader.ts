// Controls a reader of the feed from the test run. It is killed and goes on from the cursor it has stored.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endsWithUs } from './children.ts'
import { followLines } from './lines.ts'

export type Following = { addresses: string[]; key: string; file: string; limit: number; wait: number }

/** A page that was read, with the cursor after it: one line, so both are stored or none. */
export type Page = {
  cursor: string
  at: number
  events: { id: string; type: string; about: string; timestamp: string }[]
}

export type Reader = {
  pages(): Page[]
  kill(): Promise<void>
  start(): void
  stop(): Promise<void>
}

export function createReader(folder: string, options: Omit<Following, 'file'>): Reader {
  const file = join(folder, `reader-${++made}.jsonl`)
  writeFileSync(file, '')
  const script = fileURLToPath(new URL('./reader-process.ts', import.meta.url))
  const more = followLines<Page>(file)
  const pages: Page[] = []
  let child: ChildProcess | null = null
  let gone: Promise<void> = Promise.resolve()
  function start() {
    const started = endsWithUs(
      spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify({ ...options, file } satisfies Following)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    )
    child = started
    gone = new Promise(resolve => started.once('exit', () => resolve()))
  }
  async function kill() {
    child?.kill('SIGKILL')
    await gone
  }
  start()
  return {
    pages() {
      pages.push(...more())
      return pages
    },
    kill,
    start,
    stop: kill,
  }
}

let made = 0
