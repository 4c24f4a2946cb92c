// Memory for request bodies, shared fairly between owners (services). A body is charged as it arrives, not for its announced
// size, and not for what it waits for: however many bodies of one owner wait, they leave room for others. An owner may use as
// much as is free (the dynamic threshold of shared-memory switches): one owner gets half, two get a third each, and a new owner
// always finds room. One body at a time may exceed the threshold, in turns by owner, so that a large one can always be finished.

export type BodyShare = {
  /** Charges bytes that are about to be read. False: stop reading until `resume` is called; they are charged then. */
  add(bytes: number, resume: () => void): boolean
  /** Releases everything; may be called more than once. */
  close(): void
}

export type Shares = {
  open(owner: string): BodyShare
  /** Charged bytes, including the body that exceeds the threshold. */
  inUse(): number
}

type BodyOwner = { name: string; bytes: number; open: number; lastTurn: number }
type BodyCharge = { owner: BodyOwner; bytes: number; wanted: number; isOpen: boolean; resume: (() => void) | null }

export function createShares(most: number): Shares {
  const owners = new Map<string, BodyOwner>()
  const waiting = new Set<BodyCharge>()
  let used = 0
  let turns = 0
  let extra: BodyCharge | null = null

  const fits = ({ owner, wanted }: BodyCharge) => owner.bytes + wanted <= most - used - wanted

  function charge(entry: BodyCharge, bytes: number) {
    entry.bytes += bytes
    if (entry === extra) return
    entry.owner.bytes += bytes
    used += bytes
  }

  function admit(entry: BodyCharge) {
    const { resume } = entry
    charge(entry, entry.wanted)
    waiting.delete(entry)
    entry.wanted = 0
    entry.resume = null
    resume?.()
  }

  function takeTurn(entry: BodyCharge) {
    used -= entry.bytes
    entry.owner.bytes -= entry.bytes
    entry.owner.lastTurn = ++turns
    extra = entry
    admit(entry)
  }

  function settle() {
    admitThoseThatFit()
    if (extra || waiting.size === 0) return
    takeTurn(least(waiting, ({ owner }) => owner.lastTurn))
    admitThoseThatFit()
  }

  /** The owner that uses the least memory resumes first. */
  function admitThoseThatFit() {
    if (waiting.size === 0 || used >= most) return
    const byNeed = (one: BodyCharge, other: BodyCharge) =>
      one.owner.bytes - other.owner.bytes || one.bytes + one.wanted - other.bytes - other.wanted
    for (const entry of [...waiting].sort(byNeed)) if (fits(entry)) admit(entry)
  }

  return {
    open(name) {
      const owner = owners.get(name) ?? { name, bytes: 0, open: 0, lastTurn: 0 }
      owners.set(name, owner)
      owner.open++
      const entry: BodyCharge = { owner, bytes: 0, wanted: 0, isOpen: true, resume: null }
      return {
        add(bytes, resume) {
          if (!entry.isOpen) return true
          entry.wanted = bytes
          if (entry === extra || fits(entry)) admit(entry)
          else if (!extra) takeTurn(entry)
          else {
            entry.resume = resume
            waiting.add(entry)
            return false
          }
          return true
        },
        close() {
          if (!entry.isOpen) return
          entry.isOpen = false
          waiting.delete(entry)
          if (entry === extra) extra = null
          else charge(entry, -entry.bytes)
          if (--owner.open === 0) owners.delete(name)
          settle()
        },
      }
    },
    inUse: () => used + (extra?.bytes ?? 0),
  }
}

function least<T>(entries: Iterable<T>, by: (entry: T) => number): T {
  const [first, ...rest] = entries
  if (first === undefined) throw new Error('the least of nothing')
  return rest.reduce((one, other) => (by(other) < by(one) ? other : one), first)
}
