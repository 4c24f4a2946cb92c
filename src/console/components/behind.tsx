// The API or CLI call that gives the same data as the page, at its end.

import { t } from '../words/index.ts'
import { Code, More } from './basics.tsx'
import { usePage } from './context.ts'

/** `path` begins with /v2 or /herald. Values of the page never stand in it, except ids. */
export function AsCurl(props: { method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: unknown }) {
  const { baseUrl } = usePage()
  const { method = 'GET', path, body } = props
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${baseUrl}${path}"`,
    '  -H "Authorization: ApiKey-v1 $HERALD_KEY"',
    ...(body === undefined
      ? []
      : [`  -H "Content-Type: application/json"`, `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ]
  return (
    <More class="no-print" summary={t`The API call behind this page`}>
      <Code>{lines.join(' \\\n')}</Code>
    </More>
  )
}

/** For what the API does not have. */
export const AsCommand = ({ command }: { command: string }) => (
  <More class="no-print" summary={t`The command behind this page`}>
    <Code>{command}</Code>
  </More>
)
