/**
 * Addresses as libpq reads them (PostgreSQL's manual, "Connection URIs"), where postgres.js reads less: what is asked for
 * by name (`?host=…&port=…&user=…&password=…&dbname=…`) goes before what stands in front, a host that begins with a slash,
 * `%2F` where it stands in front, is the folder of a unix socket, and names of databases are decoded. An address without
 * any of it is left to postgres.js.
 */

/** What postgres.js is given; what is not among the options it finds in the address or in PGHOST, PGPORT and their like. */
export interface PostgresAddress {
  url: string
  options: {
    /** The file of the server's socket. */
    path?: string
    ssl?: false
    /** The servers to try, one after the other. */
    host?: string[]
    port?: number[]
    user?: string
    password?: string
    database?: string
  }
}

interface Parts {
  scheme: string
  credentials: string
  servers: string
  database: string
  /** `name=value`, as they stand there. */
  parameters: string[]
}

const usualPort = '5432'
const named = ['host', 'port', 'user', 'password', 'dbname']
/**
 * Neon's addresses ask for it, and neither postgres.js nor node-postgres binds to channels; `any` is what postgres.js does
 * where nothing is said.
 */
const passedOver = /^(channel_binding=.*|target_session_attrs=any)$/

/** Throws where it cannot be read. */
export function readAddress(text: string): PostgresAddress {
  const { scheme, credentials, servers, database, parameters } = partsOf(text)
  const isNamed = (each: string): boolean => named.includes(each.split('=', 1)[0]!)
  const asked = new Map(
    parameters
      .filter(isNamed)
      .map((each) => [each.split('=', 1)[0]!, decoded(each.slice(each.indexOf('=') + 1))]),
  )
  const rest = parameters.filter((each) => !isNamed(each) && !passedOver.test(each))
  const query = (kept: readonly string[]): string => (kept.length > 0 ? `?${kept.join('&')}` : '')
  const isPlain = asked.size === 0 && !/^%2f|\[/i.test(servers) && (servers !== '' || credentials === '')
  if (isPlain) {
    const url = `${scheme}${credentials && `${credentials}@`}${servers}/${database}${query(rest)}`
    // Of several hosts the first, as postgres.js looks at it.
    const parsed = new URL(url.replace(servers, () => servers.split(',')[0]!))
    decodeURIComponent(parsed.username)
    decodeURIComponent(parsed.password)
    return {
      url,
      options: parsed.pathname.includes('%') ? { database: leniently(parsed.pathname.slice(1)) } : {},
    }
  }
  const [, user = '', password = ''] = /^([^:]*)(?::(.*))?$/.exec(credentials)!
  const who = {
    user: asked.get('user') || decoded(user),
    password: asked.get('password') || decoded(password),
    database: asked.get('dbname') || leniently(database),
  }
  const known = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== ''))
  const places = placesOf(servers, asked.get('host') || '', asked.get('port') || '')
  const [{ host, port }] = places as [Place, ...Place[]]
  if (!host.startsWith('/')) {
    const options = { ...known, host: places.map((each) => each.host), port: places.map((each) => each.port) }
    return { url: `${scheme}localhost/${query(rest)}`, options }
  }
  // Nothing is encrypted on a socket: libpq does not look at how it is asked for there either.
  const unencrypted = rest.filter((each) => !each.startsWith('ssl'))
  return {
    url: `${scheme}localhost/${query(unencrypted)}`,
    options: { ...known, path: socketOf(host, port), ssl: false },
  }
}

/** As people are told of it, without the password. `place`: its host and port, or the file of its socket. */
export function describeAddress(text: string): { place: string; user: string; database: string } {
  const { options } = readAddress(text)
  const { credentials, servers, database } = partsOf(text)
  const places = options.host
    ? options.host.map((host, at) => ({ host, port: options.port![at]! }))
    : options.path
      ? []
      : placesOf(servers, '', '')
  const shown = places.map(({ host, port }) =>
    host.startsWith('/') ? socketOf(host, port) : `${host.includes(':') ? `[${host}]` : host}:${port}`,
  )
  return {
    place: options.path ?? shown.join(','),
    user: options.user ?? decoded(credentials.split(':', 1)[0]!),
    database: options.database ?? leniently(database),
  }
}

/** Whether all of it can be read. */
export function isAddress(text: string): boolean {
  try {
    describeAddress(text)
    return true
  } catch {
    return false
  }
}

/** As URLs are read: blanks around it and breaks within it are nothing, a `#` ends it, and the password may have an `@`. */
function partsOf(text: string): Parts {
  const clean = text
    .trim()
    .replace(/[\t\n\r]/g, '')
    .split('#', 1)[0]!
  const found = /^([a-z]+:\/\/)([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(clean)
  if (!found) throw new Error('This is no address')
  const [, scheme = '', authority = '', database = '', query = ''] = found
  const at = authority.lastIndexOf('@')
  return {
    scheme,
    credentials: authority.slice(0, Math.max(at, 0)),
    servers: authority.slice(at + 1),
    database,
    parameters: query.split('&').filter(Boolean),
  }
}

interface Place {
  host: string
  port: number
}

/** Several stand with commas between them, in either place, and in PGHOST where the address names none. */
function placesOf(standing: string, host: string, port: string): Place[] {
  const each = (standing || process.env.PGHOST || 'localhost').split(',').map((one) => {
    if (one.startsWith('/')) return { host: one, port: '' }
    const found = /^(?:\[(.*)\]|([^[\]:]*))(?::(\d*))?$/.exec(one)
    if (!found) throw new Error('This is no host and port')
    const [, literal, name, own = ''] = found
    return { host: literal ?? (decodeURIComponent(name!) || 'localhost'), port: own }
  })
  const hosts = host ? host.split(',') : each.map((one) => one.host)
  const ports = port ? port.split(',') : each.map((one) => one.port)
  // The first is that of all, as postgres.js has it; but not of PGHOST, where PGPORT is.
  const shared = port || standing ? ports[0] : ''
  const places = hosts.map((one, at) => ({
    host: one,
    port: Number(ports[at] || shared || process.env.PGPORT || usualPort),
  }))
  if (places.some((one) => !(one.port > 0 && one.port < 65_536))) throw new Error('This is no port')
  if (places.length > 1 && places.some((one) => one.host.startsWith('/'))) {
    throw new Error('A socket stands alone')
  }
  return places
}

const socketOf = (folder: string, port: number): string => `${folder}/.s.PGSQL.${port}`

const decoded = (text: string): string => decodeURIComponent(text)

/** What was never encoded is taken as it stands, as postgres.js takes it. */
function leniently(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
