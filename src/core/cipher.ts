/** What seals the texts of messages (seal.ts). Apart, because settings need the names only, and seal.ts loads a library. */
export const CIPHERS = ['xchacha20-poly1305', 'aes-256-gcm'] as const
export type Cipher = (typeof CIPHERS)[number]
