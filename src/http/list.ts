// The JSON of a list: one piece when it is short, otherwise streamed as fast as the caller reads it. Other requests are served
// between two pieces.
import { Readable } from 'node:stream'

const PIECE_CHARACTERS = 1_000_000
const TURN_MS = 10

/** Called in a turn of the database. `inTurns`: what is read after it takes turns of its own. */
export async function longList<T>(
  name: string,
  pages: AsyncIterable<readonly T[]>,
  present: (item: T) => unknown,
  inTurns: (rest: AsyncIterable<string>) => AsyncIterable<string>,
): Promise<string | Readable> {
  const pieces = piecesOf(name, pages, present)
  const first = (await pieces.next()).value ?? ''
  const second = await pieces.next()
  return second.done ? first : Readable.from(rejoined([first, second.value], inTurns(pieces)))
}

async function* piecesOf<T>(name: string, pages: AsyncIterable<readonly T[]>, present: (item: T) => unknown) {
  let text = `{"${name}":[`
  let separator = ''
  let turn = performance.now()
  for await (const page of pages)
    for (const item of page) {
      text += separator + JSON.stringify(present(item))
      separator = ','
      if (text.length > PIECE_CHARACTERS) {
        yield text
        text = ''
      }
      if (performance.now() - turn < TURN_MS) continue
      await new Promise(resume => setImmediate(resume))
      turn = performance.now()
    }
  yield `${text}]}`
}

async function* rejoined(first: readonly string[], rest: AsyncIterable<string>) {
  yield* first
  yield* rest
}
