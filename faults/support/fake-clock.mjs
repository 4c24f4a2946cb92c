// Preloaded into a process: its wall clock is wrong by the number of milliseconds in a file, also when the file changes while it
// runs. The monotonic timer is unchanged, as when somebody sets the clock of a machine.
import { readFileSync } from 'node:fs'

const Real = Date
const read = () => Number(readFileSync(process.env.FAULTS_CLOCK ?? '', 'utf8')) || 0
let offset = read()
setInterval(() => {
  offset = read()
}, 20).unref()

const now = () => Real.now() + offset
globalThis.Date = new Proxy(Real, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  apply: () => new Real(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + offset })
