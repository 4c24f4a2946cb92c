// What differs between two versions. Signs and words say it, colour only repeats it.
import type { Comparison, Field, Line, Row } from '../../templates/compare.ts'
import { usePage } from '../components/context.ts'

const FIELDS: Readonly<Record<Field, string>> = {
  name: 'Name',
  category: 'Category',
  values: 'Markdown in values',
  subject: 'Subject',
  content: 'Message',
}

const SIGNS = { same: '', removed: '−', added: '+' } as const
const CLASSES = { same: undefined, removed: 'del', added: 'add' } as const

/** `before`, `after`: what the two are called, such as "version 20". */
export function Differences(props: { comparison: Comparison; before: string; after: string }) {
  const { formats } = usePage()
  const { changes, placeholders } = props.comparison
  if (changes.length === 0)
    return (
      <p>
        {capital(props.before)} and {props.after} have the same words.
      </p>
    )
  const added = changes.reduce((sum, { diff }) => sum + diff.added, 0)
  const removed = changes.reduce((sum, { diff }) => sum + diff.removed, 0)
  const lines = (count: number) => `${formats.number(count)} ${count === 1 ? 'line' : 'lines'}`
  return (
    <>
      {changes.map(({ field, diff }) => (
        <div class="stack" key={field}>
          <h3>{FIELDS[field]}</h3>
          <table class="diff">
            <caption class="vh">
              {FIELDS[field]}: lines of {props.before} and {props.after}
            </caption>
            <thead class="vh">
              <tr>
                <th scope="col">Old line</th>
                <th scope="col">New line</th>
                <th scope="col">Sign</th>
                <th scope="col">Text</th>
              </tr>
            </thead>
            <tbody>
              {diff.rows.map((row, at) => (
                <DiffRow key={at} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      ))}
      <p class="legend">
        <span class="good">+ {lines(added)} added</span>
        <span class="bad">− {lines(removed)} removed</span>
        {placeholders.added.length + placeholders.removed.length > 0 && (
          <span>
            Placeholders:{' '}
            {placeholders.added.length > 0 && <Names names={placeholders.added} one="is new" many="are new" />}
            {placeholders.added.length > 0 && placeholders.removed.length > 0 && ', '}
            {placeholders.removed.length > 0 && <Names names={placeholders.removed} one="is gone" many="are gone" />}
          </span>
        )}
      </p>
    </>
  )
}

function DiffRow({ row }: { row: Row }) {
  const { formats } = usePage()
  if (row.sign === 'skipped')
    return (
      <tr>
        <td class="ln" />
        <td class="ln" />
        <td class="sg">…</td>
        <td>
          {formats.number(row.lines)} more {row.lines === 1 ? 'line' : 'lines'}
        </td>
      </tr>
    )
  const name = CLASSES[row.sign]
  return (
    <tr {...(name && { class: name })}>
      <td class="ln">{row.before}</td>
      <td class="ln">{row.after}</td>
      <td class="sg">
        {SIGNS[row.sign]}
        {row.sign !== 'same' && <span class="vh">{row.sign}</span>}
      </td>
      <td dir="auto">
        <Pieces line={row} />
      </td>
    </tr>
  )
}

function Pieces({ line }: { line: Line }) {
  const Changed = line.sign === 'removed' ? 'del' : 'ins'
  return (
    <>
      {line.pieces.map(({ text, changed }, at) =>
        changed ? <Changed key={at}>{text}</Changed> : <span key={at}>{text}</span>,
      )}
    </>
  )
}

/** "first name and discount are new". */
const MOST_NAMES = 20
export function Names({ names, one, many }: { names: readonly string[]; one: string; many: string }) {
  const shown = names.slice(0, MOST_NAMES)
  return (
    <>
      {shown.map((name, at) => (
        <span key={name}>
          {at > 0 && (at === names.length - 1 ? ' and ' : ', ')}
          <b>
            <bdi>{name}</bdi>
          </b>
        </span>
      ))}
      {names.length > shown.length && ` and ${names.length - shown.length} more`} {names.length === 1 ? one : many}
    </>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
