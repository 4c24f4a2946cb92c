// A port for a program that cannot choose one itself. Not one that the system would choose for others (32768 and more on Linux, 49152
// and more elsewhere): another process would be given it before the program has it.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    if (await isFree(port)) return port
  }
}

const isFree = (port: number) =>
  new Promise<boolean>(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    // On all addresses, because programs do so.
    server.listen(port, () => server.close(() => resolve(true)))
  })
