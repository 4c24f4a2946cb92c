// Reads ahead of who writes.

/** The next page is read while this one is written. */
export async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  const read = () => {
    const next = pages.next()
    // Reported when it is awaited; the reader may have gone before.
    next.catch(() => {})
    return next
  }
  let next = read()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = read()
      yield value
    }
  } finally {
    await pages.return(undefined)
  }
}
