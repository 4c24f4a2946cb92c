// Schedules work of several services on one thread: work is done in slices, and the service that has used the least time is next,
// so a service with endless work costs the others at most as much time as they use themselves (start-time fair queueing).

/** A piece of work that pauses at every yield. */
export type Sliced<T> = Generator<void, T, void>

export type SliceScheduler = {
  /** Adds work for a service; the work of one service runs in order. */
  add(task: SlicedTask): void
  /** Runs one slice of the next service. False when there is nothing to do. */
  run(): boolean
}

export type SlicedTask = {
  service: string
  /** Called with the task that runs next, before each of its slices. */
  begin(): void
  work: Sliced<void>
}

/** A slice ends at the first yield after this time. */
const SLICE_MS = 20

export function createSliceScheduler(now: () => number): SliceScheduler {
  const waiting = new Map<string, SlicedTask[]>()
  /** Time used per service. A returning service is charged at least the current minimum. */
  const used = new Map<string, number>()
  let floor = 0

  return {
    add(task) {
      const own = waiting.get(task.service)
      if (own) own.push(task)
      else {
        waiting.set(task.service, [task])
        used.set(task.service, Math.max(used.get(task.service) ?? 0, floor))
      }
    },
    run() {
      let service: string | null = null
      for (const one of waiting.keys()) if (service === null || usedBy(one) < usedBy(service)) service = one
      const task = service === null ? undefined : waiting.get(service)?.[0]
      if (service === null || !task) return false
      floor = usedBy(service)
      const since = now()
      task.begin()
      let isDone = false
      while (!isDone && now() - since < SLICE_MS) isDone = task.work.next().done === true
      used.set(service, floor + now() - since)
      if (isDone) end(service)
      return true
    },
  }

  function usedBy(service: string): number {
    return used.get(service) ?? 0
  }

  function end(service: string) {
    const own = waiting.get(service) ?? []
    own.shift()
    if (own.length === 0) waiting.delete(service)
    for (const [known, time] of used) if (time <= floor && !waiting.has(known)) used.delete(known)
  }
}
