// Kept connections, as many as allowed and as few as needed. A message waits for a free one; a connection that turns
// out to be dead before it took anything is replaced silently, because nothing can have been sent.
import { setMaxListeners } from 'node:events'
import { createConnectionPlaces } from '../../runtime/admission.ts'
import type { Fault } from './replies.ts'
import { type Envelope, NO_ANSWER, open, type Relay, type Sent, type Session } from './session.ts'

export type PoolSettings = {
  relay: Relay
  connections: number
  /** After so many messages a connection is replaced, so that load follows a provider's changes of address. */
  messagesPerConnection: number
  idleSeconds: number
}

export type Mail = { envelope: Envelope; data: string }

export type Pool = {
  /** What is urgent finds a connection that newsletters may not have. */
  send(mail: Mail, urgent: boolean): Promise<Sent>
  /** Opens a connection as a message would, and closes it. */
  probe(): Promise<Fault | null>
  /** What waits is answered as not sent; what is under way gets a moment to end. */
  stop(): Promise<void>
}

type Job = { mail: Mail; urgent: boolean; settle(sent: Sent): void }

const stopped: Fault = { stage: 'open', reply: null, problem: 'The provider is being stopped' }
/** How long to leave a provider alone that takes no further connection, while the others serve. */
const CROWDED_MS = 5_000
const LAST_MOMENT_MS = 5_000

/** `onState` hears when the first connection fails and when one succeeds again. */
export function createPool(settings: PoolSettings, onState: (fault: Fault | null) => void): Pool {
  const { relay, connections } = settings
  const places = createConnectionPlaces<Job>(connections)
  /** Connections that are in use, and whether their place is that of an urgent message. */
  const inUse = new Map<Session, boolean>()
  const idle: { session: Session; timer: NodeJS.Timeout }[] = []
  const live = new Set<Session>()
  const busy = new Set<Promise<unknown>>()
  let opening = 0
  let crowded = false
  let isFollowable = true
  let stopping = false
  let ended: Promise<void> | undefined
  const giveUp = new AbortController()
  setMaxListeners(connections + 1, giveUp.signal) // each that is being opened listens, and so does a probe

  function pump() {
    for (let kept = idle.at(-1); kept; kept = idle.at(-1)) {
      const job = places.next()
      if (!job) break
      idle.pop()
      clearTimeout(kept.timer)
      inUse.set(kept.session, job.urgent)
      track(carry(kept.session, job))
    }
    while (!stopping && !crowded && opening < places.startable() && live.size + opening < connections) track(connect())
  }

  function freePlace(session: Session) {
    const urgent = inUse.get(session)
    if (urgent === undefined) return
    inUse.delete(session)
    places.free(urgent)
  }

  /** Its envelope leaves with the end of the data before it: a write and a wait less. False: nobody followed. */
  function follow(session: Session, { urgent }: Job): boolean {
    if (stopping || !isFollowable || session.carried() >= settings.messagesPerConnection) return false
    const next = places.follow(urgent)
    if (next) track(carry(session, next))
    return next !== undefined
  }

  // Only promises that cannot reject come here.
  function track(work: Promise<unknown>) {
    busy.add(work)
    void work.then(() => busy.delete(work))
  }

  async function connect() {
    opening += 1
    let mine: Session | null = null
    const opened = await open(
      relay,
      () => {
        if (mine) forget(mine)
      },
      giveUp.signal,
    )
    opening -= 1
    if (!opened.ok) return failed(opened.fault)
    mine = opened.session
    live.add(mine)
    onState(null)
    if (mine.isOpen()) rest(mine)
    else forget(mine)
  }

  function failed(fault: Fault) {
    // As long as another one lives or is being opened, the provider is not down, only full.
    if (live.size + opening > 0) {
      crowded = true
      setTimeout(() => {
        crowded = false
        pump()
      }, CROWDED_MS).unref()
      return
    }
    crowded = false
    onState(fault)
    // All of them: each would wait for a connection only to hear the same.
    for (const job of places.drain()) job.settle({ ok: false, fault })
  }

  async function carry(session: Session, job: Job) {
    const first = session.carried() === 0
    let followed = false
    const sent = await session.transact(job.mail.envelope, job.mail.data, () => {
      followed = follow(session, job)
    })
    // A server that offers PIPELINING and yet overlooks an end with something behind it would be silent every time.
    if (followed && !sent.ok && sent.fault.problem === NO_ANSWER) isFollowable = false
    // Each try uses up a kept connection, so this ends with a new one at the latest.
    if (!sent.ok && !first && !stopping && wasDead(sent.fault)) {
      session.destroy()
      places.putBack(job, job.urgent)
    } else job.settle(sent)
    if (!session.isOpen()) forget(session)
    else if (!session.isBusy()) rest(session)
  }

  /** Free for the next message, unless its time is over. */
  function rest(session: Session) {
    // One and the one behind it may have ended together: both come here.
    if (idle.some(kept => kept.session === session)) return
    freePlace(session)
    if (stopping || session.carried() >= settings.messagesPerConnection) {
      session.quit()
      live.delete(session)
      return pump()
    }
    const timer = setTimeout(() => {
      const at = idle.findIndex(kept => kept.session === session)
      if (at !== -1) idle.splice(at, 1)
      live.delete(session)
      session.quit()
    }, settings.idleSeconds * 1000)
    timer.unref()
    idle.push({ session, timer })
    pump()
  }

  function forget(session: Session) {
    live.delete(session)
    freePlace(session)
    const at = idle.findIndex(kept => kept.session === session)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer)
    // If nobody is left, someone must take the next one up.
    crowded = crowded && live.size > 0
    pump()
  }

  async function stop() {
    stopping = true
    giveUp.abort()
    for (const job of places.drain()) job.settle({ ok: false, fault: stopped })
    for (const { session, timer } of idle.splice(0)) {
      clearTimeout(timer)
      session.quit()
    }
    await within(LAST_MOMENT_MS, Promise.all(busy))
    for (const session of live) session.destroy()
    live.clear()
    await Promise.all(busy)
  }

  return {
    send: (mail, urgent) =>
      new Promise(settle => {
        if (stopping) return settle({ ok: false, fault: stopped })
        places.add({ mail, urgent, settle }, urgent)
        pump()
      }),
    async probe() {
      if (stopping) return stopped
      const opened = await open(relay, () => {}, giveUp.signal)
      if (!opened.ok) return opened.fault
      opened.session.quit()
      return null
    },
    stop() {
      ended ??= stop()
      return ended
    },
  }
}

/** A kept connection closed by the other side while it rested; the message never began to leave. */
const wasDead = ({ stage, reply, refused }: Fault) =>
  !refused && stage === 'mail' && (reply === null || reply.startsWith('421'))

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
