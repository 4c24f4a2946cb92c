// Several hosts in DATABASE_URL, on a real primary with streaming standbys.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReplicated, missing, type Replicated, type ReplicatedNode } from './support/replicated.ts'

describe.skipIf(missing)('several hosts', () => {
  let cluster: Replicated
  let [a, b]: ReplicatedNode[] = []
  beforeAll(async () => {
    cluster = await createReplicated({ standbys: 2 })
    ;[a, b] = cluster.nodes
  })
  afterAll(() => cluster?.stop())

  it('has one primary and standbys that receive its commits', async () => {
    await a?.query('create table written (n int)')
    await cluster.caughtUp()
    expect([await a?.isStandby(), await b?.isStandby()]).toEqual([false, true])
    expect(await b?.query('select n from written')).toEqual([])
  })
})
