// Postfix, Exim and OpenSMTPD for tests, each in a chroot on ports of the loopback interface, with a configuration for this run
// only (scripts/install-mail-servers.sh). Each takes mail for jo@example.net and renée@example.net, refuses other recipients and
// mail over LARGEST octets, and relays to a server of the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import type { Certificate } from './certificates.ts'
import { freePort } from './port.ts'

export const LOGIN = { user: 'herald', password: 'se cret' }
export const LARGEST = 600_000

export type MailServer = {
  /** Plain text, with STARTTLS for whoever asks. */
  port: number
  /** TLS from the first byte, and only after a login; null: it has no TLS. */
  submission: number | null
  hasUtf8: boolean
  /** What it logged, to explain a failure. */
  log(): string
  stop(): Promise<void>
}

type Given = { relayPort: number; certificate: Certificate }

const PLACE = resolve('node_modules/.cache/mail-servers')
export const areThere = existsSync(join(PLACE, 'complete')) && process.getuid?.() === 0

/** Accounts inside the chroots; no account of the machine is used. */
const IDS = { postfix: 901, postdrop: 902, 'Debian-exim': 903, opensmtpd: 904, opensmtpq: 905, nobody: 65_534 }

export async function startPostfix(given: Given): Promise<MailServer> {
  const root = prepare('postfix', given.certificate)
  const [port, submission] = [await freePort(), await freePort()]
  const sasl = await startDovecotAuth()
  for (const name of 'active bounce corrupt defer deferred flush hold incoming private saved trace'.split(' '))
    folder(root, `var/spool/postfix/${name}`, { owner: IDS.postfix, mode: 0o700 })
  folder(root, 'var/spool/postfix/maildrop', { owner: IDS.postfix, group: IDS.postdrop, mode: 0o730 })
  folder(root, 'var/spool/postfix/public', { owner: IDS.postfix, group: IDS.postdrop, mode: 0o710 })
  folder(root, 'var/spool/postfix/pid')
  folder(root, 'var/lib/postfix', { owner: IDS.postfix, mode: 0o700 })
  file(
    root,
    'etc/postfix/main.cf',
    `compatibility_level = 3.6
mail_owner = postfix
setgid_group = postdrop
queue_directory = /var/spool/postfix
data_directory = /var/lib/postfix
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
shlib_directory = /usr/lib/postfix
meta_directory = /etc/postfix
maillog_file = /var/log/postfix.log
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = localhost
mydestination =
alias_maps =
alias_database =
tls_random_source = /etc/random
mynetworks = 127.0.0.0/8
relay_domains = example.net
relay_recipient_maps = regexp:/etc/postfix/recipients
relay_transport = smtp:[127.0.0.1]:${given.relayPort}
smtp_tls_security_level = none
message_size_limit = ${LARGEST}
smtpd_tls_security_level = may
smtpd_tls_cert_file = /etc/certificate.pem
smtpd_tls_key_file = /etc/key.pem
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${sasl.port}
smtpd_peername_lookup = no
`,
  )
  file(root, 'etc/random', randomBytes(1_024).toString('hex'))
  file(root, 'etc/postfix/recipients', '/^(jo|renée)@example\\.net$/ ok\n')
  file(
    root,
    'etc/postfix/master.cf',
    `127.0.0.1:${port} inet n - n - - smtpd
127.0.0.1:${submission} inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes -o smtpd_sasl_auth_enable=yes
  -o smtpd_recipient_restrictions=permit_sasl_authenticated,reject
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
proxymap unix - - n - - proxymap
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`,
  )
  const child = run(root, ['/usr/lib/postfix/sbin/master', '-c', '/etc/postfix', '-d'])
  await listening(child, [port, submission])
  return {
    port,
    submission,
    hasUtf8: true,
    log: () => child.said() + read(root, 'var/log/postfix.log'),
    async stop() {
      await child.stop()
      sasl.stop()
    },
  }
}

