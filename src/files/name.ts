// File names of callers go into headers and onto recipients' disks: characters that could change either are removed (S-10, S-19).

// Control characters, bidirectional controls, zero-width characters, line and path separators.
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb/\\]/g
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i

/** The name as it is shown and sent; empty when no character is left. */
export function cleanName(given: string): string {
  // Windows ignores trailing dots and spaces, so "a.exe. " is a program there.
  const kept = given.replace(HARMFUL, '').replace(/^[\s.]+(?=\S)|[\s.]+$/g, '')
  const bare = /^[\s.]*$/.test(kept) ? '' : kept
  return DEVICE.test(bare) ? `_${bare}` : bare
}

/** The text after the last dot, in lower case; null without a dot. */
export function extensionOf(name: string): string | null {
  const dot = name.lastIndexOf('.')
  return dot === -1 ? null : name.slice(dot + 1).toLowerCase()
}
