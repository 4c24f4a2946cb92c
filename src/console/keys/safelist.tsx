// The safelist as one text, a recipient per line.
import {
  MOST_SAFELISTED,
  type ReplacedSafelist,
  replaceSafelist,
  type SafelistProblem,
  safelistDigest,
} from '../../services/safelist.ts'
import { listSafelist } from '../../services/sql.ts'
import { Callout, Card, Done, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, Form, Textarea } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { plural, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'

export async function safelistPage(visit: ServiceVisit): Promise<Answer> {
  const entries = await listSafelist(visit.parts.db.sql, visit.service.id)
  return shown(visit, {
    text: entries.map(({ recipient }) => recipient).join('\n'),
    seen: safelistDigest(entries),
    errors: {},
    problems: [],
  })
}

export async function saveSafelist(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form } = visit
  const given = { text: form.get('recipients') ?? '', seen: form.get('seen') ?? '' }
  try {
    return await answerTo(visit, given, await replaceSafelist(parts, actor, service.id, given))
  } catch (error) {
    return shown(visit, { ...given, errors: { recipients: problemOf(error) }, problems: [] })
  }
}

async function answerTo(
  visit: ServiceVisit,
  given: { text: string; seen: string },
  result: ReplacedSafelist,
): Promise<Answer> {
  switch (result.kind) {
    case 'replaced':
      return { kind: 'redirect', to: `/s/${visit.service.id}/safelist?done=saved` }
    case 'problems': {
      const { length } = result.problems
      const sentence = plural(
        length,
        t`One line is not a recipient. Mend it or remove it.`,
        t`${length} lines are not recipients. Mend them or remove them.`,
      )
      return shown(visit, { ...given, errors: { recipients: sentence }, problems: result.problems })
    }
    case 'changedMeanwhile': {
      const now = await listSafelist(visit.parts.db.sql, visit.service.id)
      const sentence = t`Somebody else changed the safelist meanwhile. Below is what you entered; saving it replaces their list of ${now.length}.`
      return shown(visit, {
        text: given.text,
        seen: safelistDigest(now),
        errors: { recipients: sentence },
        problems: [],
      })
    }
  }
}

type Given = { text: string; seen: string; errors: FieldErrors; problems: readonly SafelistProblem[] }

function shown({ service, query, formats }: ServiceVisit, { text, seen, errors, problems }: Given): Answer {
  const isWrong = Object.keys(errors).length > 0
  return {
    kind: 'page',
    title: isWrong ? t`Error: Safelist` : t`Safelist`,
    width: 'narrow',
    nav: 'keys',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead
          title={t`Safelist`}
          crumbs={[[t`API keys`, `/s/${service.id}/keys`]]}
          lede={t`Recipients besides the team whom team keys reach, and everybody in trial mode.`}
        />
        {!isWrong && (
          <Done
            done={query.get('done')}
            sentences={{ saved: t`The safelist is saved. It applies from the next message on.` }}
          />
        )}
        <ErrorSummary errors={errors} />
        {problems.length > 0 && (
          <Callout tone="warn" title={t`Lines with a problem`}>
            <ul>
              {problems.slice(0, MOST_PROBLEMS).map(({ line, sentence }) => (
                <li key={line} dir="auto">
                  {t`Line ${line}`}: {known(sentence)}
                </li>
              ))}
            </ul>
            {problems.length > MOST_PROBLEMS && <p>{t`and ${formats.number(problems.length - MOST_PROBLEMS)} more`}</p>}
          </Callout>
        )}
        <Card>
          <Form action={`/s/${service.id}/safelist`}>
            <input type="hidden" name="seen" value={seen} />
            <Textarea
              label={t`Recipients`}
              name="recipients"
              rows={12}
              value={text}
              error={errors.recipients}
              hint={t`One e-mail address or phone number per line, at most ${formats.number(MOST_SAFELISTED)}. Herald writes numbers with their country code.`}
            />
            <div class="row">
              <button class="btn btn-primary" type="submit">
                {t`Save the safelist`}
              </button>
            </div>
          </Form>
        </Card>
        <AsCommand command={`herald safelist list ${service.id}`} />
      </>
    ),
  }
}

const MOST_PROBLEMS = 50
