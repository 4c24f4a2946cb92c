// Controls the fake providers from the test run.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ScannerMode } from '../../test/support/scanner.ts'
import type { SmppMode } from '../../test/support/smpp-server.ts'
import { endsWithUs } from './children.ts'
import { followLines } from './lines.ts'

export type What =
  | 'ok'
  | 'slow'
  | '4xx'
  | '4xx-end'
  | '421'
  | '429'
  | '503'
  | '5xx'
  | 'reset-before'
  | 'reset-after'
  | 'hang-after'
  | 'garbage'
  | 'garbage-early'
  | 'half-line'

/** For recipients with this prefix, the behaviour of the first `times` attempts, per recipient. */
export type Rule = { prefix: string; what: What | SmppMode; times: number }

export type Settings = {
  smtp: 'ok' | 'refuse' | 'hang' | 'garbage' | '421'
  http: What
  scanner: ScannerMode | 'down'
  delayMs: number
  rules: Rule[]
  receipts: { mode: 'early' | 'late' | 'mixed'; twice: boolean; secret: string; urls: string[] } | null
}

/** SMPP messages have no id: the environment finds it by the token. A file shown to the scanner is not an arrival. */
export type Arrival = {
  channel: 'email' | 'sms' | 'scan'
  id: string
  messageId: string
  to: string
  token: string
  hash: string
  answer: Rule['what']
  /** It contains the test virus. */
  hasVirus?: boolean
  at: number
}

export type Sink = {
  smtpPort: number
  httpPort: number
  smppPort: number
  scannerUrl: string
  set(settings: Partial<Settings>): Promise<void>
  /** Everything that has arrived since the test run began. */
  arrivals(): Arrival[]
  /** The number of files sent to the scanner. */
  scans(): number
  stop(): Promise<void>
}

/** The mail server and the text provider over HTTP listen on this host; everything else on the loopback. */
export async function createSink(folder: string, host = '127.0.0.1'): Promise<Sink> {
  const file = join(folder, 'sink.jsonl')
  writeFileSync(file, '')
  const script = fileURLToPath(new URL('./sink-process.ts', import.meta.url))
  const child = endsWithUs(
    spawn(process.execPath, ['--import', 'tsx', script, file, host], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const ports = await portsOf(child)
  const more = followLines<Arrival>(file)
  const arrivals: Arrival[] = []
  let scans = 0

  function readOn() {
    for (const arrival of more())
      if (arrival.channel === 'scan') scans++
      else arrivals.push(arrival)
  }

  return {
    smtpPort: ports.smtp,
    httpPort: ports.http,
    smppPort: ports.smpp,
    scannerUrl: ports.scanner,
    async set(settings) {
      await fetch(`http://127.0.0.1:${ports.control}/`, { method: 'POST', body: JSON.stringify(settings) })
    },
    arrivals() {
      readOn()
      return arrivals
    },
    scans() {
      readOn()
      return scans
    },
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

type Ports = { smtp: number; http: number; smpp: number; scanner: string; control: number }

function portsOf(child: ChildProcess): Promise<Ports> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the sink ended with ${code}`)))
    if (!child.stdout) return reject(new Error('the sink has no output'))
    createInterface(child.stdout).once('line', line => resolve(JSON.parse(line)))
  })
}
