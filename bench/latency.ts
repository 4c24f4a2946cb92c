// How soon a single e-mail reaches a mail server through an idle service, from before its request to its arrival; and what
// the idle service costs.
// npm run bench -- latency [--messages 200]
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cpuSeconds } from './support/cpu.ts'
import { createHouse } from './support/house.ts'
import { figure, print, table } from './support/report.ts'
import { personalisation } from './support/requests.ts'
import { startService } from './support/service.ts'
import { startSink } from './support/sink.ts'

const { values } = parseArgs({ args: process.argv.slice(2), options: { messages: { type: 'string', default: '200' } } })
const IDLE_SECONDS = 10

const house = await createHouse()
const sink = await startSink()
const service = await startService(house, sink.port)
try {
  const body = JSON.stringify({
    email_address: 'ada@example.org',
    template_id: house.templates.email,
    personalisation: personalisation(1),
  })
  const send = () =>
    fetch(`${service.address}/v2/notifications/email`, {
      method: 'POST',
      headers: { authorization: `ApiKey-v1 ${house.key}`, 'content-type': 'application/json' },
      body,
    })
  const accepted: number[] = []
  const arrived: number[] = []
  const all = Number(values.messages)
  for (let sent = 0; sent < all + 20; sent++) {
    sink.reset()
    await sleep(25)
    const from = performance.now()
    const arrival = sink.received(1)
    const reply = await send()
    if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
    const answered = performance.now()
    const at = await arrival
    if (sent < 20) continue // the first ones warm up
    accepted.push(answered - from)
    arrived.push(at - from)
  }
  const cpu = { node: cpuSeconds(service.pid), database: cpuSeconds(house.database.pid) }
  await sleep(IDLE_SECONDS * 1000)
  const percent = (now: number, before: number) => ((now - before) / IDLE_SECONDS) * 100
  const idle = {
    node: percent(cpuSeconds(service.pid), cpu.node),
    database: percent(cpuSeconds(house.database.pid), cpu.database),
    megabytes: residentOf(service.pid),
  }
  table(
    ['idle service', 'p50 ms', 'p95 ms', 'p99 ms'],
    [
      ['request to 201', at(accepted, 0.5), at(accepted, 0.95), at(accepted, 0.99)],
      ['request to mail server', at(arrived, 0.5), at(arrived, 0.95), at(arrived, 0.99)],
    ],
  )
  table(
    ['doing nothing', '% of a core', 'MB'],
    [
      ['service', idle.node, idle.megabytes],
      ['PostgreSQL', idle.database, '-'],
    ],
  )
  print([
    figure('latency_idle_p50', at(arrived, 0.5), 'ms', 50),
    figure('idle_core', idle.node + idle.database, '%', 1),
    figure('idle_memory', idle.megabytes, 'MB', 200),
  ])
} finally {
  await service.stop()
  sink.stop()
  await house.stop()
}

function at(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
}

function residentOf(pid: number): number {
  const [, kb] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb ?? 0) / 1024
}
