// Types of keys in words.
import type { KeyType } from '../../keys/key.ts'
import type { IconName, Tone } from '../components/basics.tsx'
import { type Marked, mark } from '../words/index.ts'

export const TYPES: Readonly<
  Record<KeyType, { words: Marked; hint: Marked; tone: Tone; icon: IconName; command: 'live' | 'team' | 'test' }>
> = {
  normal: {
    words: mark('Live'),
    hint: mark('Sends to anyone. In trial mode only to the team and the safelist.'),
    ...{ tone: 'good', icon: 'key', command: 'live' },
  },
  team: {
    words: mark('Team and safelist'),
    hint: mark('Sends to the team and the safelist only, for example from a test system.'),
    ...{ tone: 'info', icon: 'team', command: 'team' },
  },
  test: {
    words: mark('Test'),
    hint: mark('Sends nothing. What it would have sent is in the captured inbox.'),
    ...{ tone: 'plan', icon: 'shield', command: 'test' },
  },
}
