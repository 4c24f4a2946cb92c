// Problems of a draft, and what the characters of a text message cost.
import type { ShownDraft } from '../../channels/channel.ts'
import type { LocatedCharacter, SmsDraft } from '../../rendering/draft.ts'
import type { DraftProblem, Examined } from '../../templates/draft.ts'
import { Callout, Icon } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { plural, rich, t } from '../words/index.ts'
import { fromNoun } from '../words/nouns.tsx'

/** Replaced as a whole by the script. */
export const Problems = ({ problems }: { problems: readonly DraftProblem[] }) => (
  <div data-part="problems" aria-live="polite" class="stack stack-sm">
    {problems.length > 0 && (
      <Callout
        tone={
          problems.some(({ tone }) => tone === 'bad')
            ? 'bad'
            : problems.some(one => one.tone === 'warn')
              ? 'warn'
              : 'info'
        }
        title={problems.length === 1 ? t`1 thing to look at` : t`${problems.length} things to look at`}
      >
        <ul>
          {problems.map((problem, at) => (
            <li key={at}>
              <a href={`#${problem.field}`}>{placeOf(problem)}</a>: <bdi>{fromNoun(problem.text)}</bdi>
            </li>
          ))}
        </ul>
      </Callout>
    )}
  </div>
)

const placeOf = ({ field, line }: DraftProblem) =>
  field === 'subject' ? t`Subject` : line === null ? t`Message` : t`Message, line ${line}`

/** How much of the longest possible body is used; for text messages also what they cost. */
export function Counter({ examined }: { examined: Examined }) {
  const { formats } = usePage()
  const { used, longest } = examined.length
  return (
    <div data-part="counter" class="stack stack-sm">
      <p class={used > longest ? 'hint bad' : 'hint'} id="body-count">
        {examined.shown?.kind === 'sms' && examined.placeholders.length > 0
          ? t`${formats.number(used)} of ${formats.number(longest)} characters, without values`
          : t`${formats.number(used)} of ${formats.number(longest)} characters`}
      </p>
      {examined.shown?.kind === 'sms' && <Cost draft={examined.shown} />}
    </div>
  )
}

const SIZES = { 'GSM-7': { alone: 160, joined: 153 }, 'UCS-2': { alone: 70, joined: 67 } } as const
const capacity = ({ encoding, fragments }: Pick<SmsDraft, 'encoding' | 'fragments'>) =>
  fragments === 1 ? SIZES[encoding].alone : fragments * SIZES[encoding].joined
const parts = (count: number) => plural(count, t`${count} part`, t`${count} parts`)

function Cost({ draft }: { draft: SmsDraft }) {
  const { formats } = usePage()
  const most = capacity(draft)
  const words = t`${parts(draft.fragments)}, ${formats.number(draft.units)} of ${formats.number(most)} characters`
  const tone = draft.encoding === 'UCS-2' || draft.tooLong ? 'warn' : 'info'
  const size = 100 / draft.fragments
  const filled = (at: number) =>
    Math.max(0, Math.min(1, (draft.units - (at * most) / draft.fragments) / (most / draft.fragments)))
  return (
    <div class="meter" id="parts">
      <p class="meter-head">
        <span>{t`With the example values`}</span>
        <span>
          {rich`${<b>{parts(draft.fragments)}</b>}, ${formats.number(draft.units)} of ${formats.number(most)} characters`}
        </span>
      </p>
      <svg class="bar" role="img" aria-label={words}>
        {Array.from({ length: Math.min(draft.fragments, 12) }, (_, at) => (
          <rect
            key={at}
            class={`fill ${tone}`}
            x={`${round(at * size + (at > 0 ? 0.2 : 0))}%`}
            width={`${round(size * filled(at) - 0.2)}%`}
            height="100%"
          />
        ))}
      </svg>
      <p class="hint">
        {draft.encoding === 'GSM-7' ? t`Basic alphabet of phones (GSM-7).` : t`Large alphabet (UCS-2).`}{' '}
        {t`Every part is charged.`}
      </p>
    </div>
  )
}

const round = (value: number) => Math.max(0, Math.round(value * 10) / 10)

/** Names the characters that force the expensive alphabet, and those that are replaced. */
export function Alphabet({ shown, canEdit }: { shown: ShownDraft; canEdit: boolean }) {
  const draft = shown?.kind === 'sms' ? shown : null
  const expensive = draft?.odd.filter(one => one.kind === 'needs UCS-2') ?? []
  const replaced = draft?.odd.filter(one => one.kind === 'replaced') ?? []
  return (
    <div data-part="alphabet" class="stack stack-sm">
      {draft && expensive.length > 0 && <Expensive draft={draft} odd={expensive} canEdit={canEdit} />}
      {replaced.length > 0 && (
        <Callout
          tone="info"
          title={replaced.length === 1 ? t`One character is replaced` : t`Some characters are replaced`}
        >
          <ul>
            {replaced.slice(0, MOST).map((one, at) => (
              <li key={at}>
                {rich`${<code>{visible(one.char)}</code>} ${whereOf(one)} becomes ${one.instead === '' ? t`nothing` : <code>{one.instead}</code>}.`}
              </li>
            ))}
          </ul>
          {replaced.length > MOST && <p>{rich`And ${replaced.length - MOST} more.`}</p>}
        </Callout>
      )}
    </div>
  )
}

const MOST = 8

function Expensive({ draft, odd, canEdit }: { draft: SmsDraft; odd: readonly LocatedCharacter[]; canEdit: boolean }) {
  const { formats } = usePage()
  const { cheaper, fragments } = draft
  const saves = cheaper !== null && cheaper.fragments < fragments
  const chars = [...new Set(odd.map(({ char }) => char))]
  const inText = odd.filter(({ origin, instead }) => instead !== null && typeof origin !== 'string' && 'at' in origin)
  return (
    <Callout
      tone={saves ? 'warn' : 'info'}
      title={plural(
        chars.length,
        t`One character needs the large alphabet`,
        t`${chars.length} characters need the large alphabet`,
      )}
    >
      <ul>
        {odd.slice(0, MOST).map((one, at) => (
          <li key={at}>
            <code>{one.char}</code> {whereOf(one)}
          </li>
        ))}
      </ul>
      <p>
        {plural(
          chars.length,
          t`It is not in the basic alphabet of phones, so a part holds 67 characters instead of 153.`,
          t`They are not in the basic alphabet of phones, so a part holds 67 characters instead of 153.`,
        )}
        {saves && cheaper && (
          <>
            {' '}
            {rich`With basic letters this message is ${<strong>{parts(cheaper.fragments)}</strong>} instead of ${fragments}, ${formats.number(cheaper.units)} of ${formats.number(capacity(cheaper))} characters.`}
          </>
        )}
      </p>
      {canEdit && inText.length > 0 && (
        <button class="btn btn-sm" form="edit" name="act" value="basic-letters">
          <Icon name="edit" />
          {rich`Use ${inText
            .slice(0, 3)
            .map(({ char, instead }, at) => `${at > 0 ? ', ' : ''}${t`“${instead ?? ''}” for “${char}”`}`)
            .join('')}`}
        </button>
      )}
    </Callout>
  )
}

function whereOf({ origin }: LocatedCharacter): string {
  if (origin === 'prefix') return t`in the name of the service`
  return 'name' in origin ? t`in the example value of “${origin.name}”` : t`in line ${origin.line}`
}

/** A character that shows nothing by itself is named. */
const visible = (char: string) =>
  /[\p{Z}\p{C}]/u.test(char) ? `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` : char