export async function startExim(given: Given): Promise<MailServer> {
  const root = prepare('exim', given.certificate)
  const [port, submission] = [await freePort(), await freePort()]
  for (const path of ['var/spool/exim4', 'var/log/exim4']) folder(root, path, { owner: IDS['Debian-exim'] })
  chownSync(join(root, 'etc/key.pem'), IDS['Debian-exim'], IDS['Debian-exim'])
  const isLogin = (user: string, password: string) =>
    `\${if and{{eq{${user}}{${LOGIN.user}}}{eq{${password}}{${LOGIN.password}}}}}`
  file(
    root,
    'etc/exim4/exim4.conf',
    `exim_user = Debian-exim
keep_environment =
primary_hostname = localhost
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port} : ${submission}
tls_on_connect_ports = ${submission}
tls_advertise_hosts = *
tls_certificate = /etc/certificate.pem
tls_privatekey = /etc/key.pem
auth_advertise_hosts = \${if eq{$received_port}{${submission}}{*}{}}
smtputf8_advertise_hosts = *
spool_directory = /var/spool/exim4
log_file_path = /var/log/exim4/%slog
pid_file_path = /var/spool/exim4/exim.pid
message_size_limit = ${LARGEST}
smtp_accept_queue_per_connection = 0
smtp_accept_max_per_connection = 0
rfc1413_hosts =
acl_smtp_rcpt = rcpt
never_users =
begin acl
rcpt:
  deny condition = \${if eq{$received_port}{${submission}}}
       !authenticated = *
  accept domains = example.net
         local_parts = jo : renée
  deny message = Unrouteable address
begin routers
all:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = relay
begin transports
relay:
  driver = smtp
  port = ${given.relayPort}
  hosts_avoid_tls = *
  hosts_avoid_pipelining = *
  allow_localhost
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = ${isLogin('$auth2', '$auth3')}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = ${isLogin('$auth1', '$auth2')}
  server_set_id = $auth1
`,
  )
  const child = run(root, ['/usr/sbin/exim4', '-bdf'])
  await listening(child, [port, submission])
  const log = () => child.said() + read(root, 'var/log/exim4/mainlog') + read(root, 'var/log/exim4/paniclog')
  return { port, submission, hasUtf8: true, log, stop: child.stop }
}

/** Without TLS: OpenSMTPD 6.8 of Debian 12 fails every handshake with OpenSSL 3 (its issue 1171), and has no AUTH without. */
export async function startOpenSmtpd(given: Given): Promise<MailServer> {
  const root = prepare('opensmtpd', given.certificate)
  const port = await freePort()
  folder(root, 'var/lib/opensmtpd/empty')
  folder(root, 'run/opensmtpd')
  folder(root, 'var/run')
  folder(root, 'var/spool/smtpd', { mode: 0o711 })
  for (const name of ['corrupt', 'incoming', 'purge', 'queue', 'temporary'])
    folder(root, `var/spool/smtpd/${name}`, { owner: IDS.opensmtpq, group: 0, mode: 0o700 })
  folder(root, 'var/spool/smtpd/offline', { owner: 0, group: IDS.opensmtpq, mode: 0o770 })
  file(
    root,
    'etc/smtpd.conf',
    `table recipients { "jo@example.net" }
smtp max-message-size ${LARGEST}
listen on 127.0.0.1 port ${port} hostname localhost
action outbound relay host smtp+notls://127.0.0.1:${given.relayPort}
match from any for rcpt-to <recipients> action outbound
`,
  )
  const child = run(root, ['/usr/sbin/smtpd', '-d', '-f', '/etc/smtpd.conf'])
  await listening(child, [port])
  return { port, submission: null, hasUtf8: false, log: child.said, stop: child.stop }
}

