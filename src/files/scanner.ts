// The port of virus scanners. A scanner returns a verdict and does not throw. Without a verdict the message waits; it is never
// sent unscanned (R18).

export type Verdict =
  | { kind: 'clean' }
  | { kind: 'virus'; name: string }
  /** The scanner is down, too slow, or its reply cannot be read. */
  | { kind: 'none'; detail: string }

export type Scanner = {
  readonly name: 'embedded' | 'clamd' | 'none'
  scan(content: Buffer, patienceMs: number): Promise<Verdict>
  /** Checks whether the scanner is available. */
  probe(): Promise<{ ok: true } | { ok: false; detail: string }>
}

/** Searches for our own signatures with `find`. */
export const createEmbedded = (find: (content: Buffer) => Promise<string | null>): Scanner => ({
  name: 'embedded',
  async scan(content) {
    try {
      const name = await find(content)
      return name === null ? { kind: 'clean' } : { kind: 'virus', name }
    } catch {
      return { kind: 'none', detail: 'the thread of the scanner failed' } // replaced at the next scan
    }
  },
  probe: async () => ({ ok: true }),
})

/** For installations that scan elsewhere. Every start logs a warning. */
export const createNone = (): Scanner => ({
  name: 'none',
  scan: async () => ({ kind: 'clean' }),
  probe: async () => ({ ok: true }),
})

/**
 * Circuit breaker: after a scan without a verdict, requests do not wait for the scanner for this long. Their messages are scanned
 * later.
 */
const OPEN_MS = 10_000

export type Scanning = {
  /** Verdicts for all contents, in order; `none` for those not scanned in time. Stops at the first virus. */
  within(contents: readonly Buffer[], patienceMs: number): Promise<Verdict[]>
}

export function createScanning(scanner: Scanner): Scanning {
  let openUntil = 0
  return {
    async within(contents, patienceMs) {
      const end = performance.now() + patienceMs
      const verdicts: Verdict[] = []
      for (const content of contents) {
        const left = end - performance.now()
        const isSkipped = left <= 0 || performance.now() < openUntil
        const verdict: Verdict = isSkipped ? { kind: 'none', detail: 'not asked' } : await scanner.scan(content, left)
        if (verdict.kind === 'none' && !isSkipped) openUntil = performance.now() + OPEN_MS
        verdicts.push(verdict)
        if (verdict.kind === 'virus') break
      }
      return verdicts
    },
  }
}
