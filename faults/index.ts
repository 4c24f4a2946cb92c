// npm run faults: injects every fault we know and counts lost and duplicate messages. -- --long: a longer run, half an hour. --
// --seed N repeats a run; -- --only D2,U6 runs the blocks with these promises, -- --only E those of a letter; -- --report stores the
// figures and writes docs/reliability.md. -- --cluster runs the blocks of a database with automatic failover instead.
import { backedUp } from './blocks/backup.ts'
import { hourlyCounts } from './blocks/counts.ts'
import { killedAll, killedDatabase, unsafeDatabase } from './blocks/database.ts'
import { killedFollowers, sharedEndpoints } from './blocks/events.ts'
import { inputs } from './blocks/inputs.ts'
import { lifetimes } from './blocks/lifetimes.ts'
import { races } from './blocks/limits.ts'
import { besideAnother, codesBesideBulk, largeBodies, muchThatWaits } from './blocks/load.ts'
import { neighbours } from './blocks/neighbours.ts'
import { crashPoints, deadWorker, frozen, killed, killedBulk, noFault, poison, purge } from './blocks/processes.ts'
import { providerFaults, receiptFaults, slowProvider, smppFaults } from './blocks/providers.ts'
import { purges } from './blocks/purges.ts'
import { hostileReceivers } from './blocks/receivers.ts'
import { brokenLines, frozenDatabase, fullDisk, slowCallers } from './blocks/resources.ts'
import { migration, rollingRestart } from './blocks/restarts.ts'
import { scannerFaults } from './blocks/scanner.ts'
import { strangersAtSignIn } from './blocks/sign-in.ts'
import { soak } from './blocks/soak.ts'
import { databaseClock, summerTime, wrongClock } from './blocks/time.ts'
import { clusterRefused } from './cluster/cluster.ts'
import { createClusterEnvironment } from './cluster/environment.ts'
import { CLUSTER_BLOCKS } from './cluster/index.ts'
import { createEnvironment } from './support/environment.ts'
import type { Block, Verdict } from './support/promise.ts'
import { createRandom } from './support/random.ts'
import { keepRun, stateOf, writeReport } from './support/report.ts'

const BLOCKS: Record<string, Block> = {
  U2: noFault,
  D1: killed,
  crash: crashPoints,
  purge,
  U4: killedBulk,
  D2: killedDatabase,
  D3: killedAll,
  D4: unsafeDatabase,
  D7: deadWorker,
  D8: poison,
  U6: frozen,
  O3: receiptFaults,
  F: providerFaults,
  F2: slowProvider,
  F8: smppFaults,
  F9: scannerFaults,
  E1: killedFollowers,
  E4: sharedEndpoints,
  E6: hostileReceivers,
  H1: hourlyCounts,
  A1: races,
  L1: codesBesideBulk,
  L3: besideAnother,
  N: neighbours,
  N8: strangersAtSignIn,
  C1: largeBodies,
  L2: muchThatWaits,
  C4: inputs,
  B1: backedUp,
  D5: fullDisk,
  C2: slowCallers,
  C3: frozenDatabase,
  lines: brokenLines,
  C6: purges,
  S1: rollingRestart,
  S3: migration,
  S4: lifetimes,
  T1: wrongClock,
  T1b: databaseClock,
  T2: summerTime,
  C5: soak,
}

const MARKS = { holds: 'ok  ', broken: 'FAIL', skipped: 'skip' }
const given = (name: string) => {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
const isLong = process.argv.includes('--long')
const isCluster = process.argv.includes('--cluster')
/** A block that takes longer hangs: it ends the run, which says so. The longest takes three minutes; half an hour with --long. */
const LIMIT_MINUTES = isLong ? 90 : 10
let isHanging = false
const seed = Number(given('--seed') ?? Date.now() % 1_000_000_000)
const only = given('--only')?.split(',')

const refused = isCluster ? clusterRefused() : null
if (refused !== null) {
  console.log(`skip the cluster: ${refused}\n1 skipped\n0 passed, 0 failed`)
  process.exit(0)
}

console.log(`seed ${seed}${isLong ? ', long' : ''}${isCluster ? ', cluster' : ''}`)
const random = createRandom(seed)
const { environment, blocks } = isCluster ? await clusterSuite() : await suite()
const verdicts: Verdict[] = []
const since = performance.now()
try {
  for (const [name, block] of Object.entries(blocks)) {
    if (only && !only.includes(name) && !only.includes(chapterOf(name))) continue
    const begun = performance.now()
    try {
      for (const verdict of await inTime(name, block.run())) {
        verdicts.push(verdict)
        console.log(`${MARKS[stateOf(verdict)]} ${verdict.id}: ${verdict.skipped ?? verdict.measured}`)
        for (const why of verdict.why) console.log(`       ${why.slice(0, 600)}`)
      }
    } catch (error) {
      const why = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
      verdicts.push({ id: name, promise: block.name, bound: '', measured: 'the harness failed', holds: false, why })
      console.log(`FAIL ${name}: ${why[0]}`)
    }
    console.log(`     (${block.name}: ${((performance.now() - begun) / 1000).toFixed(0)} s)`)
    if (isHanging) break
  }
} finally {
  // What a hanging block holds is not waited for: its processes are killed with this one.
  if (!isHanging) await environment.stop()
}

const rows = verdicts.map(
  verdict =>
    `| ${verdict.id} | ${verdict.promise} | ${verdict.bound} | ${verdict.skipped ?? verdict.measured} | ${stateOf(verdict)} |`,
)
console.log(['', '| promise | sentence | bound | measured | |', '|---|---|---|---|---|', ...rows, ''].join('\n'))
const count = (state: ReturnType<typeof stateOf>) => verdicts.filter(verdict => stateOf(verdict) === state).length
const seconds = Math.round((performance.now() - since) / 1000)
const broken = verdicts.filter(verdict => stateOf(verdict) === 'broken').map(verdict => verdict.id)
console.log(
  JSON.stringify({ seed, long: isLong, seconds, promises: verdicts.length, broken, totals: environment.totals }),
)
if (process.argv.includes('--report')) {
  const run = { seed, isLong, isCluster, seconds, isWhole: !only, totals: environment.totals }
  keepRun(run, verdicts)
  writeReport()
}
if (count('skipped') > 0) console.log(`${count('skipped')} skipped`)
console.log(`${count('holds')} passed, ${count('broken')} failed`)
process.exitCode = broken.length > 0 ? 1 : 0
if (isHanging) process.exit()

async function inTime<T>(name: string, running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isHanging = true
      reject(new Error(`${name} did not end within ${LIMIT_MINUTES} minutes; the blocks after it did not run`))
    }, LIMIT_MINUTES * 60_000)
  })
  return Promise.race([running, end]).finally(() => clearTimeout(timer))
}

async function suite() {
  const environment = await createEnvironment(random, isLong)
  return { environment, blocks: bound(BLOCKS, environment) }
}

async function clusterSuite() {
  const environment = await createClusterEnvironment(random, isLong)
  return { environment, blocks: bound(CLUSTER_BLOCKS, environment) }
}

function bound<E>(all: Record<string, { name: string; run(environment: E): Promise<Verdict[]> }>, environment: E) {
  return Object.fromEntries(
    Object.entries(all).map(([id, { name, run }]) => [id, { name, run: () => run(environment) }]),
  )
}

/** The letter, unless it is a block of its own. */
function chapterOf(name: string): string {
  return blocks[name.charAt(0)] ? name : name.charAt(0)
}
