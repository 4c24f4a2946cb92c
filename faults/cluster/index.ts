// The blocks of `npm run faults -- --cluster`: a database of three nodes with automatic failover, and three machines.
import { cutOffPrimary, frozenPrimary, killedPrimary } from './blocks/failovers.ts'
import { lostMachines } from './blocks/machines.ts'
import { rollingRestarts, switchovers } from './blocks/planned.ts'
import { asynchronous, killedStandby, unreplicatedLook } from './blocks/standbys.ts'
import type { ClusterBlock } from './environment.ts'

export const CLUSTER_BLOCKS: Record<string, ClusterBlock> = {
  M1: killedPrimary,
  M2: frozenPrimary,
  M3: cutOffPrimary,
  M4: killedStandby,
  M5: switchovers,
  M6: unreplicatedLook,
  M7: lostMachines,
  M8: rollingRestarts,
  M9: asynchronous,
}
