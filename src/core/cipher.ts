/** What seals short texts (seal.ts). Apart, because settings need the names only, and seal.ts loads a library. */
export const CIPHERS = ['xchacha20-poly1305', 'aes-256-gcm'] as const
export type Cipher = (typeof CIPHERS)[number]

/** 1: without purposes, as versions 0.1 and 0.2 read it (seal-before.ts). */
export const SEAL_FORMATS = ['2', '1'] as const
export type SealFormat = (typeof SEAL_FORMATS)[number]
