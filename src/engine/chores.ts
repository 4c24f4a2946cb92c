// Periodic chores, done by the leader only, one after the other; a chore that fails is told and tried at its next turn.

export type Chore = { name: string; everySeconds: number; run(): Promise<unknown> }

export function createChores(
  chores: readonly Chore[],
  isLeader: () => boolean,
  onFault: (error: unknown, sentence: string) => void,
): { stop(): Promise<void> } {
  const due = new Map(chores.map(chore => [chore.name, 0]))
  let running: Promise<void> = Promise.resolve()
  let busy = false

  async function turn() {
    if (busy || !isLeader()) return
    busy = true
    for (const chore of chores) {
      if ((due.get(chore.name) ?? 0) > performance.now()) continue
      due.set(chore.name, performance.now() + chore.everySeconds * 1000)
      await chore.run().catch(error => onFault(error, `chore failed: ${chore.name}`))
    }
    busy = false
  }

  const timer = setInterval(() => {
    running = turn()
  }, 1_000)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
