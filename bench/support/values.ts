// The values of messages in benches: what people and systems really write into them, in many scripts. Number n always gives the
// same value.

/** One class of values each; rendering prints all of them. */
export const classes = {
  'plain Latin': ['Charlotte', 'Ada Lovelace', 'Grace Hopper', 'Renee Miller'],
  accents: ['Renée Dupont', 'Jürgen Groß', 'José Núñez', 'Łukasz Żak'],
  apostrophe: ["Sinéad O'Brien", "Jeanne d'Arc", "D'Arcy O'Neil", 'Tomás O’Hara'],
  ampersand: ['Smith & Sons', 'R&D', 'Q&A office', 'Marks & Partner'],
  brackets: ['Ann Lee (by hand)', 'Smith (London)', '(none)', 'Board (2nd floor)'],
  'at sign': ['ann.lee@example.org', 'office@example.com', 'j.smith@mail.example.net', 'help@example.ca'],
  quotes: ['Bob "the Builder" Jones', 'the "Old" House', "James's", '"Red" Anna'],
  Cyrillic: ['Анна Каренина', 'Олександр', 'Милица Јовановић', 'Георги'],
  Greek: ['Ελένη Παπαδοπούλου', 'Γιώργος', 'Αθηνά', 'Νίκος'],
  Han: ['李小龙', '王小明', '山田　太郎', '𠮷野 花子'],
  Arabic: ['محمد بن أحمد', 'فاطمة', 'می‌خواهم', 'نور'],
  Hebrew: ['שרה לוי', 'דָּוִד', 'נועה', 'יוסף'],
  Indic: ['अनुष्का शर्मा', 'தமிழ்ச்செல்வன்', 'রবীন্দ্রনাথ', 'ಕನ್ನಡ'],
  emoji: ['Ann 😀', '🎉 Party', '👩‍👩‍👧 family', 'Jo 🇨🇦'],
  amount: ['£1,234.50', '1 234,50 €', '$99.00 (incl. tax)', '-12.5 %'],
  address: [
    '10 High Street, London',
    '24 Sussex Drive, Ottawa (Ontario)',
    'Unter den Linden 5, Berlin',
    '1600 Main St. #4',
  ],
  'line breaks': [
    '10 High Street\nLondon\nSW1A 2AA',
    'Ann Lee\n24 Sussex Drive\nOttawa ON',
    'Rue de la Paix 5\n75002 Paris',
    'PO Box 7\nDublin',
  ],
  link: [
    'https://www.example.com/a?b=1',
    'see https://example.org/help',
    'https://example.com/terms',
    'http://example.net',
  ],
  Markdown: ["Renée *O'Hara* & co", '[Ann](https://example.com/ann)', '**Important** news', 'ann_lee and bob_lee'],
} as const

export type Class = keyof typeof classes

/** A hundredth each: 30 % Latin with accents and apostrophes, 30 % other scripts, 25 % plain Latin, and everything else. */
const mix: readonly (readonly [Class, number])[] = [
  ['plain Latin', 25],
  ['accents', 18],
  ['apostrophe', 12],
  ['Cyrillic', 7],
  ['Greek', 3],
  ['Han', 8],
  ['Arabic', 5],
  ['Hebrew', 2],
  ['Indic', 5],
  ['address', 3],
  ['amount', 3],
  ['line breaks', 2],
  ['link', 2],
  ['at sign', 1],
  ['ampersand', 1],
  ['brackets', 1],
  ['quotes', 1],
  ['emoji', 1],
]

const scripts: readonly Class[] = ['Cyrillic', 'Greek', 'Han', 'Arabic', 'Hebrew', 'Indic']

// Every class is spread over the hundred: 37 and 100 have no common factor.
const inTurn = mix.flatMap(([name, share]) => Array.from({ length: share }, () => name))
const mixed = inTurn.map((_, n) => inTurn[(n * 37) % 100] ?? 'plain Latin')

/** Which values: the realistic mix, or one end of it. */
export type Writing = 'mixed' | 'latin' | 'scripts'

const orders: Record<Writing, readonly Class[]> = { mixed, latin: ['plain Latin'], scripts }

export function nameOf(n: number, writing: Writing = 'mixed'): string {
  const order = orders[writing]
  const values = classes[order[n % order.length] ?? 'plain Latin']
  return values[Math.floor(n / order.length) % values.length] ?? ''
}

export function personalisation(n: number, writing: Writing = 'mixed') {
  return { name: nameOf(n, writing), date: '15 June 2026, 9:30', reference: `A-${n * 7919}` }
}
