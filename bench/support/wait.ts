// Waits for a condition with a timeout: a bench that hangs reports what it waited for.
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 5
const PATIENCE_MS = 120_000

export async function until(what: string, isThere: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await isThere()); await sleep(LOOK_MS))
    if (performance.now() > end) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`)
}
