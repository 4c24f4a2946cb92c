// What a scanner is to us: something that looks at bytes and gives a verdict, or none. It answers, it does not throw; no verdict
// means that the message waits, never that it goes unscanned (R18).

export type Verdict =
  | { kind: 'clean' }
  | { kind: 'virus'; name: string }
  /** Down, too slow or not to be understood. */
  | { kind: 'none'; detail: string }

export type Scanner = {
  readonly name: 'embedded' | 'clamd' | 'none'
  scan(content: Buffer, patienceMs: number): Promise<Verdict>
  /** Asks without a file whether it would answer. */
  probe(): Promise<{ ok: true } | { ok: false; detail: string }>
}

/** Signatures of our own, looked for by `find`. */
export const createEmbedded = (find: (content: Buffer) => Promise<string | null>): Scanner => ({
  name: 'embedded',
  async scan(content) {
    try {
      const name = await find(content)
      return name === null ? { kind: 'clean' } : { kind: 'virus', name }
    } catch {
      return { kind: 'none', detail: 'the thread of the scanner failed' } // replaced at the next question
    }
  },
  probe: async () => ({ ok: true }),
})

/** For those who scan elsewhere. Whoever chooses it is warned at every start. */
export const createNone = (): Scanner => ({
  name: 'none',
  scan: async () => ({ kind: 'clean' }),
  probe: async () => ({ ok: true }),
})

/** Told that a scanner gave no verdict, callers do not wait for it again so soon: the message is held at once. */
const DISTRUST_MS = 10_000

export type Scanning = {
  /** Verdicts for all contents, in order, within the time; what has none is `none`. A virus ends it. */
  within(contents: readonly Buffer[], patienceMs: number): Promise<Verdict[]>
}

export function createScanning(scanner: Scanner): Scanning {
  let distrustedUntil = 0
  return {
    async within(contents, patienceMs) {
      const end = performance.now() + patienceMs
      const verdicts: Verdict[] = []
      for (const content of contents) {
        const left = end - performance.now()
        const isUseless = left <= 0 || performance.now() < distrustedUntil
        const verdict: Verdict = isUseless ? { kind: 'none', detail: 'not asked' } : await scanner.scan(content, left)
        if (verdict.kind === 'none' && !isUseless) distrustedUntil = performance.now() + DISTRUST_MS
        verdicts.push(verdict)
        if (verdict.kind === 'virus') break
      }
      return verdicts
    },
  }
}
