// Controls the receivers of webhooks from the test run.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endsWithUs } from './children.ts'
import { followLines } from './lines.ts'

/** What an endpoint does with a request, after it has read and logged it. */
export type Manner =
  | 'ok'
  /** Answers after two seconds. */
  | 'slow'
  /** Never answers. */
  | 'hang'
  | '500'
  | '404'
  | '410'
  | 'reset'
  | 'redirect'
  /** 200 and a body that never ends, as fast as it is read. */
  | 'endless'
  /** The header of an answer, one byte a second. */
  | 'drip'
  /** An answer with 16 MB of headers. */
  | 'headers'
  /** Refuses the events of one message in 16 once, and takes all others. */
  | 'picky'

/** A request to an endpoint. It was written to the log before it was answered. */
export type Delivery = {
  endpoint: string
  at: number
  webhookId: string
  /** The signature, or the token of the other format, was right. */
  isSigned: boolean
  answer: number
  /** `about`: the message or the job. */
  events: { id: string; type: string; about: string; timestamp: string }[]
}

/** Requests that must not have been made: a redirect was followed, or an address connected that is not allowed. */
type Trespass = { trespass: string }

export type Receiver = {
  /** The same port on all addresses. */
  port: number
  /** `secret`: whsec_… of an endpoint with signatures, or the token of an endpoint in the other format. */
  set(endpoint: string, how: { manner?: Manner; secret?: string }): Promise<void>
  addressOf(endpoint: string, host?: string): string
  /** Everything since the test run began, in order. */
  deliveries(): Delivery[]
  trespasses(): string[]
  /** Bytes written by `endless` endpoints until they were disconnected: the most of one answer. */
  most(): Promise<number>
  stop(): Promise<void>
}

/** Where the receiver listens, and where it must not be found: the setting allows only the first. */
export const ALLOWED = '127.0.0.1'
export const FORBIDDEN = '127.0.0.2'

export async function createReceiver(folder: string): Promise<Receiver> {
  const file = join(folder, `receiver-${++made}.jsonl`)
  writeFileSync(file, '')
  const script = fileURLToPath(new URL('./receiver-process.ts', import.meta.url))
  const child = endsWithUs(
    spawn(process.execPath, ['--import', 'tsx', script, file], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const { port, control } = await portsOf(child)
  const more = followLines<Delivery | Trespass>(file)
  const deliveries: Delivery[] = []
  const trespasses: string[] = []
  const readOn = () => {
    for (const one of more())
      if ('trespass' in one) trespasses.push(one.trespass)
      else deliveries.push(one)
  }
  const tell = async (body: unknown) => {
    const reply = await fetch(`http://127.0.0.1:${control}/`, { method: 'POST', body: JSON.stringify(body) })
    return (await reply.json()) as { most: number }
  }
  return {
    port,
    async set(endpoint, how) {
      await tell({ endpoint, ...how })
    },
    addressOf: (endpoint, host = ALLOWED) => `http://${host}:${port}/${endpoint}`,
    deliveries() {
      readOn()
      return deliveries
    },
    trespasses() {
      readOn()
      return trespasses
    },
    most: async () => (await tell({})).most,
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

let made = 0

function portsOf(child: ChildProcess): Promise<{ port: number; control: number }> {
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the receiver ended with ${code}`)))
    if (!child.stdout) return reject(new Error('the receiver has no output'))
    createInterface(child.stdout).once('line', line => resolve(JSON.parse(line)))
  })
}
