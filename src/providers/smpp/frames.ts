// Splits the octets of a connection into whole PDUs, and checks a deliver_sm. The package's own reader emits truncated PDUs and hangs
// on a length below the header's, so it only decodes whole PDUs here.
// Source: SMPP 3.4, 3.2 (header: length, id, status, sequence, four octets each) and 4.6.1 (deliver_sm).

const headerOctets = 16
/** The largest PDU the package decodes; receipts have a few hundred octets. */
const mostOctets = 16_384

/** Calls `onFrame` with each whole PDU. Returns false when the octets cannot be SMPP. */
export function createFrames(onFrame: (frame: Buffer) => void): (chunk: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0)
      if (length < headerOctets || length > mostOctets) return false
      if (rest.length < length) break
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      onFrame(frame)
    }
    return true
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
