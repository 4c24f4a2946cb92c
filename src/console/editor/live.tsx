// For the script: what changes on the page while somebody types.
import type { Answer, ServiceVisit } from '../page.ts'
import { oddPlaces, type Prepared } from './page.tsx'
import { Placeholders } from './placeholders.tsx'
import { EmailPreview, PreviewNote, TextPreview } from './preview.tsx'
import { Alphabet, Counter, Problems } from './problems.tsx'
import { Marks } from './source.tsx'

export function liveParts(_visit: ServiceVisit, prepared: Prepared): Answer {
  const { template, draft, values, examined, isEmail, frames, sender } = prepared
  return {
    kind: 'fragment',
    body: (
      <div>
        {isEmail && <Marks of="subject" text={draft.subject ?? ''} />}
        <Marks of="body" text={draft.content} odd={oddPlaces(examined)} />
        <Counter examined={examined} />
        <Alphabet shown={examined.shown} canEdit />
        <Problems problems={examined.problems} />
        <Placeholders
          placeholders={examined.placeholders}
          values={values}
          literalValues={isEmail ? template.literal_values : null}
          canEdit
        />
        {isEmail ? (
          <EmailPreview shown={examined.shown} frames={frames} sender={sender} />
        ) : (
          <TextPreview shown={examined.shown} sender={sender} />
        )}
        <PreviewNote shown={examined.shown} />
      </div>
    ),
  }
}
