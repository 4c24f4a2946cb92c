// A timeout for a promise that may never settle, and pauses that end early when a signal aborts.

/** Rejects with the sentence when `work` has not settled in time. What `work` does later is ignored. */
export async function within<T>(ms: number, work: Promise<T>, sentence: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(sentence)), ms)
    timer.unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after `ms`, or as soon as the signal aborts. It does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resume => {
    if (signal.aborted) return resume()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resume()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end)
  })
}
