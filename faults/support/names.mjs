// Preloaded into a process: names in the file FAULTS_NAMES ({"name": "address"}, read at each lookup) resolve to the addresses given
// there, so that the answer of the name service can change while the process runs.
import dns from 'node:dns'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const found = name => JSON.parse(readFileSync(process.env.FAULTS_NAMES ?? '', 'utf8'))[name]
const noAddress = () => Object.assign(new Error('ENODATA'), { code: 'ENODATA' })

const { lookup, Resolver } = dns.promises
const { resolve4, resolve6 } = Resolver.prototype
dns.promises.lookup = async (name, options) => {
  const address = found(name)
  if (address === undefined) return lookup(name, options)
  return options?.all ? [{ address, family: 4 }] : { address, family: 4 }
}
Resolver.prototype.resolve4 = async function (name, ...more) {
  const address = found(name)
  return address === undefined ? resolve4.call(this, name, ...more) : [address]
}
Resolver.prototype.resolve6 = async function (name, ...more) {
  if (found(name) !== undefined) throw noAddress()
  return resolve6.call(this, name, ...more)
}
syncBuiltinESMExports()
