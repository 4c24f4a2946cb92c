// A budget of bytes in memory: who wants a share waits until there is one, in the order of asking. Nobody reads a body while he
// waits, so TCP holds the sender back (reliability 5.2: a hundred 8 MB bodies at once took a gigabyte without it).

export type Budget = {
  /** Resolves when the share is ours; what it gives is called, once, to give it back. */
  take(bytes: number): Promise<() => void>
  inUse(): number
}

export function createBudget(most: number): Budget {
  let used = 0
  const line: { bytes: number; begin(): void }[] = []

  function next() {
    for (let first = line[0]; first && used + first.bytes <= most; first = line[0]) {
      line.shift()
      used += first.bytes
      first.begin()
    }
  }

  return {
    take: wanted =>
      new Promise(resolve => {
        const bytes = Math.min(wanted, most)
        let isOpen = true
        const release = () => {
          if (!isOpen) return
          isOpen = false
          used -= bytes
          next()
        }
        line.push({ bytes, begin: () => resolve(release) })
        next()
      }),
    inUse: () => used,
  }
}
