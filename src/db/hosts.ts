// Several hosts in DATABASE_URL, as libpq writes them: postgresql://user:password@a,b:5433,[::1]:5434/database. The driver knows one
// host only, so each gets an address of its own.

/** `before`: scheme and user. `hosts`: at least one, perhaps empty. `after`: from the path on. */
type Pieces = { before: string; hosts: string[]; after: string }

const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s
const TARGET = 'target_session_attrs'
const TARGET_PARAMETER = new RegExp(`([?&])${TARGET}=([^&#]*)(&?)`)

/** One address for each host. The address of one host stays as it is. */
export function hostsOf(url: string): string[] {
  const { before, hosts, after } = piecesOf(url)
  const rest = withoutTarget(after)
  return hosts.map(host => `${before}${host}${rest}`)
}

/** The second half of a sentence that begins with DATABASE_URL; null: there is none. */
export function addressProblem(url: string): string | null {
  const { before, hosts, after } = piecesOf(url)
  const target = TARGET_PARAMETER.exec(after)?.[2]
  if (target !== undefined && target !== 'read-write' && target !== 'primary')
    return `has ${TARGET}=${target}, but Herald uses only the primary; remove it, or write ${TARGET}=read-write`
  if (hosts.length > 1 && hosts.includes(''))
    return 'has an empty host; write all hosts, separated by commas: a,b:5433,c'
  const given = /[?&]host=([^&#]*)/.exec(after)?.[1]
  if (given !== undefined && (hosts.length > 1 || /,|%2c/i.test(given)))
    return 'names several hosts and has a parameter host; write all hosts before the name of the database: user@a,b:5433,c/herald'
  // An empty host is a Unix socket, named by the parameter host.
  const isReadable = (host: string) => URL.canParse(`${before}${host || 'localhost'}/`)
  return hosts.every(isReadable) ? null : 'has a host or port that cannot be read'
}

function piecesOf(url: string): Pieces {
  const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? []
  return before === '' ? { before: '', hosts: [url], after: '' } : { before, hosts: hosts.split(','), after }
}

const withoutTarget = (after: string) =>
  after.replace(TARGET_PARAMETER, (_all, sign: string, _value, more: string) => (more ? sign : ''))
