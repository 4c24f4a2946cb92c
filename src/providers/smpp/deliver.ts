// Receipts from the SMSC: those that arrive together are stored together, and each is acknowledged when it is stored.
import type { Pdu } from 'smpp'
import type { ProviderWorld, Receipt } from '../port.ts'
import type { Connection } from './connection.ts'
import { type ReceiptOptions, readReceipt } from './receipts.ts'
import { ok, tryAgain } from './statuses.ts'

/** With more receipts that are not stored yet, the SMSC is asked to deliver again later. */
const mostUnstored = 1000

export function createReceiver(name: string, options: ReceiptOptions, world: ProviderWorld) {
  let batch: { connection: Connection; pdu: Pdu; receipt: Receipt }[] = []
  let unstored = 0

  async function store() {
    const stored = batch
    batch = []
    let status = ok
    try {
      await world.accept(
        name,
        stored.map(({ receipt }) => receipt),
      )
    } catch {
      status = tryAgain // the SMSC keeps the receipts and delivers them again
      world.warn({ provider: name, receipts: stored.length }, 'Receipts could not be stored and were not acknowledged')
    }
    unstored -= stored.length
    for (const { connection, pdu } of stored) connection.respond(pdu, { command_status: status })
  }

  return {
    onDeliver(connection: Connection, pdu: Pdu) {
      const receipt = readReceipt(pdu, options)
      if (!receipt) return connection.respond(pdu)
      if (unstored >= mostUnstored) return connection.respond(pdu, { command_status: tryAgain })
      unstored += 1
      if (batch.push({ connection, pdu, receipt }) === 1) setImmediate(() => void store())
    },
    unstored: () => unstored,
  }
}
