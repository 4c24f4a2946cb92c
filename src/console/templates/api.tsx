// How an application sends the template: the ready request with its placeholders.
import { CHANNELS } from '../../channels/index.ts'
import { namesOf } from '../../rendering/placeholders.ts'
import { Callout, Card, Code, Facts } from '../components/basics.tsx'
import { AsCurl, curl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import type { Answer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { templateIn } from './given.ts'
import { TemplateHead } from './head.tsx'
import { requestFor } from './request.ts'

export async function showApi(visit: ServiceVisit): Promise<Answer> {
  const { template, folders } = await templateIn(visit)
  const names = namesOf(template)
  const { path, body } = requestFor(template)
  return {
    kind: 'page',
    title: t`Use ${template.name} by API`,
    nav: 'templates',
    body: (
      <>
        <TemplateHead
          template={template}
          folders={folders}
          current="api"
          lede={t`An application sends it with one request. It needs an API key of this service.`}
        />
        {template.archived && (
          <Callout tone="warn">
            <p>{t`This template is archived: requests with it are refused.`}</p>
          </Callout>
        )}
        <Card
          title={CHANNELS[template.type].template.hasSubject ? t`Send one e-mail` : t`Send one text message`}
          id="send"
        >
          <Curl path={path} body={body} />
        </Card>
        <Card title={t`What it needs`} id="needs">
          <div class="stack">
            <Facts
              rows={[
                [t`Template id`, <code key="id">{template.id}</code>],
                [t`Version`, t`${template.version}; a request always uses the latest`],
                [
                  t`Placeholders`,
                  names.length === 0 ? (
                    t`None`
                  ) : (
                    <ul key="names">
                      {names.map(name => (
                        <li key={name}>
                          <code>
                            <bdi>{name}</bdi>
                          </code>
                        </li>
                      ))}
                    </ul>
                  ),
                ],
              ]}
            />
            <p class="muted sm">{t`Each needs a value in every request. Capital letters, spaces, hyphens and underscores make no difference in names.`}</p>
          </div>
        </Card>
        <AsCurl path={`/v2/template/${template.id}`} />
      </>
    ),
  }
}

function Curl({ path, body }: { path: string; body: object }) {
  const { baseUrl } = usePage()
  return <Code>{curl({ method: 'POST', url: `${baseUrl}${path}`, body, indent: 2 })}</Code>
}
