// A DNS server on loopback that knows TXT and A records (RFC 1035, 4.1).
import { createSocket } from 'node:dgram'

const A = 1
const TXT = 16
const FAILED = 2
const UNKNOWN = 3

export type DnsServer = {
  server: string
  /** TXT by name. */
  records: Map<string, string>
  /** IPv4 by name. */
  addresses: Map<string, string>
  fail(isFailing: boolean): void
  stop(): void
}

export async function dnsServer(): Promise<DnsServer> {
  const records = new Map<string, string>()
  const addresses = new Map<string, string>()
  let isFailing = false
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = nameIn(query)
    const record = recordOf(name, query.readUInt16BE(end))
    const code = isFailing ? FAILED : record === undefined ? UNKNOWN : 0
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(code === 0 ? 1 : 0, 6)
    head.writeUInt32BE(0, 8)
    const question = query.subarray(12, end + 4)
    socket.send(Buffer.concat([head, question, ...(code === 0 && record ? [record] : [])]), from.port, from.address)
  })
  function recordOf(name: string, type: number): Buffer | undefined {
    const found = (type === A ? addresses : records).get(name)
    if (found === undefined || (type !== A && type !== TXT)) return undefined
    return type === A ? answer(A, Buffer.from(found.split('.').map(Number))) : answer(TXT, pieces(found))
  }
  await new Promise<void>(resolve => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    server: `127.0.0.1:${socket.address().port}`,
    records,
    addresses,
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

/** The text in pieces of at most 255 bytes. */
function pieces(text: string): Buffer {
  const all = (text.match(/.{1,255}/g) ?? ['']).map(piece =>
    Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)]),
  )
  return Buffer.concat(all)
}

/** The name of the question, the type, IN, and the data. */
function answer(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 1, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
