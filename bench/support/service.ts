// The whole service, engine included, handing e-mails to a mail server; its event loop is watched from inside.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { addressOf, type House } from './house.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Loop = { p99: number; max: number }
export type Service = { address: string; pid: number; loop(): Promise<Loop>; stop(): Promise<void> }

// Inside the service's own process, and nowhere in its code: answers with the delays of its event loop since it was last asked.
const WATCH = `
import { isMainThread } from 'node:worker_threads'
import { monitorEventLoopDelay } from 'node:perf_hooks'
if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  process.on('message', () => {
    process.send({ p99: (delay.percentile(99) - 5e6) / 1e6, max: (delay.max - 5e6) / 1e6 })
    delay.reset()
  })
  process.channel.unref()
}`

export async function startService(house: House, smtpPort: number, profile?: string): Promise<Service> {
  const child = spawn(
    process.execPath,
    [
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []),
      '--import',
      `data:text/javascript,${encodeURIComponent(WATCH)}`,
      'bin/herald.js',
      'start',
      '--json',
    ],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      env: {
        PATH: process.env.PATH ?? '',
        HERALD_DATA: house.store.config.dataFolder,
        HERALD_PORT: '0',
        HERALD_EMAIL_PROVIDERS: 'smtp',
        HERALD_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
      },
    },
  )
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    address: await addressOf(child),
    pid: child.pid ?? 0,
    loop: () =>
      new Promise(resolve => {
        child.once('message', told => resolve(told as Loop))
        child.send('loop')
      }),
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}
