// Memory for large contents that goes back to the system at once. A buffer from malloc goes back when the garbage collector finds it,
// and then only to malloc: glibc keeps blocks of up to 32 MB after the first one was freed, in a heap that fragments. A resizable
// ArrayBuffer is mapped separately, and shrinking it to nothing returns its pages.

/** Filled with zeros. Only the part that is written takes memory. It can be transferred to another thread. */
export function mapped(bytes: number, most = bytes): Buffer {
  // Made empty: Node 20 and 22 count the first size, and not the later ones, among what the garbage collector should hurry for.
  const memory = new ArrayBuffer(0, { maxByteLength: most })
  memory.resize(bytes)
  return viewOf(memory)
}

/** With another size of up to `most`, in the same place. Only the buffer that is returned may be used from then on. */
export function resized(buffer: Uint8Array, bytes: number): Buffer {
  const memory = buffer.buffer as ArrayBuffer
  memory.resize(bytes)
  return viewOf(memory)
}

/**
 * Returns the memory of a mapped buffer, or of a part of one, to the system; every view of it is empty afterwards. Other buffers are left
 * to the garbage collector. May be called more than once, and after the memory was transferred.
 */
export function unmap(view: Uint8Array): void {
  if (!isMapped(view)) return
  const buffer = view.buffer as ArrayBuffer
  buffer.resize(0)
  // Detached, so that Node 20 and 22 do not count what has come from another thread until it is collected.
  structuredClone(buffer, { transfer: [buffer] })
}

/** False after it was unmapped or transferred. */
export const isMapped = ({ buffer }: Uint8Array): boolean =>
  buffer instanceof ArrayBuffer && buffer.resizable && buffer.byteLength > 0

// With a length: a view without one follows the size of its memory.
const viewOf = (memory: ArrayBuffer) => Buffer.from(memory, 0, memory.byteLength)