/** An empty machine around the program: accounts, a certificate, no data of an earlier run. */
function prepare(name: string, { key, certificate }: Certificate): string {
  const root = join(PLACE, name)
  for (const path of ['etc', 'var', 'run', 'tmp', 'dev']) rmSync(join(root, path), { recursive: true, force: true })
  folder(root, 'tmp', { mode: 0o1777 })
  folder(root, 'var/log', { mode: 0o777 })
  const accounts = Object.entries({ root: 0, ...IDS })
  file(root, 'etc/passwd', accounts.map(([user, id]) => `${user}:x:${id}:${id}:${user}:/tmp:/bin/false\n`).join(''))
  file(root, 'etc/group', accounts.map(([user, id]) => `${user}:x:${id}:\n`).join(''))
  file(root, 'etc/hosts', '127.0.0.1 localhost\n')
  file(root, 'etc/certificate.pem', certificate)
  file(root, 'etc/key.pem', key, 0o600)
  file(root, 'dev/null', '', 0o666)
  return root
}

type Access = { owner?: number; group?: number; mode?: number }

function folder(root: string, path: string, { owner = 0, group = owner, mode = 0o755 }: Access = {}) {
  const whole = join(root, path)
  mkdirSync(whole, { recursive: true })
  chmodSync(whole, mode)
  chownSync(whole, owner, group)
}

function file(root: string, path: string, text: string, mode = 0o644) {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), mode)
}

const read = (root: string, path: string) =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''

type Running = ChildProcess & { said(): string; stop(): Promise<void> }

function run(root: string, command: string[]): Running {
  const child = spawn('chroot', [root, ...command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', text => {
      said += String(text)
    })
  const ended = new Promise<void>(gone => {
    child.once('close', () => gone())
  })
  const stop = async () => {
    const { pid } = child
    // The whole group: the program and what it started.
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGTERM')
    await ended
  }
  return Object.assign(child, { said: () => said, stop })
}

async function listening(child: Running, ports: readonly number[]) {
  for (const port of ports)
    for (let tries = 0; !(await answers(port)); tries++) {
      if (child.exitCode !== null || tries > 200) throw new Error(`the mail server does not listen: ${child.said()}`)
      await new Promise(later => setTimeout(later, 50))
    }
}

const answers = (port: number) =>
  new Promise<boolean>(told => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      told(true)
    })
    socket.once('error', () => told(false))
  })

/** Postfix asks somebody else about logins: Dovecot's authentication protocol, version 1, as far as PLAIN and LOGIN need it. */
async function startDovecotAuth() {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('VERSION\t1\t1\nMECH\tPLAIN\tplaintext\nMECH\tLOGIN\tplaintext\nSPID\t1\nCUID\t1\nCOOKIE\t0\nDONE\n')
    const users = new Map<string, string>()
    const decide = (id: string, user = '', password = '') =>
      socket.write(
        user === LOGIN.user && password === LOGIN.password
          ? `OK\t${id}\tuser=${user}\n`
          : `FAIL\t${id}\tuser=${user}\n`,
      )
    const base64 = (text = '') => Buffer.from(text, 'base64').toString()
    socket.on('data', text => {
      for (const line of String(text).split('\n')) {
        const [command, id = '', ...rest] = line.split('\t')
        const given = rest.find(word => word.startsWith('resp='))?.slice(5)
        if (command === 'AUTH' && rest[0] === 'PLAIN') decide(id, ...base64(given).split('\0').slice(1))
        else if (command === 'AUTH') socket.write(`CONT\t${id}\t${Buffer.from('Username:').toString('base64')}\n`)
        else if (command !== 'CONT') continue
        else if (users.has(id)) decide(id, users.get(id), base64(rest[0]))
        else {
          users.set(id, base64(rest[0]))
          socket.write(`CONT\t${id}\t${Buffer.from('Password:').toString('base64')}\n`)
        }
      }
    })
  })
  await new Promise<void>(ready => {
    server.listen(0, '127.0.0.1', () => ready())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
