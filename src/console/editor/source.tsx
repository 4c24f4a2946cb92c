// The source of a template with its placeholders marked. Under a field lies a copy of its text with the marks; the script keeps it
// equal. Without the script it disappears as soon as somebody edits the field.
import type { ComponentChildren } from 'preact'
import { locate } from '../../rendering/placeholders.ts'

/** After this many placeholders marks help nobody, and cost time. */
const MOST_MARKS = 2_000

/** `odd`: places of single characters that are marked, too. */
export function Marked({ text, odd = [] }: { text: string; odd?: readonly number[] }) {
  const pieces = locate(text)
  const marked = pieces.slice(0, MOST_MARKS)
  return (
    <>
      {marked.map(({ from, end, part }) => {
        const content = withOdd(text.slice(from, end), from, odd)
        return typeof part === 'string' ? (
          content
        ) : (
          <mark key={from} class="ph">
            {content}
          </mark>
        )
      })}
      {text.slice(marked.at(-1)?.end ?? 0)}
    </>
  )
}

function withOdd(text: string, from: number, odd: readonly number[]): ComponentChildren {
  const pieces: ComponentChildren[] = []
  let start = 0
  for (const at of odd.map(place => place - from).filter(place => place >= 0 && place < text.length)) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
    pieces.push(
      text.slice(start, at),
      <mark key={at} class="odd">
        {char}
      </mark>,
    )
    start = at + char.length
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(start)]
}

/** The copy: a line break at the end needs a character after it to take space. */
export const Marks = ({ of, text, odd }: { of: string; text: string; odd?: readonly number[] }) => (
  <pre class="source-marks" aria-hidden="true" dir="auto" data-marks={of}>
    {/* The parser drops the first line break of a pre and of a textarea. */}
    {'\n'}
    <Marked text={text} {...(odd && { odd })} />
    {'\n'}
  </pre>
)

/** A field for the source of a template, over its marked copy. */
export const SourceField = (props: {
  name: string
  value: string
  rows: number
  odd?: readonly number[]
  line?: boolean
  describedBy?: string
  invalid?: boolean
}) => (
  <div class={props.line ? 'source source-line' : 'source'} data-source="">
    <Marks of={props.name} text={props.value} {...(props.odd && { odd: props.odd })} />
    <textarea
      id={props.name}
      name={props.name}
      rows={props.rows}
      spellcheck={true}
      dir="auto"
      {...(props.describedBy && { 'aria-describedby': props.describedBy })}
      {...(props.invalid && { 'aria-invalid': 'true' as const })}
    >
      {`\n${props.value}`}
    </textarea>
  </div>
)

/** For those who may not edit. */
export const SourceText = ({ text }: { text: string }) => (
  <pre class="code" dir="auto">
    {'\n'}
    <Marked text={text} />
  </pre>
)
