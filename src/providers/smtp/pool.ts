// A connection pool: at most `connections`, opened when messages wait. A message waits for a free connection. If a reused
// connection turns out to be closed before the message began, the message is sent over another one: nothing was sent yet.
import { setMaxListeners } from 'node:events'
import { createConnectionPlaces } from '../../runtime/admission.ts'
import type { Recall } from '../../runtime/recall.ts'
import { NO_ANSWER } from './client/dialogue.ts'
import type { Relay } from './relay.ts'
import type { Fault } from './replies.ts'
import { type Mail, open, type SentMail, type Session } from './session.ts'

export type PoolSettings = {
  relay: Relay
  connections: number
  /** After this many messages a connection is replaced, so that changed addresses of the provider are used. */
  messagesPerConnection: number
  idleSeconds: number
}

export type Pool = {
  /** Some connections are reserved for urgent messages. Null: it was recalled before it began. */
  send(mail: Mail, urgent: boolean, recall?: Recall): Promise<SentMail | null>
  /** Opens a connection as a message would, and closes it. */
  probe(): Promise<Fault | null>
  /** Waiting messages are answered as not sent; those in progress get five seconds to finish. */
  stop(): Promise<void>
}

type MailJob = { mail: Mail; urgent: boolean; recall: Recall | undefined; settle(sent: SentMail | null): void }

const stopped: Fault = { stage: 'open', reply: null, problem: 'The provider is being stopped' }
/** How long no further connection is tried after one was refused while others are open. */
const FULL_MS = 5_000
const DRAIN_MS = 5_000

