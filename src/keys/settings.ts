import { CIPHERS, type Cipher } from '../core/cipher.ts'
import { matching, oneOf, secret, secrets } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'

const word = matching(
  /^[a-z][a-z0-9]{1,19}$/,
  given => `is "${given}"; it must be 2 to 20 small letters and digits, starting with a letter`,
)

export const settings = {
  sealSecret: setting<string | null>(
    'HERALD_SECRET',
    secret,
    null,
    'Secret that seals keys and personal data, at least 32 characters. Without it one is created on first start and stored in the data folder.',
    { shown: 'made on first start', secret: true },
  ),
  oldSealSecrets: setting(
    'HERALD_OLD_SECRETS',
    secrets,
    [] as string[],
    'Earlier secrets, newest first, separated by commas: data sealed with them stays readable after a change of HERALD_SECRET.',
    { shown: 'none', secret: true },
  ),
  cipher: setting<Cipher>(
    'HERALD_CIPHER',
    oneOf(...CIPHERS),
    'xchacha20-poly1305',
    'What seals recipients and values of messages. aes-256-gcm where rules demand it, and while processes of version 0.1 run on the same database, which cannot read the other. What either has sealed stays readable.',
  ),
  keyPrefix: setting(
    'HERALD_KEY_PREFIX',
    word,
    'herald',
    'First word of every API key, so that secret scanners recognise it.',
  ),
} satisfies Settings
