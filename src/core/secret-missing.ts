// Apart from seal.ts, which loads the ciphers: the HTTP edge only needs to recognise the error.
import type { StoredPurpose } from './purposes.ts'

/** None of the configured secrets has sealed the value. */
export class SecretMissing extends Error {
  readonly purpose: StoredPurpose

  constructor(purpose: StoredPurpose) {
    super('sealed for another purpose, or with a secret that is not configured')
    this.name = 'SecretMissing'
    this.purpose = purpose
  }
}
