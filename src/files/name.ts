// A caller's file name goes into headers and onto other people's disks: what could steer either is taken out (S-10, S-19).

// Controls, the marks that turn the direction of writing, zero-width characters, separators of lines and paths.
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb/\\]/g
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i

/** The name as it is shown and sent; empty when nothing of it could stay. */
export function cleanName(given: string): string {
  // Windows drops dots and spaces at the end, so "a.exe. " is a program there.
  const kept = given.replace(HARMFUL, '').replace(/^[\s.]+(?=\S)|[\s.]+$/g, '')
  const bare = /^[\s.]*$/.test(kept) ? '' : kept
  return DEVICE.test(bare) ? `_${bare}` : bare
}

/** What stands after the last dot, in small letters; null without one. */
export function extensionOf(name: string): string | null {
  const dot = name.lastIndexOf('.')
  return dot === -1 ? null : name.slice(dot + 1).toLowerCase()
}
