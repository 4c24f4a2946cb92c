// Announces over one channel of the database that something changed for a key (a service, a lane). All processes hear every notification,
// their own too, and save theirs: of all that have changes for a key, the one that sent the last notification sends the next, and the
// others rest longer, so that they send only when it has no more changes. Notifications are not part of the statements that change
// something, because commits with a NOTIFY are serialised. One may be lost when a process ends or a connection breaks: everyone also
// polls.
//
// While a notification is heard within SURE_MS of its sending, for every course of commits and every random number:
// - After each commit a notification for its key is sent, by any process, within `restMs` + 50 ms; on an idle system after 5 ms.
// - A process sends at most one notification in `restMs`, however late the notifications are heard.
// However many processes have changes for a key all the time, one of them sends, every `restMs` to `restMs` + 11 ms. Before it is alone,
// at the beginning and when the one before had no more changes, several may send: those whose random rests end before they hear
// the first. Eight processes that begin together sent at most 24 more than one process, with each of 1,000 seeds (announce.test.ts).

export type Announcer<Key> = {
  /** Something changed for these, and is committed. */
  announce(keys: Iterable<Key>): void
  /** A process has announced these; null: all. */
  hear(keys: readonly Key[] | null): void
}

export type Announcing<Key> = {
  /** The least time between two notifications of this process, and about the time between two for one key. */
  restMs: number
  /** Sends a notification with these keys. It must not throw. */
  send(keys: readonly Key[]): void
  /** From 0 to 1, without 1. */
  random?: () => number
}

const GATHER_MS = 5
/** A notification that is heard sooner after a commit may have reached its readers before it. */
const SURE_MS = 10
/** The rest of one that sent is longer by up to this: of several that sent at the same time, one is soon alone. */
const SENDER_MS = 10
/** The rest of the others is longer by at least this, so that they hear the sender before theirs ends, and by at most `LATEST_MS`. */
const OTHERS_MS = 15
const LATEST_MS = 40

export function createAnnouncer<Key>({ restMs, send, random = Math.random }: Announcing<Key>): Announcer<Key> {
  /** What is not announced yet: when it was committed last, and when it should be sent. */
  const waiting = new Map<Key, { since: number; due: number }>()
  /** What was announced a short time ago, oldest first: when we sent it, and until when it rests. */
  const rests = new Map<Key, { sentAt: number; until: number }>()
  let timer: NodeJS.Timeout | null = null
  let timerAt = 0
  let sentAt = Number.NEGATIVE_INFINITY
  let allRestUntil = 0

  function notify() {
    const keys = [...waiting.keys()]
    waiting.clear()
    timer = null
    sentAt = performance.now()
    for (const key of keys) rest(key, sentAt, sentAt + restMs)
    send(keys)
  }

  function rest(key: Key, sentAt: number, until: number) {
    rests.delete(key)
    rests.set(key, { sentAt, until })
  }

  function sendAt(due: number, now: number) {
    if (timer) clearTimeout(timer)
    timerAt = Math.max(due, sentAt + restMs)
    timer = setTimeout(notify, Math.ceil(timerAt - now)).unref()
  }

  /** The end of the rest after a notification that is heard now. One of before the end of our own rest is ours, or was sent with it. */
  const restUntil = (now: number, sentAt: number) =>
    now - sentAt < restMs
      ? sentAt + restMs + random() * SENDER_MS
      : now + restMs + OTHERS_MS + random() * (LATEST_MS - OTHERS_MS)

  function forgetRests(now: number) {
    for (const [key, { until }] of rests) {
      if (until > now) return
      rests.delete(key)
    }
  }

  return {
    announce(keys) {
      const now = performance.now()
      for (const key of keys) {
        const known = waiting.get(key)
        if (known) {
          known.since = now
          continue
        }
        const due = Math.max(now + GATHER_MS, rests.get(key)?.until ?? 0, allRestUntil)
        waiting.set(key, { since: now, due })
        if (!timer || due < timerAt) sendAt(due, now)
      }
    },
    hear(keys) {
      const now = performance.now()
      forgetRests(now)
      if (!keys) allRestUntil = restUntil(now, sentAt)
      for (const key of keys ?? waiting.keys()) {
        const lastSent = rests.get(key)?.sentAt ?? Number.NEGATIVE_INFINITY
        const until = keys ? restUntil(now, lastSent) : allRestUntil
        rest(key, lastSent, until)
        const known = waiting.get(key)
        if (!known) continue
        if (now - known.since >= SURE_MS) waiting.delete(key)
        else known.due = until
      }
      if (!timer) return
      if (waiting.size > 0) return sendAt(Math.min(...[...waiting.values()].map(one => one.due)), now)
      clearTimeout(timer)
      timer = null
    },
  }
}
