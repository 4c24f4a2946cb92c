// Admission control for memory: at most this many bytes are in use, further requests wait in order. A body is not read while its
// request waits, so TCP slows the sender down. Without it a hundred 8 MB bodies took 1 GB (reliability 5.2).

export type Budget = {
  /** Resolves when the bytes are reserved, with the function that releases them. */
  take(bytes: number): Promise<() => void>
  inUse(): number
}

export function createBudget(most: number): Budget {
  let used = 0
  const waiting: { bytes: number; begin(): void }[] = []

  function next() {
    for (let first = waiting[0]; first && used + first.bytes <= most; first = waiting[0]) {
      waiting.shift()
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
        waiting.push({ bytes, begin: () => resolve(release) })
        next()
      }),
    inUse: () => used,
  }
}
