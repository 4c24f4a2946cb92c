// How people sign in to the console.
import { ROLES, type Role } from '../audit/role.ts'
import { type Id, readId } from '../core/id.ts'
import { isLoopback } from '../core/network.ts'
import { flag, reader, text } from '../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../core/setting.ts'

/** By group of the single sign-on provider: the role in each service, or the whole installation. */
export type GroupRoles = Readonly<Record<string, 'operator' | Readonly<Record<Id, Role>>>>

// With its path, exactly as the provider writes it: it is compared with the issuer in the provider's answers.
const issuer = reader<string>(given => {
  const url = URL.canParse(given) ? new URL(given) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  return url && isSafe && !url.search && !url.hash && !url.username
    ? given
    : { problem: `is "${given}"; it must be an https address like https://login.example.org/realms/council` }
})

const scopes = reader<string>(given => {
  const all = given.split(/[\s,]+/).filter(scope => scope !== '')
  return all.includes('openid') ? all.join(' ') : { problem: 'must contain openid' }
})

const groupRoles = reader<GroupRoles>(
  given => {
    let all: unknown
    try {
      all = JSON.parse(given)
    } catch {
      return { problem: 'is not JSON' }
    }
    if (!isObject(all)) return { problem: 'must be a JSON object with a member for each group' }
    const wrong = Object.entries(all).find(([, value]) => value !== 'operator' && !isRoles(value))
    if (wrong)
      return {
        problem: `gives the group "${wrong[0]}" something else than "operator" or an object like {"${EXAMPLE_ID}": "author"}; the roles are ${ROLES.join(', ')}`,
      }
    // A name is no identity: the managers of a service can rename it, into the mapping of another service or out of their own.
    const name = Object.values(all as GroupRoles)
      .flatMap(value => (value === 'operator' ? [] : Object.keys(value)))
      .find(key => readId(key) !== key)
    return name === undefined
      ? (all as GroupRoles)
      : {
          problem: `has "${name}" where the ID of a service belongs. Use the ID that \`herald service list\` shows, in lower case: names can be changed`,
        }
  },
  { type: 'object' },
)

const EXAMPLE_ID = '01890a5d-ac96-774b-bcce-b302099a8057'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isRoles = (value: unknown) =>
  isObject(value) && Object.values(value).every(role => (ROLES as readonly unknown[]).includes(role))

export const settings = {
  oidcIssuer: setting<string | null>(
    'HERALD_OIDC_ISSUER',
    issuer,
    null,
    'Issuer of the OpenID Connect provider for single sign-on, exactly as the provider writes it.',
    { shown: 'none' },
  ),
  oidcClientId: setting<string | null>('HERALD_OIDC_CLIENT_ID', text, null, 'Id of Herald at the provider.', {
    shown: 'none',
  }),
  oidcClientSecret: setting<string | null>(
    'HERALD_OIDC_CLIENT_SECRET',
    text,
    null,
    'Secret of Herald at the provider; without it Herald is a public client with PKCE.',
    { shown: 'none', secret: true },
  ),
  oidcScopes: setting(
    'HERALD_OIDC_SCOPES',
    scopes,
    'openid email profile',
    'Scopes that Herald asks the provider for, separated by spaces.',
  ),
  oidcTrustEmail: setting(
    'HERALD_OIDC_TRUST_EMAIL',
    flag,
    false,
    'Whether an address without the claim `email_verified` counts as verified; only for a provider at which people cannot change their address.',
  ),
  oidcGroupsClaim: setting('HERALD_OIDC_GROUPS_CLAIM', text, 'groups', 'Claim that contains the groups of a person.'),
  oidcRoles: setting<GroupRoles>(
    'HERALD_OIDC_ROLES',
    groupRoles,
    {},
    `Roles by group, as JSON: \`{"it": "operator", "parking": {"${EXAMPLE_ID}": "author"}}\`; services by ID, never by name.`,
    { shown: 'none' },
  ),
  localSignIn: setting(
    'HERALD_LOCAL_SIGN_IN',
    flag,
    true,
    'Whether people can sign in with a link by e-mail or a passkey; `off` only with single sign-on.',
    { shown: 'on' },
  ),
} satisfies Settings

export type SignInSettings = ValuesOf<typeof settings>

/** Problems between settings that are each valid on their own. */
export function signInProblems({ oidcIssuer, oidcClientId, localSignIn }: SignInSettings): string[] {
  const problems: string[] = []
  if ((oidcIssuer === null) !== (oidcClientId === null))
    problems.push('HERALD_OIDC_ISSUER and HERALD_OIDC_CLIENT_ID must be set together')
  if (!localSignIn && oidcIssuer === null)
    problems.push('HERALD_LOCAL_SIGN_IN is off, but HERALD_OIDC_ISSUER is not set: nobody could sign in')
  return problems
}
