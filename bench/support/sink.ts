// A mail server for benchmarks, in a process of its own: fast enough not to be what is measured.
import { fork } from 'node:child_process'
import net from 'node:net'
import { fileURLToPath } from 'node:url'

export type Sink = { port: number; reset(): void; received(count: number): Promise<number>; stop(): void }

/** A mail server in a process of its own that takes everything and keeps nothing. */
export function startSink(): Promise<Sink> {
  const child = fork(fileURLToPath(import.meta.url), ['--sink'], { execArgv: ['--import', 'tsx'] })
  let count = 0
  let wanted = Number.POSITIVE_INFINITY
  let arrived: (at: number) => void = () => {}
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the mail server ended with ${code}`)))
    child.on('message', (told: { port?: number; messages?: number }) => {
      if (told.messages !== undefined) {
        count = told.messages
        if (count >= wanted) arrived(performance.now())
      }
      if (told.port === undefined) return
      resolve({
        port: told.port,
        reset() {
          child.send('reset')
          count = 0
        },
        received(all) {
          wanted = all
          return count >= all ? Promise.resolve(performance.now()) : new Promise(done => (arrived = done))
        },
        stop: () => child.kill(),
      })
    })
  })
}

// Just enough SMTP (RFC 5321, with PIPELINING of RFC 2920) to be sent to.
function sink() {
  let messages = 0
  let told = 0
  const tell = () => {
    told = performance.now()
    process.send?.({ messages })
  }
  process.on('message', () => {
    messages = 0
  })
  process.on('disconnect', () => process.exit())
  setInterval(tell, 20)
  const server = net.createServer(socket => {
    let rest = Buffer.alloc(0)
    let inData = false
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.write('220 sink ESMTP\r\n')
    socket.on('data', data => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data])
      let answer = ''
      for (;;) {
        const end = rest.indexOf(inData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) break
        const line = inData ? '' : rest.toString('latin1', 0, end).toUpperCase()
        rest = rest.subarray(end + (inData ? 5 : 2))
        if (inData) {
          inData = false
          messages++
          // A single one is told at once; of many, the next look tells.
          if (performance.now() - told > 2) tell()
          answer += '250 OK\r\n'
        } else if (line === 'DATA') {
          inData = true
          answer += '354 go on\r\n'
        } else if (line.startsWith('EHLO')) answer += '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n'
        else answer += line === 'QUIT' ? '221 bye\r\n' : '250 OK\r\n'
      }
      if (answer !== '') socket.write(answer)
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }))
}

if (process.argv[2] === '--sink') sink()
