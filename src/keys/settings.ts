import { CIPHERS, type Cipher, SEAL_FORMATS, type SealFormat } from '../core/cipher.ts'
import { flag, itemsOf, list, oneOf, reader, secret, secrets } from '../core/readers.ts'
import { type Settings, setting } from '../core/setting.ts'
import type { KeyPrefix } from './key.ts'

const words = reader<KeyPrefix>(given => {
  const accepted = itemsOf(given)
  const wrong =
    accepted.find(word => !/^[a-z][a-z0-9]{1,19}$/.test(word)) ?? (accepted.length === 0 ? given : undefined)
  return wrong === undefined
    ? { own: accepted[0] ?? '', accepted }
    : { problem: `is "${wrong}"; it must be 2 to 20 small letters and digits, starting with a letter` }
}, list.schema)

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
  allowUnreadableData: setting(
    'HERALD_ALLOW_UNREADABLE_DATA',
    flag,
    false,
    'Start even though stored data needs a secret that is in neither HERALD_SECRET nor HERALD_OLD_SECRETS. Requests for this data are answered with 503. For a secret that is lost.',
  ),
  cipher: setting<Cipher>(
    'HERALD_CIPHER',
    oneOf(...CIPHERS),
    'xchacha20-poly1305',
    'What seals texts of up to 2,048 bytes, such as recipients and values. aes-256-gcm, which seals everything longer, where rules demand it. What either has sealed stays readable.',
  ),
  sealFormat: setting<SealFormat>(
    'HERALD_SEAL_FORMAT',
    oneOf(...SEAL_FORMATS),
    '2',
    'How data is sealed. 1 only while processes of version 0.1 or 0.2 run on the same database: they cannot open 2. What either has sealed stays readable.',
  ),
  keyPrefix: setting(
    'HERALD_KEY_PREFIX',
    words,
    { own: 'herald', accepted: ['herald'] } as KeyPrefix,
    'First word of every new API key, so that secret scanners recognise it. Keys of other installations keep their first word: add it after a comma (herald,gcntfy), and keys that begin with it are accepted too.',
    { shown: 'herald' },
  ),
} satisfies Settings
