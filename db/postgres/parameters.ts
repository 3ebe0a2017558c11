/**
 * The parameters of an address (`?name=value`) as libpq has them (PostgreSQL's manual, "Parameter Key Words"). Each is
 * honoured or refused, except for `channel_binding`, which is ignored. `application_name`, `options` and names that libpq
 * does not know are settings of the session, which the server checks.
 */
import { readFileSync } from 'node:fs'

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Values that change nothing here, by parameter; any other value is refused. */
const withoutEffect: Readonly<Record<string, RegExp>> = {
  // The driver cannot bind to the channel. Neon's addresses ask for it.
  channel_binding: /^(disable|prefer|require)$/,
  gssencmode: /^(disable|prefer)$/,
  keepalives: /^1$/,
  load_balance_hosts: /^disable$/,
  sslcompression: /^0$/,
  sslsni: /^1$/,
}

/** Parameters of libpq that postgres.js does not support. */
const unsupported = new Set([
  ...['gssdelegation', 'gsslib', 'hostaddr', 'keepalives_count', 'keepalives_idle', 'keepalives_interval'],
  ...[
    'krbsrvname',
    'max_protocol_version',
    'min_protocol_version',
    'passfile',
    'replication',
    'require_auth',
  ],
  ...[
    'requirepeer',
    'requiressl',
    'service',
    'ssl_max_protocol_version',
    'ssl_min_protocol_version',
    'sslcertmode',
  ],
  ...['sslcrl', 'sslcrldir', 'sslpassword', 'tcp_user_timeout'],
])

export interface ConnectionParameters {
  /** Settings of the session, as the driver's url takes them. */
  session: string[]
  options: {
    ssl?: 'prefer' | 'require' | false | Record<string, unknown>
    sslnegotiation?: 'direct'
    target_session_attrs?: 'primary'
    connect_timeout?: number
  }
}

/** A parameter of the address cannot be honoured. */
export class ParameterError extends Error {}

const refused = (name: string, why: string): Error => new ParameterError(`${name}: ${why}`)

function requireOneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw refused(name, `must be one of ${allowed.join(', ')}`)
}

function readPem(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw refused(name, `the file ${file} cannot be read`)
  }
}

/** Interprets `name=value` pairs; throws a `ParameterError` for what cannot be honoured. */
export function parseParameters(pairs: readonly string[]): ConnectionParameters {
  const given = new Map<string, string>()
  const session: string[] = []
  for (const pair of pairs) {
    const [name, value] = splitPair(pair)
    if (unsupported.has(name)) throw refused(name, 'is not supported here: leave it out of the address')
    const harmless = withoutEffect[name]
    if (harmless && !harmless.test(value)) throw refused(name, `${value} is not supported here: leave it out`)
    if (harmless) continue
    if (/^ssl|^connect_timeout$|^target_session_attrs$/.test(name)) given.set(name, value)
    else session.push(pair)
  }
  const { target_session_attrs: target, connect_timeout: timeout } = Object.fromEntries(given)
  return {
    session,
    options: {
      ...parseTls(given),
      ...(target === undefined ? {} : parseTarget(target)),
      ...(timeout === undefined ? {} : { connect_timeout: parseTimeout(timeout) }),
    },
  }
}

function splitPair(pair: string): [string, string] {
  const name = pair.split('=', 1)[0]!
  try {
    return [name, decodeURIComponent(pair.slice(name.length + 1))]
  } catch {
    throw refused(name, 'is not encoded as an address is')
  }
}

/** The driver's own `read-write` accepts a standby; `primary` is a server that accepts writes. */
function parseTarget(value: string): ConnectionParameters['options'] {
  if (/^(read-only|standby|prefer-standby)$/.test(value)) {
    throw refused('target_session_attrs', `${value} names a server that takes no writes: use primary`)
  }
  requireOneOf('target_session_attrs', value, ['any', 'read-write', 'primary'])
  return value === 'any' ? {} : { target_session_attrs: 'primary' }
}

function parseTimeout(value: string): number {
  const seconds = Number(value)
  if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60)) {
    throw refused('connect_timeout', 'must be a number of seconds from 1 to 60')
  }
  return seconds
}

function parseTls(given: ReadonlyMap<string, string>): ConnectionParameters['options'] {
  const rootFile = given.get('sslrootcert')
  const mode = given.get('sslmode') ?? given.get('ssl') ?? (rootFile === 'system' ? 'verify-full' : null)
  for (const name of given.keys()) {
    const known = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation']
    if (name.startsWith('ssl') && !known.includes(name)) throw refused(name, 'is no parameter of PostgreSQL')
  }
  const negotiation = given.get('sslnegotiation')
  if (negotiation !== undefined) requireOneOf('sslnegotiation', negotiation, ['postgres', 'direct'])
  if (mode === null) return {}
  if (mode === 'false') return { ssl: false }
  requireOneOf('sslmode', mode === 'true' ? 'require' : mode, sslModes)
  if (mode === 'disable') return { ssl: false }
  const pems = (
    [
      ['ca', 'sslrootcert'],
      ['cert', 'sslcert'],
      ['key', 'sslkey'],
    ] as const
  ).flatMap(([option, name]) => {
    const file = given.get(name)
    return file && file !== 'system' ? [[option, readPem(name, file)]] : []
  })
  const files = Object.fromEntries(pems)
  const direct = negotiation === 'direct' ? { sslnegotiation: 'direct' as const } : {}
  if (mode === 'allow' || mode === 'prefer') return { ssl: 'prefer', ...direct }
  // As libpq does: with the file of an authority, `require` verifies like `verify-ca`.
  const verifies = mode.startsWith('verify') || 'ca' in files
  return {
    ...direct,
    ssl: {
      ...files,
      rejectUnauthorized: verifies,
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    },
  }
}
