// A TCP relay in front of PostgreSQL that loses the answer to a chosen statement: the statement is named by a text among its
// parameters, and the connection is cut at a chosen moment.
import net from 'node:net'
import pg from 'pg'
import { inject } from 'vitest'
import { databaseUrl } from './database.ts'

/** before: the server never sees it; at once: the server still works on it; after: the server has committed and answered. */
export type Moment = 'before' | 'at once' | 'after'

export type Lossy = {
  /** The address of the database by way of the relay. */
  url(database: string): string
  /**
   * Cuts the next connection that carries `text`, of each call one; with `commit`, only when that connection then says commit. With `refuseMs`
   * all connections are cut with it, and for so long none can be made.
   */
  cut(text: string, moment: Moment, options?: { commit?: boolean; refuseMs?: number }): void
  /** How many connections were cut. */
  cuts(): number
  stop(): Promise<void>
}

type Plan = { text: string; moment: Moment; commit: boolean; refuseMs: number }

export async function createLossy(): Promise<Lossy> {
  const { host, port, user, password } = new pg.Client(databaseUrl(inject('server'), 'postgres'))
  const connect = () => (host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host))
  const open = new Set<net.Socket>()
  const nears = new Set<net.Socket>()
  const plans = new Set<Plan>()
  let refuseUntil = 0
  let cuts = 0

  const server = net.createServer(near => {
    if (performance.now() < refuseUntil) return void near.destroy()
    const far = connect()
    let seen: Plan | null = null
    let doomed: Plan | null = null
    for (const socket of [near, far]) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // told by its close
      socket.on('close', () => open.delete(socket))
    }
    const lose = ({ refuseMs }: Plan) => {
      cuts++
      refuseUntil = performance.now() + refuseMs
      near.resetAndDestroy()
      if (refuseMs > 0) for (const other of nears) other.resetAndDestroy()
    }
    nears.add(near)
    near.on('data', chunk => {
      for (const plan of plans)
        if (chunk.includes(plan.text)) {
          seen = plan
          plans.delete(plan)
        }
      // Outside a transaction the statement itself is the commit; inside one, COMMIT is sent as a simple query.
      if (seen && !doomed && (!seen.commit || chunk.includes('commit\0'))) doomed = seen
      if (doomed?.moment === 'before') {
        lose(doomed)
        return void far.destroy()
      }
      far.write(chunk)
      if (doomed?.moment === 'at once' && !near.destroyed) lose(doomed)
    })
    far.on('data', chunk => {
      if (doomed?.moment === 'after' && !near.destroyed) lose(doomed)
      else if (!near.destroyed) near.write(chunk)
    })
    near.on('close', () => {
      nears.delete(near)
      // The server may finish the commit.
      if (!doomed) far.destroy()
    })
    far.on('close', () => near.destroy())
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port: own } = server.address() as net.AddressInfo

  return {
    url(database) {
      const url = new URL(`postgresql://127.0.0.1:${own}/${database}`)
      url.username = user ?? ''
      url.password = typeof password === 'string' ? password : ''
      return url.href
    },
    cut(text, moment, { commit = false, refuseMs = 0 } = {}) {
      plans.add({ text, moment, commit, refuseMs })
    },
    cuts: () => cuts,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}
