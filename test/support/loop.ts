// How long the event loop was blocked while something ran.
import { Worker } from 'node:worker_threads'
import { cpuMilliseconds } from './cpu.ts'

const EVERY_MS = 2

/**
 * The longest time in ms between two turns of this thread's event loop while `work` runs. In CPU time where the system reports
 * it, so that other programs do not count.
 */
export async function longestWork(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = cpuMilliseconds()
  const timer = setInterval(() => {
    const now = cpuMilliseconds()
    longest = Math.max(longest, now - before)
    before = now
  }, EVERY_MS)
  try {
    await new Promise(resume => setTimeout(resume, 5 * EVERY_MS))
    longest = 0
    await work()
    await new Promise(resume => setTimeout(resume, 5 * EVERY_MS))
  } finally {
    clearInterval(timer)
  }
  return longest
}

/** What `hostile` adds to the longest work of `usual`. Work that is there each time is in the smallest of several. */
export async function addedPause(usual: () => Promise<unknown>, hostile: () => Promise<unknown>): Promise<number> {
  const added: number[] = []
  for (let n = 0; n < 4; n++) {
    const before = await longestWork(usual)
    added.push((await longestWork(hostile)) - before)
    if (added.some(ms => ms < 20)) break
  }
  return Math.min(...added)
}

/**
 * Asks the same again and again from a thread of its own, so that its work is not counted as the service's: posts the body, or
 * gets when there is none.
 */
export async function createCaller(
  port: number,
  path: string,
  key: string,
  body: string | null,
  headers: Record<string, string> = {},
) {
  const workerData = { port, path, key, body: body === null ? null : Buffer.from(body), headers }
  const worker = new Worker(CALLER, { eval: true, workerData })
  return {
    ask: () =>
      new Promise<number>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.postMessage('ask')
      }),
    stop: () => worker.terminate(),
  }
}

const CALLER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const http = require('node:http')
  const { port, path, key, body } = workerData
  const headers = { authorization: 'ApiKey-v1 ' + key, ...workerData.headers }
  if (body) Object.assign(headers, { 'content-type': 'application/json', 'content-length': body.length })
  parentPort.on('message', () => {
    const request = http.request({ port, path, method: body ? 'POST' : 'GET', headers }, answer => {
      answer.resume()
      answer.on('end', () => parentPort.postMessage(answer.statusCode))
    })
    request.end(body ?? undefined)
  })`
