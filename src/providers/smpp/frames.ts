// Splits the octets of a connection into whole PDUs, and checks a deliver_sm. The package's own reader emits truncated PDUs and hangs
// on a length below the header's, so it only decodes whole PDUs here.
// Source: SMPP 3.4, 3.2 (header: length, id, status, sequence, four octets each) and 4.6.1 (deliver_sm).

const headerOctets = 16
/** The largest PDU the package decodes; receipts have a few hundred octets. */
const mostOctets = 16_384

export type Frames = {
  add(chunk: Buffer): void
  /** The next whole PDU; null until more has arrived; `garbage` when the octets cannot be SMPP. */
  next(): Buffer | null | 'garbage'
}

export function createFrames(): Frames {
  let rest: Buffer = Buffer.alloc(0)
  return {
    add(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    },
    next() {
      if (rest.length < 4) return null
      const length = rest.readUInt32BE(0)
      if (length < headerOctets || length > mostOctets) return 'garbage'
      if (rest.length < length) return null
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      return frame
    },
  }
}

/** Whether the lengths inside add up. A field that runs over the end would be truncated and could name another message. */
export function isWholeDeliver(frame: Buffer): boolean {
  let at = headerOctets
  const skipText = () => {
    const end = frame.indexOf(0, at)
    at = end === -1 ? frame.length + 1 : end + 1
  }
  skipText() // service_type
  at += 2
  skipText() // source_addr
  at += 2
  skipText() // destination_addr
  at += 3 // esm_class, protocol_id, priority_flag
  skipText() // schedule_delivery_time
  skipText() // validity_period
  at += 4 // registered_delivery, replace_if_present_flag, data_coding, sm_default_msg_id
  if (at >= frame.length) return false
  at += 1 + frame.readUInt8(at) // sm_length, short_message
  while (at + 4 <= frame.length) at += 4 + frame.readUInt16BE(at + 2)
  return at === frame.length
}
