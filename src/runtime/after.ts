/** Goes on with a value at once, or when it arrives. What is in memory costs no promise and no turn of the event loop. */
export const after = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value)