/** `onState` is called when no connection can be opened, and when one is opened again. */
export function createPool(settings: PoolSettings, onState: (fault: Fault | null) => void): Pool {
  const { relay, connections } = settings
  const places = createConnectionPlaces<MailJob>(connections)
  /** Connections that are in use, and whether their place is that of an urgent message. */
  const inUse = new Map<Session, boolean>()
  const idle: { session: Session; timer: NodeJS.Timeout }[] = []
  const live = new Set<Session>()
  /** Messages on connections, and connections being opened. */
  let busy = 0
  let onDrained = () => {}
  let opening = 0
  let isFull = false
  let isFollowable = true
  let mayChunk = true
  let isStopping = false
  let stopping: Promise<void> | undefined
  const giveUp = new AbortController()
  setMaxListeners(connections + 1, giveUp.signal) // one for each connection being opened, and one for a probe

  function pump() {
    for (let kept = idle.at(-1); kept; kept = idle.at(-1)) {
      const job = places.next()
      if (!job) break
      idle.pop()
      clearTimeout(kept.timer)
      inUse.set(kept.session, job.urgent)
      carry(kept.session, job)
    }
    while (!isStopping && !isFull && opening < places.startable() && live.size + opening < connections) void connect()
  }

  function freePlace(session: Session) {
    const urgent = inUse.get(session)
    if (urgent === undefined) return
    inUse.delete(session)
    places.free(urgent)
  }

  /** Sends the next message together with the end of the one before it, which saves a write and a round trip. False: none waits. */
  function follow(session: Session, urgent: boolean): boolean {
    if (isStopping || !isFollowable || !session.hasRoom()) return false
    if (session.carried() >= settings.messagesPerConnection) return false
    const next = places.follow(urgent)
    if (next) carry(session, next)
    return next !== undefined
  }

  function ended() {
    busy -= 1
    if (busy === 0) onDrained()
  }

  const drained = () =>
    new Promise<void>(resolve => {
      if (busy === 0) return resolve()
      onDrained = resolve
    })

  async function connect() {
    opening += 1
    busy += 1
    let mine: Session | null = null
    const onClosed = () => {
      if (mine) remove(mine)
    }
    const opened = await open(relay, { onClosed, mayChunk: () => mayChunk }, giveUp.signal)
    opening -= 1
    if (opened.ok) {
      mine = opened.session
      live.add(mine)
      onState(null)
      if (mine.isOpen()) release(mine)
      else remove(mine)
    } else failed(opened.fault)
    ended()
  }

  function failed(fault: Fault) {
    // While another connection is open or being opened, the provider is not down: it limits connections.
    if (live.size + opening > 0) {
      isFull = true
      setTimeout(() => {
        isFull = false
        pump()
      }, FULL_MS).unref()
      return
    }
    isFull = false
    onState(fault)
    // All waiting messages: each would otherwise try the same connection and fail in the same way.
    for (const job of places.drain()) job.settle({ ok: false, fault })
  }

  function carry(session: Session, job: MailJob) {
    busy += 1
    const isFirst = session.carried() === 0
    let isFollowed = false
    session.transact(job.mail, {
      onEnd() {
        isFollowed = follow(session, job.urgent)
      },
      onSent(sent) {
        if (!sent.ok) learn(session, sent.fault, isFollowed)
        if (!sent.ok && sent.isRecalled) job.settle(null)
        else if (!sent.ok && !isStopping && mayRepeat(sent.fault, isFirst)) {
          session.destroy()
          if (job.recall?.isRecalled()) job.settle(null)
          else places.putBack(job, job.urgent)
        } else job.settle(sent)
        if (!session.isOpen()) remove(session)
        else if (!session.isBusy()) release(session)
        else follow(session, job.urgent)
        ended()
      },
    })
  }

  /** Some servers offer PIPELINING or CHUNKING, but do not handle it. They would time out or refuse every time. */
  function learn(session: Session, { problem, unknownChunk }: Fault, isFollowed: boolean) {
    if (isFollowed && problem === NO_ANSWER) isFollowable = false
    if (unknownChunk || (session.hasChunks() && problem === NO_ANSWER)) mayChunk = false
  }

  /** Makes the connection available for the next message, or closes it after its share of messages. */
  function release(session: Session) {
    // Called twice when a message that the server cannot take is refused behind another one.
    if (idle.some(kept => kept.session === session)) return
    freePlace(session)
    if (isStopping || session.carried() >= settings.messagesPerConnection) {
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

  function remove(session: Session) {
    live.delete(session)
    freePlace(session)
    const at = idle.findIndex(kept => kept.session === session)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer)
    // With no connection left, the next one is tried at once.
    isFull = isFull && live.size > 0
    pump()
  }

  async function stop() {
    isStopping = true
    giveUp.abort()
    for (const job of places.drain()) job.settle({ ok: false, fault: stopped })
    for (const { session, timer } of idle.splice(0)) {
      clearTimeout(timer)
      session.quit()
    }
    await within(DRAIN_MS, drained())
    for (const session of live) session.destroy()
    live.clear()
    await drained()
  }

  return {
    send: (mail, urgent, recall) =>
      new Promise(resolve => {
        if (recall?.isRecalled()) return resolve(null)
        if (isStopping) return resolve({ ok: false, fault: stopped })
        const forget = recall?.whenRecalled(() => {
          if (places.remove(job, urgent)) resolve(null)
        })
        const job: MailJob = {
          mail: recall ? { envelope: mail.envelope, data: mail.data, isRecalled: recall.isRecalled } : mail,
          urgent,
          recall,
          settle(sent) {
            forget?.()
            resolve(sent)
          },
        }
        places.add(job, urgent)
        pump()
      }),
    async probe() {
      if (isStopping) return stopped
      const opened = await open(relay, { onClosed: () => {}, mayChunk: () => false }, giveUp.signal)
      if (!opened.ok) return opened.fault
      opened.session.quit()
      return null
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/**
 * The server closed an idle connection, or before it read this message: nothing of it was taken. Each repetition uses up one open
 * connection, so the last one is over a new connection. A server that does not know BDAT is not asked again.
 */
const mayRepeat = ({ stage, reply, refused, unknownChunk }: Fault, isFirst: boolean) =>
  unknownChunk === true || (!isFirst && !refused && stage === 'mail' && (reply === null || reply.startsWith('421')))

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
