// SMSCs that send more than anyone can handle: memory stays bounded, and the process goes on with its other work.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import smpp from 'smpp'
import { afterEach, expect, test, vi } from 'vitest'
import type { TextProvider } from '../../src/providers/port.ts'
import { createSmpp } from '../../src/providers/smpp/send.ts'
import { recordedWorld, textMessage } from '../conformance/sms-provider.ts'
import { smppFor } from '../support/text-providers.ts'

vi.setConfig({ testTimeout: 120_000 })

const SOON = { timeout: 60_000, interval: 20 }
const MIB = 1024 * 1024
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function providerAt(port: number, { enquireMillis = 60_000, replyMillis = 10_000 } = {}) {
  const recorded = recordedWorld()
  const provider: TextProvider = createSmpp(smppFor(port, { enquireMillis, replyMillis }), recorded.world)
  ends.push(provider.stop)
  return { provider, ...recorded }
}

/** Answers the bind, and then does what it is told with the connection; nothing is read any more. */
async function smsc(onBound: (socket: Socket) => void): Promise<number> {
  const server = createServer(socket => {
    ends.push(() => socket.destroy())
    socket.on('error', () => {})
    socket.once('data', data => {
      socket.pause()
      socket.write(new smpp.PDU(data).response({ system_id: 'flood' }).toBuffer())
      onBound(socket)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const enquiries = (count: number) =>
  Buffer.concat(
    Array.from({ length: count }, (_, n) => new smpp.PDU('enquire_link', { sequence_number: n + 1 }).toBuffer()),
  )

test('a peer that sends without end and reads nothing: it is not read any more, and then disconnected', async () => {
  const block = enquiries(4_096)
  let written = 0
  let isClosed = false
  const port = await smsc(socket => {
    socket.on('close', () => {
      isClosed = true
    })
    const pour = () => {
      while (!isClosed && socket.write(block)) written += block.length
    }
    socket.on('drain', () => {
      written += block.length
      if (written < 512 * MIB) pour()
    })
    pour()
  })
  const { lines } = providerAt(port, { enquireMillis: 500, replyMillis: 2_000 })
  await vi.waitFor(() => expect(isClosed).toBe(true), SOON)
  expect(lines.join()).toContain('no answer to enquire_link')
  // Buffers of the system in both directions, and the responses that wait to be read.
  expect(written).toBeLessThan(64 * MIB)
})

/** A peer in a process of its own, which sends PDUs as fast as it can, and reads what comes back. */
async function flood(pdu: Buffer): Promise<{ port: number; answered(): number }> {
  const program = `
    const smpp = require('smpp')
    const block = Buffer.concat(Array(1_000).fill(Buffer.from('${pdu.toString('hex')}', 'hex')))
    require('node:net').createServer(socket => {
      socket.on('error', () => {})
      let read = 0
      socket.on('data', data => {
        if (read === 0) {
          socket.write(new smpp.PDU(data).response({ system_id: 'flood' }).toBuffer())
          const pour = () => { while (socket.write(block)); }
          socket.on('drain', pour)
          pour()
          setInterval(() => console.log(read), 50)
        }
        read += data.length
      })
    }).listen(0, '127.0.0.1', function () { console.log('port ' + this.address().port) })`
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  ends.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout?.on('data', text => {
    said += text
  })
  await vi.waitFor(() => expect(said).toMatch(/^port \d+\n/), SOON)
  return {
    port: Number(/^port (\d+)/.exec(said)?.[1]),
    answered: () => Number(said.trimEnd().split('\n').at(-1)) || 0,
  }
}

/** The longest time of the processor between two turns of the event loop, in ms: the time of other processes does not count. */
function watchTurns() {
  let longest = 0
  let isOver = false
  let since = process.cpuUsage()
  const turn = () => {
    const { user, system } = process.cpuUsage(since)
    longest = Math.max(longest, (user + system) / 1000)
    since = process.cpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  ends.push(() => {
    isOver = true
  })
  return () => longest
}

const deliver = (fields: Record<string, unknown>) => new smpp.PDU('deliver_sm', fields).toBuffer()

test.each([
  ['enquire_link', enquiries(1)],
  ['messages from phones', deliver({ short_message: 'hello', source_addr: '16135550123' })],
  ['receipts', deliver({ esm_class: 4, short_message: 'id:1 stat:DELIVRD err:000' })],
  ['unknown commands', Buffer.from(enquiries(1)).fill(0x77, 5, 8)],
])('thousands of %s: other work gets its turn, and memory does not grow', async (_, pdu) => {
  const { port, answered } = await flood(pdu)
  const before = process.memoryUsage().rss
  const { provider } = providerAt(port)
  const longest = watchTurns()
  await vi.waitFor(() => expect(answered()).toBeGreaterThan(MIB / 8), SOON)
  expect(longest()).toBeLessThan(150)
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * MIB)
  // Its own requests are answered late or never: the message waits for another time.
  expect(await provider.send(textMessage())).toBeDefined()
})

test.each([
  ['a length of 0', Buffer.alloc(1_000)],
  ['a length of 4 GiB', Buffer.alloc(1_000, 0xff)],
  ['a PDU of 16 MiB', Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 5]), Buffer.alloc(MIB)])],
  ['random octets', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000))],
])('%s: disconnected', async (_, octets) => {
  let isClosed = false
  const port = await smsc(socket => {
    socket.on('close', () => {
      isClosed = true
    })
    socket.write(octets)
  })
  const { lines } = providerAt(port)
  await vi.waitFor(() => expect(isClosed).toBe(true), SOON)
  expect(lines.join()).toContain('garbage instead of a PDU')
})
