// A DNS server on loopback that knows TXT records and nothing else (RFC 1035, 4.1).
import { createSocket } from 'node:dgram'

const FAILED = 2
const UNKNOWN = 3

export type DnsServer = { server: string; records: Map<string, string>; fail(isFailing: boolean): void; stop(): void }

export async function dnsServer(): Promise<DnsServer> {
  const records = new Map<string, string>()
  let isFailing = false
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = nameIn(query)
    const text = records.get(name)
    const code = isFailing ? FAILED : text === undefined ? UNKNOWN : 0
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(code === 0 ? 1 : 0, 6)
    head.writeUInt32BE(0, 8)
    const question = query.subarray(12, end + 4)
    socket.send(Buffer.concat([head, question, ...(code === 0 ? [answer(text ?? '')] : [])]), from.port, from.address)
  })
  await new Promise<void>(resolve => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    server: `127.0.0.1:${socket.address().port}`,
    records,
    fail: value => {
      isFailing = value
    },
    stop: () => socket.close(),
  }
}

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** The name of the question, TXT, IN, and the text in pieces of at most 255 bytes. */
function answer(text: string): Buffer {
  const pieces = (text.match(/.{1,255}/g) ?? ['']).map(piece =>
    Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)]),
  )
  const data = Buffer.concat(pieces)
  const head = Buffer.from([0xc0, 0x0c, 0, 16, 0, 1, 0, 0, 0, 1, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
